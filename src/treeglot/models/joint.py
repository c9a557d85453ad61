"""Joint models (Liu et al. 2009): the rules of several trained models in one search, each with its own features.

The folder of a joint model is like others, but it contains the rules of several parts:

    model.toml          kind = "joint", and the kinds of the parts by name
    parts/NAME          rules.table of a part, its head table and its corrections
    lm.bin, weights.txt, text.toml, parser   as other models have them

All parts share the features `word_penalty`, `glue`, `unknown`, `preferred` and `lm`, and context features. The other
features of a part are called NAME.FEATURE. For example, NAME.rule_penalty counts its rules.
"""

from __future__ import annotations

import filecmp
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cached_property, reduce
from pathlib import Path

from treeglot import _core
from treeglot.base.errors import UsageError
from treeglot.base.files import PathLike, nearest_folder, scratch_folder, write_binary
from treeglot.base.options import load_options
from treeglot.corpus import Needs
from treeglot.decode import SearchOptions
from treeglot.decode.context import FAMILIES
from treeglot.decode.matchers import Setup, match_joint
from treeglot.decode.translator import NEURAL, network_feature
from treeglot.decode.weights import read_weights
from treeglot.models.artefacts import CONTEXT, JOINED, SOURCE_HEADS, load_artefacts
from treeglot.models.folder import ModelFile, check_part_names, move_in, write_model
from treeglot.models.kind import Kind
from treeglot.models.kinds import JOINT, find_kind
from treeglot.models.model import Model
from treeglot.models.neural import network_file, without_neural
from treeglot.models.train import install_model, refuse_tuned
from treeglot.rules.corrections import CORRECTIONS, Corrections
from treeglot.rules.table import open_table
from treeglot.text import TextPipeline
from treeglot.text.pipeline import TEXT_FILE
from treeglot.text.side import PARTS

COMMON = ("word_penalty", "glue", "unknown", "preferred", "lattice", "lm", NEURAL)
DEPENDENCY_FEATURES = ("dlm_words", "dlm_tags", "ill_formed")  # which joint models do not have
# Inputs of parts, richest first. The joint model reads the richest that a part needs; other parts convert it.
RICHEST = ("forest", "best", "dependency")


@dataclass(frozen=True)
class Part:
    """A trained model that becomes part of a joint model."""

    name: str
    folder: Path
    file: ModelFile
    kind: Kind

    @property
    def weights(self) -> dict[str, float]:
        """The weights of the part, without those of features that a joint model cannot have."""
        found = reduce(without_neural, self.over_heads, read_weights(self.folder / self.file.weights))
        return {name: weight for name, weight in found.items() if name not in DEPENDENCY_FEATURES}

    @cached_property
    def over_heads(self) -> list[str]:
        """The networks of the part that score dependency trees. Joint models produce no such trees."""
        files = self.file.every_network.items()
        opened = {name: _core.JointModel.open(str(self.folder / file), _core.Opening.trusted) for name, file in files}
        return [name for name, network in opened.items() if network.facts["heads"]]

    @property
    def networks(self) -> dict[str, Path]:
        """The files of the networks that the joint model takes from this part, by name."""
        files = self.file.every_network.items()
        return {name: self.folder / file for name, file in files if name not in self.over_heads}


def joint_kind(parts: Mapping[str, Kind]) -> Kind:
    """Return the kind of a joint model. Its input is the richest input that any part needs.

    >>> joint_kind({"hiero": find_kind("hiero"), "dep2str": find_kind("dep2str")}).translates
    ('source_dependencies', 'source_trees', 'source_forests')
    """
    for name, kind in parts.items():
        if kind.needs.target == "tree":
            problem = "a joint model shares what covers the same words, whatever the labels of its target side"
            raise UsageError(f"{name} is a {kind.name} model, whose target side has labels; {problem}")
    taken = {kind.needs.source: kind for kind in reversed(list(parts.values()))}
    if "forest" in taken and "best" in taken:
        names = f"{taken['forest'].name} translates forests, {taken['best'].name} their best trees"
        raise UsageError(f"{names}; expected parts that translate the same")
    leading = next((taken[each] for each in RICHEST if each in taken), None)
    return Kind(
        name=JOINT,
        summary="several grammars in one search",
        weights={},
        extractor="",
        files=(),
        translates=("source",) if leading is None else leading.translates,
        matcher=match_joint,
        needs=Needs() if leading is None else Needs(source=leading.needs.source),
        parts=tuple(parts.values()),
    )


def load_parts(folder: Path, parts: Mapping[str, str], wait: bool) -> tuple[Kind, dict[str, _core.RuleTable], Setup]:
    """Load the kind of a joint model, the rule tables of its parts, and the matcher that joins them."""
    kinds = {name: find_kind(kind) for name, kind in parts.items()}
    tables, setups = {}, []
    for name, kind in kinds.items():
        place = folder / JOINED / name
        table = open_table(place / "rules.table", wait=wait)
        if (place / CORRECTIONS).is_file():
            table, _ = Corrections.read(place / CORRECTIONS).apply(table)
        tables[name] = table
        setups.append(kind.matcher(*load_artefacts(place, kind.source_heads, ())))
    return joint_kind(kinds), tables, match_joint(setups)


