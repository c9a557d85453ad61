"""Neural networks of models: adds them to a model's folder, and shows their scores word by word (docs/neural.md)."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeglot import _core
from treeglot.base.errors import UsageError
from treeglot.base.files import PathLike, write_binary
from treeglot.base.options import load_options
from treeglot.base.toml import format_value
from treeglot.decode.translation import tokens
from treeglot.decode.translator import NEURAL, network_feature
from treeglot.decode.weights import read_weights, write_weights
from treeglot.models.artefacts import LEXICAL
from treeglot.models.kinds import JOINT, find_kind
from treeglot.syntax import Alignment, Dependency, ParseForest

if TYPE_CHECKING:
    from treeglot._core import JointEpoch
    from treeglot.corpus.pairs import Pair
    from treeglot.decode.translation import Translation
    from treeglot.models.kind import Kind
    from treeglot.models.model import Model
    from treeglot.neural.options import JointOptions
    from treeglot.neural.train import ParsedPair, SourceParse

WEIGHT = 0.2  # before tuning
PER_WORD = 2.0  # the usual log probability of a word, below 0: so much the word penalty gives back
MOST_HISTORY = 6  # words, in the core
PARSES = ("", "constituents", "dependencies")  # that a network sees, by number


@dataclass(frozen=True)
class NeuralWord:
    """The score that a network gives an output word. A lexical network scores translations of source words instead."""

    word: str  # </s> at the end; <none> for a source word without translation
    source: str  # the source word that it is affiliated with; </s> at the end
    place: int  # of that word
    score: float  # the natural log of its probability


def neural_words(model: _core.JointModel | None, found: Translation) -> tuple[NeuralWord, ...]:
    """Return the scores of the words of the best output and of its end.

    For a lexical network, return those of source words.
    """
    if model is None:
        return ()
    words, hypothesis = found.words, found.best
    if is_lexical(model):
        return _translations(model, found)
    target, places = tokens(hypothesis.text), [*hypothesis.affiliations, len(words)]
    links = Alignment([(at, i) for i, at in enumerate(hypothesis.affiliations)])
    tree = hypothesis.dependency if model.facts["heads"] else None
    scores, _ = model.score(words, target, links, False, seen_parse(model, found), tree)
    given = zip([*target, "</s>"][: len(scores)], places, scores, strict=False)  # models over heads have no end
    return tuple(NeuralWord(word, [*words, "</s>"][at], at, float(score)) for word, at, score in given)


def is_lexical(model: _core.JointModel) -> bool:
    """Return whether a network is lexical: it predicts the translations of source words, without history."""
    return model.facts["history"] == 0


def usual_name(model: _core.JointModel) -> str:
    """Return the default name of a network in a model."""
    return LEXICAL if is_lexical(model) else ""


def seen_parse(model: _core.JointModel, found: _core.Translation) -> SourceParse | None:
    """Return the parse of a translated sentence in the form that a network needs, or None if it sees no parses."""
    if model.facts["parse"] == PARSES.index("dependencies") and not isinstance(found.given, Dependency):
        return found.tree or Dependency([], [], [])  # a failed parse says nothing
    return found.given if isinstance(found.given, ParseForest | Dependency) else None


def _translations(model: _core.JointModel, found: Translation) -> tuple[NeuralWord, ...]:
    words, hypothesis = found.words, found.best
    target = tokens(hypothesis.text)
    linked: list[list[str]] = [[] for _ in words]
    for at, place in hypothesis.links:  # in the order of the text
        linked[at].append(target[place])
    scores, _ = model.score(words, target, Alignment(hypothesis.links), False, seen_parse(model, found))
    given = enumerate(zip(words, linked, scores, strict=True))
    return tuple(NeuralWord(" ".join(own) or "<none>", word, at, float(score)) for at, (word, own, score) in given)


def with_neural(weights: Mapping[str, float], weight: float = WEIGHT, name: str = "") -> dict[str, float]:
    """Add a weight for the feature `neural` or `neural_NAME` to the weights of a model.

    The word penalty changes, too, so that the output keeps its length.

    >>> with_neural({"lm": 0.5, "word_penalty": 1.0}, 0.1)
    {'lm': 0.5, 'word_penalty': 1.2, 'neural': 0.1}
    """
    words = weights.get("word_penalty", 0.0) + PER_WORD * weight
    return {**weights, "word_penalty": words, network_feature(name): weight}


def without_neural(weights: Mapping[str, float], name: str = "") -> dict[str, float]:
    """Remove what `with_neural` added, and restore the word penalty.

    >>> without_neural({"lm": 0.5, "word_penalty": 1.2, "neural": 0.1})
    {'lm': 0.5, 'word_penalty': 1.0}
    """
    feature = network_feature(name)
    if feature not in weights:
        return dict(weights)
    words = weights.get("word_penalty", 0.0) - PER_WORD * weights[feature]
    return {own: weight for own, weight in weights.items() if own != feature} | {"word_penalty": words}


def parses_of(kind: Kind) -> str:
    """Return the sort of source parse that a network can see in a kind of model, or an empty text if there is none.

    >>> from treeglot.models.kinds import KINDS
    >>> parses_of(KINDS["c2s"]), parses_of(KINDS["dep2str"]), parses_of(KINDS["hiero"])
    ('constituents', 'dependencies', '')
    """
    if not kind.parses:
        return PARSES[0]
    return "dependencies" if kind.needs.source == "dependency" else "constituents"


def parse_of(pair: Pair) -> SourceParse | None:
    """Return what a network learns from a pair's source parse: the best tree, or the dependencies."""
    if pair.source_dependency is not None:
        return pair.source_dependency
    return pair.source_tree if pair.source_forest is None else pair.source_forest.viterbi()


