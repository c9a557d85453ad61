"""Trains a model of any kind: from a parallel corpus to a model's folder."""

from __future__ import annotations

import hashlib
import pickle
import shutil
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeglot._core import SourceFilter
from treeglot.base.errors import TreeglotError, UsageError
from treeglot.base.files import PathLike, nearest_folder, scratch_folder
from treeglot.base.options import load_options
from treeglot.base.sizes import parse_size
from treeglot.base.storage import is_remote
from treeglot.corpus import Corpus
from treeglot.corpus.doubts import Doubts
from treeglot.corpus.pairs import Pair, Pairs
from treeglot.decode.translator import network_feature
from treeglot.decode.weights import read_weights
from treeglot.lm.train import DiscountWarning
from treeglot.lm.train_dependency import DependencyLmOptions
from treeglot.models.artefacts import (
    DEPENDENCY_MODELS,
    PARSER,
    TARGET_PARSER,
    ContextFile,
    DependencyModels,
    copy_aligner,
    copy_parser,
    write_heads,
    write_training,
)
from treeglot.models.folder import NEXT, ModelFile, check_lm_names, move_in, write_model
from treeglot.models.kinds import JOINT, find_kind
from treeglot.models.languages import with_heads
from treeglot.models.model import Model, load
from treeglot.models.neural import (
    WEIGHT,
    check_learners,
    network_file,
    parse_of,
    tell_unused_states,
    train_neural,
    wanted_networks,
    with_neural,
)
from treeglot.models.train_rules import RulesJob, index_pairs, make_rules
from treeglot.rules.corrections import CORRECTIONS
from treeglot.rules.on_demand import FACTS
from treeglot.syntax import Dependency, ParseForest
from treeglot.syntax.formats.core import PLAIN
from treeglot.syntax.lattice import Lattice, LatticeForest

if TYPE_CHECKING:
    from treeglot.models.kind import Kind
    from treeglot.models.options import ClassLmOptions
    from treeglot.neural.options import JointOptions
    from treeglot.neural.train import ParsedPair
    from treeglot.rules.engines import Engine
    from treeglot.text import TextPipeline

TARGET, LINKED = "target.txt", "linked.txt"
CLASSES = "classes"  # the language model over classes
LM_WEIGHT = 0.1  # of another language model, before tuning