def join(
    models: Mapping[str, PathLike],
    out: PathLike,
    *,
    force: bool = False,
    report: Callable[[str], None] = lambda line: None,
) -> Model:
    """Join trained models into one. The names of the features of each part begin with the part's name.

    Rule tables are links to the tables of the parts, or copies if the file system has no links. The weights come from
    the parts, on a common scale. If several parts have a feature, it gets the average of their weights. `report` is
    called with a line about each choice and each part that is left out.
    """
    if len(models) < 2:
        raise UsageError(f"{len(models)} model to join; expected two or more")
    check_part_names(models)
    parts = [_open(name, Path(folder)) for name, folder in models.items()]
    kind = joint_kind({part.name: part.kind for part in parts})
    place = Path(out)
    move_in(place)
    if not force:
        refuse_tuned(place)
    leading = next((part for part in parts if part.kind.needs.source == kind.needs.source), parts[0])
    with scratch_folder(nearest_folder(place), "join") as scratch:
        folder = scratch / "model"
        folder.mkdir()
        for part in parts:
            _lay(part, folder / JOINED / part.name, report)
        lms = _lay_lms(parts, folder, report)
        networks = _lay_networks(parts, folder, report)
        text = _text(parts)
        parser = _lay_parser(parts, leading, folder)
        with write_binary(folder / "training.json") as stream:
            stream.write(json.dumps(_facts(parts, text), indent=1).encode() + b"\n")
        search = reduce(_widest, (part.file.search for part in parts))
        kinds = {part.name: part.kind.name for part in parts}
        neural = networks.pop("", "")
        named = {"parts": kinds, "lms": lms, "networks": networks}
        context = _lay_context(parts, folder, report)
        weights = first_weights(parts)
        write_model(folder, JOINT, weights, search, text, parser, neural=neural, named=named, context=context)
        return install_model(folder, place)


def _open(name: str, folder: Path) -> Part:
    move_in(folder)
    if not (folder / "model.toml").is_file():
        raise UsageError(f"{folder} is not a model: it has no model.toml")
    file = load_options(ModelFile, folder / "model.toml")
    if file.kind == JOINT:
        raise UsageError(f"{folder} is a joint model; expected the models that it is made of")
    if file.on_demand:
        raise UsageError(f"{folder} finds its rules on demand; expected a model with a rule table")
    return Part(name, folder, file, find_kind(file.kind))


def _lay(part: Part, folder: Path, report: Callable[[str], None]) -> None:
    """Put the rules of a part into the folder of the joint model."""
    folder.mkdir(parents=True)
    _link(part.folder / part.file.rules, folder / "rules.table")
    for name in (SOURCE_HEADS, CORRECTIONS):
        if (part.folder / name).is_file():
            shutil.copyfile(part.folder / name, folder / name)
    if part.kind.dependency_models:
        report(f"{part.name}: its dependency models are left out, for they need trees of all that is shared")


def _link(path: Path, to: Path) -> None:
    """Give a file a second name by a hard link.

    This is safe, because files of models are replaced and never changed.
    """
    with suppress(OSError):
        os.link(path.resolve(), to)
        return
    shutil.copyfile(path, to)


def _lay_lms(parts: Sequence[Part], folder: Path, report: Callable[[str], None]) -> dict[str, str]:
    """Put the language models into the folder. Return the files of further models, by name."""
    given = [part for part in parts if part.file.lm]
    if given:
        first = given[0].folder / given[0].file.lm
        _link(first, folder / "lm.bin")
        others = [p.name for p in given if not filecmp.cmp(first, p.folder / p.file.lm, shallow=False)]
        if others:
            report(f"{given[0].name}: its language model is used; {', '.join(others)} had another")
    found: dict[str, Path] = {}
    for part in parts:
        for name, file in part.file.lms.items():
            path = part.folder / file
            if name in found and not filecmp.cmp(found[name], path, shallow=False):
                raise UsageError(f"two language models are called {name}: {found[name]} and {path}; expected one")
            found.setdefault(name, path)
    files = {name: f"lm_{name}.bin" for name in found}
    for name, path in found.items():
        _link(path, folder / files[name])
    return files


def _lay_networks(parts: Sequence[Part], folder: Path, report: Callable[[str], None]) -> dict[str, str]:
    """Put the networks of the parts into the folder. Each comes from the first part that has it. Return their files."""
    files = {}
    for part in parts:
        for name in part.over_heads:
            called = f"network {name}".strip()
            report(f"{part.name}: its {called} is left out, for it needs trees of all that is shared")
    for name in dict.fromkeys(name for part in parts for name in part.networks):
        given = [part for part in parts if name in part.networks]
        first = given[0].networks[name]
        files[name] = network_file(name)
        _link(first, folder / files[name])
        others = [p.name for p in given if not filecmp.cmp(first, p.networks[name], shallow=False)]
        if others:
            feature = network_feature(name)
            report(f"{given[0].name}: its neural model is used as {feature}; {', '.join(others)} had another")
    return files


