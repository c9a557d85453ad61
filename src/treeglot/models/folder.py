"""A model is a folder: `model.toml`, the rule table, the language model, the weights.

    model.toml      kind, search options, and the names of the files below
    rules.table     the compiled rules; or on_demand.json and index-*.bin, to find rules on demand (docs/scale.md)
    lm.bin          the compiled n-gram model
    lm_NAME.bin     further language models, which model.toml names
    neural.bin      a neural joint model (docs/neural.md); or none
    neural_NAME.bin further networks, which model.toml names
    context.json    the words of context features; or none
    weights.txt     a line `name value` for each feature
    text.toml       how text becomes words and words text, with the files of treeglot.text.pipeline; or none
    parser          the parser's grammar, or the file of another parser's model; or none
    target.parser   the same for the target language, to learn from corrections; or none
    aligner         a saved word aligner, to learn from corrections; or none
    confidence.json how reliable translations are, learnt from sentences with references; or none
    provenance.bin  the sentence pairs that the rules come from; or none
    glossary.tsv    terms that translations use (docs/corrections.md); or none
    corrections.txt rules that are added, forbidden or reweighted, steps of weights (docs/corrections.md); or none
    parts           the rules of a joint model's parts (treeglot.models.joint); or none
    training.json   the version, the languages, and digests of the training data

Every file is complete when it appears under its name, and `model.toml` is written last. To replace a model, the new one
is first written to the folder `.next` inside, and then its files are moved into place. If this move is interrupted, the
next process that opens the model finishes it.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from treeglot.base.errors import FormatError, OptionError, UsageError
from treeglot.base.files import PathLike, write_binary
from treeglot.base.options import Options, in_file, load_options, option, required
from treeglot.base.toml import format_value
from treeglot.decode import SearchOptions
from treeglot.decode.confidence import FILE as CONFIDENCE
from treeglot.decode.weights import write_weights
from treeglot.models.artefacts import ALIGNER, DEPENDENCY_MODELS, JOINED, SOURCE_HEADS
from treeglot.rules.corrections import CORRECTIONS, changing
from treeglot.rules.on_demand import FACTS, INDEX, read_facts
from treeglot.rules.provenance import PROVENANCE
from treeglot.text import TextPipeline
from treeglot.text.pipeline import TEXT_FILE
from treeglot.text.side import PARTS

NEXT = ".next"
GLOSSARY_FILE = "glossary.tsv"


@dataclass(frozen=True)
class ModelFile(Options):
    """The content of `model.toml`: the kind of the model, its search options, and the names of its files."""

    kind: str = required("the kind of model, such as hiero")
    parts: dict[str, str] = option({}, "of a joint model: the kinds of its parts by name; parts/NAME has their files")
    rules: str = option("rules.table", "the compiled rule table")
    on_demand: str = option("", "what says how rules are found on demand, instead of a table; empty: there is a table")
    lm: str = option("lm.bin", "the compiled n-gram model; empty: none")
    lms: dict[str, str] = option({}, "further n-gram models by name; their features are lm_NAME")
    neural: str = option("", "the neural joint model; empty: none")
    networks: dict[str, str] = option({}, "further networks by name; their features are neural_NAME")
    context: str = option("", "the words of context features; empty: there are no such features")
    weights: str = option("weights.txt", "the weights of the features")
    text: str = option("", "text.toml: it takes text; empty: it takes words separated by blanks")
    parser: str = option("", "its parser: the folder of a grammar, or ADAPTER:MODEL such as udpipe:FILE; empty: none")
    target_parser: str = option("", "the target language's parser, likewise, to learn from corrections")
    search: SearchOptions = option(SearchOptions(), "how to search unless told otherwise")

    def __post_init__(self) -> None:
        """Refuse paths outside the folder. A downloaded model must open only its own files."""
        super().__post_init__()
        for key, given in self.files():
            path = Path(given.rpartition(":")[2])
            if path.is_absolute() or ".." in path.parts or "\0" in str(path):
                raise OptionError(f"{'.'.join(key)} is {str(path)!r}; expected a file in the model's folder", key)
        check_lm_names(self.lms)
        check_network_names(self.networks)
        check_part_names(self.parts)

    def need_table(self, folder: Path, what: str) -> None:
        """Raise an error if a request needs a rule table, but the model finds its rules on demand."""
        if self.on_demand:
            raise UsageError(f"{folder} finds its rules on demand; {what} need a model with a rule table")

    @property
    def every_network(self) -> dict[str, str]:
        """The files of all networks, by name. The neural joint model has the empty name."""
        return ({"": self.neural} if self.neural else {}) | self.networks

    def files(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield the files that `model.toml` names, with their keys."""
        rules = "on_demand" if self.on_demand else "rules"
        for name in (rules, "lm", "neural", "context", "weights", "text", "parser", "target_parser"):
            yield (name,), getattr(self, name)
        for name, file in self.lms.items():
            yield ("lms", name), file
        for name, file in self.networks.items():
            yield ("networks", name), file


def check_lm_names(names: Iterable[str]) -> None:
    """Refuse names of further language models that cannot be part of a feature, or that are taken."""
    for name in names:
        if not re.fullmatch("[a-z0-9_]{1,40}", name) or name == "unknown" or name.endswith("_unknown"):
            problem = "expected letters a to z, digits and _, and no unknown at its end"
            raise OptionError(f"lms.{name} is not a name of a language model; {problem}", ("lms", name))