def train(
    kind: str,
    corpus: Corpus,
    out: PathLike,
    options: Any = None,
    *,
    lm: PathLike | None = None,
    lm_text: PathLike | None = None,
    lms: Mapping[str, PathLike] = {},
    text: TextPipeline | None = None,
    parser: PathLike = "",
    target_parser: PathLike = "",
    aligner: PathLike | None = None,
    threads: int = 1,
    memory: str | int = "2G",
    force: bool = False,
    engine: Engine | None = None,
    filter: PathLike | None = None,
    report: Callable[[str], None] = lambda line: None,
) -> Model:
    """Train a model into the folder `out`. Each file of the corpus is read once.

    If the folder already contains a model, it stays until the new one is complete. A model with tuned weights is
    replaced only with `force`.

    `options` are those of the kind, such as `HieroModelOptions`. `lm` is the language model (ARPA or compiled). If it
    is missing, one is trained on `lm_text` or, without that, on the target side. `lms` contains further models by name;
    their features are `lm_NAME`. `report` is called with a line about each step. The scored rules are written to
    `rules.parquet` beside the model, for inspection.

    With `text`, the model takes raw text; the corpus must contain the words of this pipeline. `parser` parses the
    input: the folder of a grammar, or ADAPTER:MODEL. Its files are copied into the model. So are the files of
    `target_parser`, and of `aligner`, the folder of a saved aligner. The model needs these two to learn from
    corrections. By default, the languages of `text` select the head tables.

    With an `engine`, its machines extract rules in parts. All of them must see the folder that contains `out`. Each
    machine has `threads` and `memory`, and its tasks share them. If a run is interrupted, the next run reuses its
    finished parts. The rules are the same as without an engine.

    If a run is interrupted while it trains a neural model (`options.neural`), the same call continues this training.

    `filter` is a file of sentences or parses that the model will translate. The table then contains only the rules for
    these. Their scores are the same as in the whole table.
    """
    declared = find_kind(kind)
    declared.check(corpus)
    corpus.check_formats()
    options = options or declared.options()
    if text is not None:
        options = with_heads(declared, options, text)
    declared.validate(options)
    wanted = wanted_networks(declared, options)
    check_learners(wanted, threads)
    check_lm_names(lms)
    if CLASSES in lms and options.class_lm.classes:
        raise UsageError(f"two language models are called {CLASSES}; expected another name, or class_lm.classes=0")
    if lm_text is not None and options.class_lm.classes and not (is_remote(lm_text) or Path(lm_text).is_file()):
        raise UsageError(f"lm_text is {lm_text}, which is read several times for classes of words; expected a file")
    if engine is not None and options.provenance:
        raise UsageError("provenance is written by the engine duckdb alone; expected provenance=false")
    if corpus.united and options.provenance:
        raise UsageError("provenance is of pairs with one alignment; expected provenance=false, or one that counts 1")
    demanded = getattr(options, "on_demand", False)
    if demanded:
        _check_on_demand(Path(out), corpus, engine, filter, options)
    keep = None if filter is None else _filter(declared, Path(filter), options)
    place, size = Path(out), parse_size(memory)
    move_in(place)
    if not force:
        refuse_tuned(place)
    tell_unused_states(network_state(place), wanted)
    with scratch_folder(nearest_folder(place), "train") as scratch:
        folder = scratch / "model"
        folder.mkdir()
        pairs = corpus.pairs(declared.pair_needs(options))
        trees = _dependency_models(declared, options)
        digest = hashlib.blake2b(digest_size=16)  # of the words and links
        words = not lm_text and (not lm or options.class_lm.classes > 0)
        given = _tee(pairs, corpus, trees, digest, scratch, words)
        given = _spool(given, scratch / LINKED if wanted else None, options.network)
        context = ContextFile(options.context_words)
        job = RulesJob(
            declared, options, pairs, folder, scratch, threads, size, report, engine, parts_folder(place), keep, filter
        )
        number = index_pairs(job, context.count(given)) if demanded else make_rules(job, context.count(given))
        name = str(lm_text or corpus.target or corpus.parses("target"))
        _make_lm(folder, lm, lm_text, scratch, options.lm_order, memory, name)
        report("language model compiled")
        more = _more_lms(folder, lms, options.class_lm, (lm_text or scratch / TARGET, name), memory, report)
        for called, network in wanted.items():
            spooled, state = _spooled(scratch / LINKED), network_state(place) / called
            train_neural(spooled, network, folder, threads, report, state, called)
        if declared.source_heads:
            write_heads(options.source_heads, folder)
        if declared.dependency_models:
            for unit in declared.dependency_models:
                (scratch / DEPENDENCY_MODELS[unit]).rename(folder / DEPENDENCY_MODELS[unit])
            report(f"dependency models of {trees.trees:,} trees compiled")
        seen: dict[str, int | str] = {"pairs": number, "digest": digest.hexdigest()}
        write_training(folder, seen, options, text)
        if aligner is not None:
            copy_aligner(aligner, folder)
        parsers = ((parser, PARSER), (target_parser, TARGET_PARSER))
        own = [copy_parser(parser, folder, name) if parser else "" for parser, name in parsers]
        networks = {called: network_file(called) for called in wanted}
        weights = first_weights(declared, more, networks)
        facts = FACTS if demanded else ""
        neural, search = networks.pop("", ""), options.search
        files = {"lms": more, "networks": networks}
        words_file = context.write(folder)
        write_model(folder, declared.name, weights, search, text, own[0], own[1], neural, facts, files, words_file)
        model = install_model(folder, place)
    for left in (network_state(place), parts_folder(place)):  # of this run, or of one that was ended
        shutil.rmtree(left, ignore_errors=True)
    return model


def _dependency_models(kind: Kind, options: Any) -> DependencyModels:
    chosen = options.dependency_lm if kind.dependency_models else DependencyLmOptions()
    return DependencyModels(kind.dependency_models, chosen.conditioning)


def _check_on_demand(place: Path, corpus: Corpus, engine: Engine | None, filter: PathLike | None, options: Any) -> None:
    """Raise an error if an option needs a rule table, which a model with rules on demand lacks."""
    asked = {"an engine": engine is not None, "a filter": filter is not None, "provenance": options.provenance}
    asked["a union of alignments"] = corpus.united
    for what, given in asked.items():
        if given:
            raise UsageError(f"{what} was asked for and needs a rule table; expected none with rules on demand")
    if (place / CORRECTIONS).is_file():
        raise UsageError(f"{place} has {CORRECTIONS}, which needs a rule table; expected none with rules on demand")


def _filter(kind: Kind, path: Path, options: Any) -> SourceFilter:
    """Return the filter that keeps the rules for the sentences or parses of a file."""
    for name in ("word_pairs", "unlinked"):
        if getattr(options.compile, name):
            raise UsageError(f"compile.{name} takes the most frequent words of all rules; expected 0 with a filter")
    keep = SourceFilter(not kind.parses)
    for value in kind.read(path, None):
        if isinstance(value, Lattice | LatticeForest):
            raise UsageError(f"{path} has lattices; expected sentences or parses in a filter")
        if isinstance(value, str):
            keep.add(value.split())
        else:
            keep.add(value.words if isinstance(value, ParseForest | Dependency) else list(value))
    return keep


def parts_folder(place: Path) -> Path:
    """Return the folder that stores the parts of an engine until the model is complete."""
    resolved = place.resolve()
    return resolved.with_name(f".{resolved.name}.parts")


def network_state(place: Path) -> Path:
    """Return the folder that stores the state of a network's training until the model is complete."""
    resolved = place.resolve()
    return resolved.with_name(f".{resolved.name}.network")


def install_model(folder: Path, place: Path) -> Model:
    """Move a complete model to its place. An existing model stays there until then."""
    place.parent.mkdir(parents=True, exist_ok=True)
    folder.rename(place / NEXT if place.is_dir() else place)
    move_in(place)
    return load(place, trust_parser=True)  # the user has just given it