def _lay_context(parts: Sequence[Part], folder: Path, report: Callable[[str], None]) -> str:
    """Put the words of context features into the folder. They come from the first part that has any."""
    given = [part for part in parts if part.file.context]
    if not given:
        return ""
    first = given[0].folder / given[0].file.context
    shutil.copyfile(first, folder / CONTEXT)
    others = [p.name for p in given if not filecmp.cmp(first, p.folder / p.file.context, shallow=False)]
    if others:
        report(f"{given[0].name}: the words of its context features are used; {', '.join(others)} had others")
    return CONTEXT


def _text(parts: Sequence[Part]) -> TextPipeline | None:
    """Return the text pipeline of the parts. Parts with different pipelines are refused."""
    given = [part for part in parts if part.file.text]
    if not given:
        return None
    first = (given[0].folder / given[0].file.text).parent
    learnt = [f"{side}.{name}" for side in ("source", "target") for name in PARTS]
    for part in given[1:]:
        other = (part.folder / part.file.text).parent
        for name in (TEXT_FILE, *learnt):
            if not _same(first / name, other / name):
                raise UsageError(
                    f"{given[0].name} and {part.name} make words of text in different ways; {name} differs"
                )
    return TextPipeline.load(first)


def _lay_parser(parts: Sequence[Part], leading: Part, folder: Path) -> str:
    """Copy the parser of the part that needs the richest parses."""
    if not leading.file.parser:
        return ""
    adapter, colon, name = leading.file.parser.rpartition(":")
    for part in parts:
        if part.file.parser and not _same_parser(leading, part):
            raise UsageError(
                f"{leading.name} and {part.name} have different parsers; expected one, whose parses all parts translate"
            )
    own = leading.folder / name
    if own.is_dir():
        shutil.copytree(own, folder / name)
    elif own.is_file():
        shutil.copyfile(own, folder / name)
    return f"{adapter}{colon}{name}"


def _same_parser(one: Part, other: Part) -> bool:
    paths = [part.folder / part.file.parser.rpartition(":")[2] for part in (one, other)]
    files = [sorted(path.relative_to(own) for path in (own, *own.rglob("*")) if path.is_file()) for own in paths]
    same = one.file.parser == other.file.parser and files[0] == files[1]
    return same and all(_same(paths[0] / name, paths[1] / name) for name in files[0])


def _same(one: Path, other: Path) -> bool:
    if one.is_file() != other.is_file():
        return False
    return not one.is_file() or filecmp.cmp(one, other, shallow=False)


def _facts(parts: Sequence[Part], text: TextPipeline | None) -> dict[str, object]:
    from treeglot import __version__
    from treeglot.base.files import read_json

    languages = None if text is None else [text.source.language.code, text.target.language.code]
    known = {p.name: path for p in parts if (path := p.folder / "training.json").is_file()}
    return {
        "version": __version__,
        "languages": languages,
        "parts": {name: read_json(path) for name, path in known.items()},
    }


def _widest(one: SearchOptions, other: SearchOptions) -> SearchOptions:
    """Return search options that have the larger limit of two parts, for each limit.

    >>> _widest(SearchOptions(pop_limit=100, beam=200), SearchOptions(pop_limit=200, beam=0)).pop_limit
    200
    """
    changed = {}
    for field in fields(SearchOptions):
        values = getattr(one, field.name), getattr(other, field.name)
        unlimited = field.default == 0 or field.name in ("pop_limit", "step_limit", "per_source")
        if not isinstance(values[0], bool) and unlimited and 0 in values and field.name not in ("mbr", "mbr_scale"):
            changed[field.name] = type(values[0])(0)
        else:
            changed[field.name] = max(values)
    return replace(one, **changed)


def first_weights(parts: Sequence[Part]) -> dict[str, float]:
    """Return the weights before tuning. The parts' weights are scaled so that their language models weigh the same."""
    given = {part.name: part.weights for part in parts}
    sizes = [abs(weights.get("lm", 0.0)) for weights in given.values()]
    scale = sum(sizes) / len(sizes) if all(sizes) else 0.0
    common: dict[str, list[float]] = {}
    out: dict[str, float] = {}
    for (name, weights), size in zip(given.items(), sizes, strict=True):
        for feature, weight in weights.items():
            scaled = weight * (scale / size) if scale else weight
            if feature in COMMON or feature.startswith(("lm_", f"{NEURAL}_", *FAMILIES)):
                common.setdefault(feature, []).append(scaled)
            else:
                out[f"{name}.{feature}"] = scaled
    return out | {feature: sum(values) / len(values) for feature, values in common.items()}


def names_of(folders: Sequence[Path]) -> Iterator[str]:
    """Return names for parts without a name. These are their kinds; repeated kinds get a number."""
    seen: dict[str, int] = {}
    for folder in folders:
        kind = _open("", folder).kind.name
        seen[kind] = seen.get(kind, 0) + 1
        yield kind if seen[kind] == 1 else f"{kind}-{seen[kind]}"
