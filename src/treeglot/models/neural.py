"""Neural joint models in model folders, and their scores word by word (docs/neural.md)."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from treeglot import _core
from treeglot.base.errors import UsageError
from treeglot.base.files import PathLike, write_binary
from treeglot.base.options import load_options
from treeglot.base.toml import format_value
from treeglot.decode.translation import tokens
from treeglot.decode.translator import NEURAL
from treeglot.decode.weights import read_weights, write_weights
from treeglot.models.artefacts import NEURAL_FILE
from treeglot.syntax import Alignment

if TYPE_CHECKING:
    from treeglot._core import Hypothesis, JointEpoch
    from treeglot.models.model import Model
    from treeglot.neural.options import JointOptions
    from treeglot.neural.train import LinkedPair

WEIGHT = 0.2  # before tuning
PER_WORD = 2.0  # the usual log probability of a word, below 0: so much the word penalty gives back
MOST_HISTORY = 6  # words, in the core


@dataclass(frozen=True)
class NeuralWord:
    """What the neural model gives a word of an output."""

    word: str  # </s> at the end
    source: str  # the source word that it is affiliated with; </s> at the end
    place: int  # of that word
    score: float  # the natural log of its probability


def neural_words(
    model: _core.JointModel | None, words: Sequence[str], hypothesis: Hypothesis
) -> tuple[NeuralWord, ...]:
    """The scores of an output's words and of its end; none without a model."""
    if model is None:
        return ()
    target, places = tokens(hypothesis.text), [*hypothesis.affiliations, len(words)]
    links = Alignment([(at, i) for i, at in enumerate(hypothesis.affiliations)])
    scores, _ = model.score(list(words), target, links, False)
    given = zip([*target, "</s>"], places, scores, strict=True)
    return tuple(NeuralWord(word, [*words, "</s>"][at], at, float(score)) for word, at, score in given)


def with_neural(weights: Mapping[str, float], weight: float = WEIGHT) -> dict[str, float]:
    """Weights with one of the feature `neural`. The word penalty is changed, so that outputs stay as long as they were.

    >>> with_neural({"lm": 0.5, "word_penalty": 1.0}, 0.1)
    {'lm': 0.5, 'word_penalty': 1.2, 'neural': 0.1}
    """
    words = weights.get("word_penalty", 0.0) + PER_WORD * weight
    return {**weights, "word_penalty": words, NEURAL: weight}


def check_history(options: JointOptions | None) -> None:
    """Refuse the options of a network that no search can use, before it is trained. None: there is no network."""
    if options is not None and options.history > MOST_HISTORY:
        raise UsageError(
            f"network.history is {options.history}; expected at most {MOST_HISTORY} in a search", ("network", "history")
        )


def train_neural(
    pairs: Iterable[LinkedPair],
    options: JointOptions,
    folder: Path,
    threads: int,
    report: Callable[[str], None],
    state: Path,
) -> None:
    """Train a network from sentence pairs with links, and write it into a model's folder.

    A run that was killed continues from the file `state`, which remains for the caller to remove.
    """
    from treeglot.neural.train import train_joint

    def tell(epoch: JointEpoch) -> None:
        best = ", the best so far" if epoch.best else ""
        report(f"network, epoch {epoch.epoch} of at most {options.epochs}: perplexity {epoch.perplexity:.2f}{best}")

    model = train_joint(pairs, options, threads=threads, state=state, report=tell)
    model.write(os.fspath(folder / NEURAL_FILE))
    report("neural joint model trained")


def add_neural(folder: PathLike, network: PathLike, *, weight: float = WEIGHT) -> Model:
    """Give a trained model a neural joint model, or another one in place of its own.

    Its file becomes `neural.bin` of the folder. Unless the model has a weight for the feature `neural` already, it has
    `weight`, and the word penalty is changed (`with_neural`). The model is best tuned again.
    """
    from treeglot.models.model import ModelFile, load, move_in

    if not math.isfinite(weight):
        raise UsageError(f"the weight of the feature {NEURAL} is {weight}; expected a finite number")
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
    weights = read_weights(place / file.weights)
    with write_binary(place / NEURAL_FILE) as stream:
        stream.write(Path(network).read_bytes())
    if file.neural != NEURAL_FILE:
        _name_in(place / "model.toml")  # without a weight, the feature changes nothing
    if NEURAL not in weights:
        write_weights(place / file.weights, with_neural(weights, weight))
    return load(place)


def _name_in(path: Path) -> None:
    """Write the name of the model's file before the tables of a model.toml, in place of another."""
    lines = path.read_text(encoding="utf-8").splitlines()
    table = next((i for i, line in enumerate(lines) if line.startswith("[")), len(lines))
    kept = [line for line in lines[:table] if line.partition("=")[0].strip() != "neural"]
    named = [kept[0], f"neural = {format_value(NEURAL_FILE)}", *kept[1:]]
    with write_binary(path) as stream:
        stream.write(("\n".join([*named, *lines[table:]]) + "\n").encode())