def _refuse_heads(kind: Kind, what: str, key: tuple[str, ...] = ()) -> None:
    """Refuse a network over heads if the kind of model produces no dependency trees."""
    if not kind.dependency_models:
        problem = f"{what} is a network over heads, and a {kind.name} model makes no dependency trees"
        raise UsageError(f"{problem}; expected a kind such as s2d or c2d", key)


def wanted_networks(kind: Kind, options: Any) -> dict[str, JointOptions]:
    """Return the options of the networks that training will make, by name.

    Networks that no search can use are refused.
    """
    network: JointOptions = options.network
    if network.parse and not parses_of(kind):
        problem = f"network.parse is true, and a {kind.name} model translates sentences without parses"
        raise UsageError(f"{problem}; expected false, or another kind of model", ("network", "parse"))
    if options.neural and network.heads:
        _refuse_heads(kind, "network.heads", ("network", "heads"))
    if network.lexical:
        key = ("network", "lexical")
        raise UsageError("network.lexical is true; expected neural_lexical=true for a lexical network", key)
    if options.neural and network.history > MOST_HISTORY and not network.heads:
        problem = f"network.history is {network.history}; expected at most {MOST_HISTORY} in a search"
        raise UsageError(problem, ("network", "history"))
    wanted = {"": network} if options.neural else {}
    return wanted | ({LEXICAL: replace(network, lexical=True, heads=False)} if options.neural_lexical else {})


def check_learners(wanted: Mapping[str, JointOptions], threads: int) -> None:
    """Refuse networks whose trainer or device is not available on this machine."""
    from treeglot.neural.learner import open_learner

    for network in wanted.values():
        with open_learner(network, threads):
            pass


def train_neural(
    pairs: Iterable[ParsedPair],
    options: JointOptions,
    folder: Path,
    threads: int,
    report: Callable[[str], None],
    state: Path,
    called: str = "",
) -> None:
    """Train a network from sentence pairs with links, and write it into a model's folder under its name.

    A killed run continues from the folder `state`, which the caller removes.
    """
    from treeglot.neural.train import train_joint

    kind = f"{called} network".strip()
    name = kind

    def begin(network: int) -> None:
        nonlocal name
        if options.networks > 1:
            name = f"{kind} {network} of {options.networks}"

    def tell(epoch: JointEpoch) -> None:
        best = ", the best so far" if epoch.best else ""
        report(f"{name}, epoch {epoch.epoch} of at most {options.epochs}: perplexity {epoch.perplexity:.2f}{best}")

    model = train_joint(pairs, options, threads=threads, state=state, begin=begin, report=tell)
    model.write(os.fspath(folder / network_file(called)))
    report(f"{kind} trained" if called else "neural joint model trained")