def check_network_names(names: Iterable[str]) -> None:
    """Refuse names of further networks that cannot be part of a feature."""
    for name in names:
        if not re.fullmatch("[a-z0-9_]{1,40}", name):
            problem = "is no name of a network; expected letters a to z, digits and _"
            raise OptionError(f"networks.{name} {problem}", ("networks", name))


def check_part_names(names: Iterable[str]) -> None:
    """Refuse names of a joint model's parts that cannot be prefixes of features or names of folders."""
    for name in names:
        if not re.fullmatch("[A-Za-z0-9_-]{1,40}", name):
            problem = "is no name of a part; expected letters A to Z and a to z, digits, - and _"
            raise OptionError(f"parts.{name} {problem}", ("parts", name))


def refuse_links(folder: Path, file: ModelFile) -> None:
    """Refuse links in a model's folder that lead out of it."""
    given = {path.rpartition(":")[2] if "parser" in key[0] else path: key for key, path in file.files()}
    text = (folder / file.text).parent.relative_to(folder) if file.text else Path()
    learnt = [str(text / f"{side}.{part}") for side in ("source", "target") for part in PARTS]
    edited, learned = (GLOSSARY_FILE, CORRECTIONS), (ALIGNER, *DEPENDENCY_MODELS.values())
    indexes = [path.name for path in folder.glob("index-*.bin")] if file.on_demand else []
    own = (SOURCE_HEADS, PROVENANCE, CONFIDENCE, JOINED, *indexes, *edited, *learned)
    for name in (*given, *own, *learnt):
        for path in (folder / name, *(folder / name).rglob("*")) if name else ():
            if not path.resolve().is_relative_to(folder.resolve()):
                what = f"{'.'.join(given[name])} is {name!r}" if name in given else f"has {name!r}"
                problem = f"{what}, a link that leads out of it; expected a file in the model's folder"
                if name in given:
                    raise in_file(folder / "model.toml", UsageError(problem, given[name]))
                raise FormatError(os.fspath(folder), 0, problem)


def move_in(folder: Path, *, locked: bool = False) -> None:
    """Move a new model into place, if a folder contains one. A later call finishes an interrupted move.

    `model.toml` is removed first and written last, so two models never mix. Before it is written, old rules of the
    other variant (table or index) are removed.
    """
    try:
        new = os.open(folder / NEXT, os.O_RDONLY | os.O_DIRECTORY)
    except (FileNotFoundError, NotADirectoryError):
        return
    try:
        with suppress(OSError):  # some network file systems have no locks
            fcntl.flock(new, fcntl.LOCK_EX)
        # Pairs that are being added belong to the model before. A caller that has the lock says so (`locked`).
        with changing(folder / FACTS) if (folder / FACTS).is_file() and not locked else nullcontext():
            listed = os.listdir(new)  # noqa: PTH208 - another may move it in
            names = sorted(listed, key=lambda name: name == "model.toml")
            if "model.toml" in names:
                (folder / "model.toml").unlink(missing_ok=True)
            for name in names:
                old = folder / name
                if name == "model.toml":
                    _remove_other_rules(folder, load_options(ModelFile, folder / NEXT / name))
                # Renaming replaces no file by a folder, and no folder by a file.
                if old.is_dir() and not old.is_symlink():
                    shutil.rmtree(old)
                else:
                    old.unlink(missing_ok=True)
                os.replace(name, old, src_dir_fd=new)
        with suppress(OSError):  # another process has done it
            (folder / NEXT).rmdir()
    finally:
        os.close(new)


def _remove_other_rules(folder: Path, file: ModelFile) -> None:
    """Remove those files of rules of the old model that the new model does not have."""
    if file.on_demand:
        used = {file.on_demand, *read_facts(folder / file.on_demand)["indexes"]}
        other = ["rules.table", "rules.parquet", PROVENANCE]
    else:
        used, other = set(), [FACTS]
    indexes = [path.name for path in folder.iterdir() if INDEX.fullmatch(path.name)]
    for name in {*other, *indexes} - used:
        (folder / name).unlink(missing_ok=True)


def write_model(
    directory: PathLike,
    kind: str,
    weights: Mapping[str, float],
    search: SearchOptions,
    text: TextPipeline | None = None,
    parser: str = "",
    target_parser: str = "",
    neural: str = "",
    on_demand: str = "",
    named: Mapping[str, Mapping[str, str]] = {},
    context: str = "",
) -> None:
    """Write the parts of a model that come after its tables: the weights, the text pipeline and, last, `model.toml`.

    `named` contains the tables of `model.toml`: `parts`, `lms` and `networks`.
    """
    folder = Path(directory)
    write_weights(folder / "weights.txt", weights)
    lines = [f'kind = "{kind}"']
    if text is not None:
        text.write(folder)
        lines.append(f'text = "{TEXT_FILE}"')
    files = {"on_demand": on_demand, "neural": neural, "context": context, "parser": parser}
    files["target_parser"] = target_parser
    for name, given in files.items():
        lines += [f"{name} = {format_value(given)}"] if given else []
    for table, entries in named.items():
        if entries:
            lines += ["", f"[{table}]", *(f"{name} = {format_value(each)}" for name, each in entries.items())]
    lines += ["", "[search]"]
    lines += [f"{name} = {format_value(value)}" for name, value in asdict(search).items()]
    with write_binary(folder / "model.toml") as stream:
        stream.write(("\n".join(lines) + "\n").encode())