def refuse_tuned(folder: Path) -> None:
    """Raise an error if a model has other weights than the initial ones from training."""
    if not (folder / "model.toml").is_file():
        return
    try:
        file = load_options(ModelFile, folder / "model.toml")
        if file.kind == JOINT:
            raise UsageError(f"{folder} has a joint model")
        first = first_weights(find_kind(file.kind), file.lms, file.every_network)
        untuned = {name: weight for name, weight in first.items() if weight}  # as files have them
        if read_weights(folder / file.weights) == untuned:
            return
    except (OSError, TreeglotError) as error:
        raise UsageError(f"{error}; expected --force to replace the model, or another folder") from error
    raise UsageError(f"{folder} has a model with tuned weights; expected --force, or another folder")


def _tee(
    pairs: Pairs, corpus: Corpus, trees: DependencyModels, digest: hashlib.blake2b, scratch: Path, words: bool
) -> Iterator[Pair]:
    """Yield the pairs unchanged, and pass their target trees and words to the language models.

    Dependency models are estimated after the last pair. If words are needed, they wait in a file, and n-grams are
    counted when extraction has released its memory.
    """
    doubts = [Doubts(str(getattr(corpus, side) or corpus.parses(side))) for side in ("source", "target")]
    to_line = PLAIN.open_writer({}) if corpus.target is None else lambda words: " ".join(words) + "\n"
    with ExitStack() as stack:
        lines = stack.enter_context((scratch / TARGET).open("wb")) if words else None
        for pair in pairs:
            digest.update(f"{' '.join(pair.source)}\n{' '.join(pair.target)}\n{pair.links}\n".encode())
            if pair.share is not None:
                digest.update(f"{pair.share}\n".encode())
            if not pair.is_first:
                yield pair
                continue
            doubts[0].add(pair.source, pair.target)
            doubts[1].add(pair.target)
            digest.update("".join(f"{weight:.4f}\n" for weight in pair.weights).encode())
            if lines and (pair.target or corpus.target):  # a failed parse is no sentence
                lines.write(to_line(pair.target).encode())
            if pair.target_dependency is not None:
                trees.add(pair.target_dependency)
            yield pair
    for problem in doubts[0].found() + doubts[1].found():
        warnings.warn(problem, stacklevel=2)
    trees.write(scratch)


def _spool(pairs: Iterable[Pair], path: Path | None, network: JointOptions) -> Iterator[Pair]:
    """Yield the pairs unchanged. With a path, also write their words and first links to it, for networks."""
    if path is None:
        yield from pairs
        return
    with path.open("wb") as stream:
        for pair in pairs:
            if pair.is_first:
                both = parse_of(pair) if network.parse else None, pair.target_dependency if network.heads else None
                pickle.dump((pair.source, pair.target, pair.links, *both), stream, pickle.HIGHEST_PROTOCOL)
            yield pair


def _spooled(path: Path) -> Iterator[ParsedPair]:
    with path.open("rb") as stream, suppress(EOFError):
        while True:
            yield pickle.load(stream)


def _make_lm(
    folder: Path,
    lm: PathLike | None,
    lm_text: PathLike | None,
    scratch: Path,
    order: int,
    memory: str | int,
    name: str,
) -> None:
    from treeglot.lm.ngram import install_ngram, train_compiled

    if lm is not None:
        install_ngram(lm, folder / "lm.bin", memory=memory)
        return
    text = lm_text or scratch / TARGET
    train_compiled(text, folder / "lm.bin", order, memory=memory, name=None if lm_text else name)


def _more_lms(
    folder: Path,
    given: Mapping[str, PathLike],
    classes: ClassLmOptions,
    named: tuple[PathLike, str],
    memory: str | int,
    report: Callable[[str], None],
) -> dict[str, str]:
    """Write the further language models, and return their files by name. In messages, the text is called `named`."""
    from treeglot.lm.classes import ClassOptions, learn_classes
    from treeglot.lm.ngram import install_ngram, train_compiled

    files = {name: f"lm_{name}.bin" for name in given}
    for name, path in given.items():
        install_ngram(path, folder / files[name], memory=memory)
    if classes.classes:
        files[CLASSES] = f"lm_{CLASSES}.bin"
        text, name = named
        chosen = ClassOptions(classes.classes, classes.rounds)
        learnt = learn_classes(text, chosen, memory=memory, scratch=folder, name=name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DiscountWarning)  # no class is rare
            train_compiled(text, folder / files[CLASSES], classes.order, memory=memory, classes=learnt, name=name)
        report(f"language model of {classes.classes:,} classes compiled")
    return files


def first_weights(kind: Kind, lms: Iterable[str], networks: Iterable[str] = ()) -> dict[str, float]:
    """Return the weights before tuning: the kind's own, and those of further language models and networks."""
    weights = dict(kind.weights) | {f"lm_{name}": LM_WEIGHT for name in lms}
    for name in networks:
        weights = {**weights, network_feature(name): WEIGHT} if name else with_neural(weights)
    return weights