def tell_unused_states(folder: Path, wanted: Iterable[str]) -> None:
    """Warn of saved states of networks that this training does not make.

    Each network has its own state in the folder.
    """
    used = set(wanted)
    for path in sorted(folder.rglob("*.state")):
        called = "" if path.parent == folder else path.parent.name
        if called not in used:
            problem = f"{path}: the state of a network that these options do not train; the new model replaces it"
            warnings.warn(problem, stacklevel=3)


def add_neural(folder: PathLike, network: PathLike, *, weight: float = WEIGHT, name: str | None = None) -> Model:
    """Add a network to a trained model, or replace the model's network.

    The file of a joint model becomes `neural.bin` in the folder. If the model has no weight for the feature `neural`
    yet, it gets `weight`, and the word penalty changes (`with_neural`). A network with a name becomes
    `neural_NAME.bin`, and its feature is `neural_NAME`. A lexical network is called `lexical` by default. Tune the
    model again afterwards.
    """
    from treeglot.models.folder import ModelFile, check_network_names, move_in
    from treeglot.models.model import load

    check_network_names([name] if name else [])
    place = Path(folder)
    move_in(place)
    if not (place / "model.toml").is_file():
        raise UsageError(f"{place} is not a model: it has no model.toml")
    file = load_options(ModelFile, place / "model.toml")
    opened = _core.JointModel.open(os.fspath(network))
    if opened.facts["history"] > MOST_HISTORY:
        raise UsageError(
            f"{network} has {opened.facts['history']} words of history; expected at most {MOST_HISTORY} in a search"
        )
    if opened.facts["heads"]:
        if file.kind == JOINT:
            raise UsageError(f"{network} is a network over heads; expected another one for a joint model")
        _refuse_heads(find_kind(file.kind), str(network))
    if seen := PARSES[opened.facts["parse"]]:
        # Parts of a joint model read the same input; those of dependencies make them of its trees.
        kinds = file.parts.values() if file.kind == JOINT else [file.kind]
        if seen not in (read := {parses_of(find_kind(kind)) for kind in kinds} - {""}):
            reads = " and ".join(sorted(read)) or "no parses"
            problem = f"{network} sees {seen} of source parses, and a {file.kind} model reads {reads}"
            if file.kind == JOINT:
                problem = f"{network} sees {seen} of source parses, and the parts of the joint model read {reads}"
            raise UsageError(f"{problem}; expected a network that sees what the model reads")
    lexical = is_lexical(opened)
    if name == "":
        raise UsageError("the network's name is empty; expected letters, or no name for the usual one")
    name = usual_name(opened) if name is None else name
    feature = network_feature(name)
    if not math.isfinite(weight):
        raise UsageError(f"the weight of the feature {feature} is {weight}; expected a finite number")
    weights = read_weights(place / file.weights)
    with write_binary(place / network_file(name)) as stream:
        stream.write(Path(network).read_bytes())
    if (file.networks.get(name) if name else file.neural) != network_file(name):
        _name_in(place / "model.toml", name)  # without a weight, the feature changes nothing
    if feature not in weights:
        made = {**weights, feature: weight} if lexical else with_neural(weights, weight, name)
        write_weights(place / file.weights, made)
    return load(place)


def network_file(name: str) -> str:
    """Return the file of a network in a model's folder.

    >>> network_file(""), network_file("lexical")
    ('neural.bin', 'neural_lexical.bin')
    """
    return f"{network_feature(name)}.bin"


def _name_in(path: Path, name: str) -> None:
    """Write the name of a network's file into `model.toml`."""
    lines = path.read_text(encoding="utf-8").splitlines()
    heading = next((i for i, line in enumerate(lines) if line.partition("#")[0].strip() == "[networks]"), None)
    if name and heading is None:
        heading = len(lines) + 1
        lines += ["", "[networks]"]
    begin = heading + 1 if name and heading is not None else 1
    end = next((i for i, line in enumerate(lines) if i >= begin and line.startswith("[")), len(lines))
    key = name or NEURAL
    kept = [line for line in lines[begin:end] if line.partition("=")[0].strip() != key]
    named = [*lines[:begin], f"{key} = {format_value(network_file(name))}", *kept, *lines[end:]]
    with write_binary(path) as stream:
        stream.write(("\n".join(named) + "\n").encode())
