"""Estimates how probable it is that sentences and words are translated well (docs/why.md).

Two small logistic models are fitted on sentences with references. Their features are posteriors of a k-best list, the
rules that were used, and unknown words.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from treeglot._core import Hypothesis, Step
from treeglot.base.errors import FormatError
from treeglot.base.files import PathLike, read_json, write_binary
from treeglot.base.later import Later

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = Later("numpy")

LIST = 100  # distinct hypotheses that posteriors are taken from
SCALES = (1.0, 4.0)  # of scores, before they are made probabilities
FILE = "confidence.json"
PROBABILITIES = ("p_target_given_source", "p_source_given_target", "lex_target_given_source")
SENTENCE = ("log_length", "score", "lm", "unknown", "rules", "glue", "likelihood", *(f"best@{s:g}" for s in SCALES))
SENTENCE += tuple(f"words@{s:g}" for s in SCALES)
WORD = ("local", "rule_words", "rule_span", "likelihood", "letters", *(f"word@{s:g}" for s in SCALES))
WORD += tuple(f"sentence_{name}" for name in SENTENCE)
RIDGE = 1e-3  # pull towards 0, for each sentence or word

Floats: TypeAlias = "npt.NDArray[np.float64]"
Features = tuple[list[float], list[list[float]]]  # of a sentence, and of its words
RuleScores = Callable[[Step], Sequence[float]]  # of a step: what its rule adds to the logs of probabilities


@dataclass(frozen=True)
class Confidence:
    """The probability that a translation is good, and the probabilities for each of its words."""

    sentence: float
    words: tuple[float, ...]


@dataclass(frozen=True)
class Logistic:
    """A logistic model. Its features are standardised first."""

    names: tuple[str, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]
    weights: tuple[float, ...]  # a constant first

    def __call__(self, rows: npt.ArrayLike) -> Floats:
        """Return the probability for each row of features."""
        values = (np.asarray(rows, dtype=float).reshape(-1, len(self.names)) - self.means) / self.scales
        sums: Floats = np.clip(values @ np.array(self.weights[1:]) + self.weights[0], -30, 30)
        return np.asarray(1.0 / (1.0 + np.exp(-sums)), dtype=np.float64)

    @staticmethod
    def fit(names: Sequence[str], rows: npt.ArrayLike, labels: npt.ArrayLike) -> Logistic:
        """Return the weights that maximise the likelihood of the labels, 0 or 1, by Newton's method.

        >>> fitted = Logistic.fit(["x"], [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
        >>> [round(float(p)) for p in fitted([[0.0], [3.0]])]
        [0, 1]
        """
        values, wanted = np.asarray(rows, dtype=float), np.asarray(labels, dtype=float)
        means, scales = values.mean(axis=0), values.std(axis=0)
        scales[scales == 0] = 1.0
        x = np.hstack([np.ones((len(values), 1)), (values - means) / scales])
        pull = np.full(x.shape[1], RIDGE * len(x))
        pull[0] = RIDGE
        weights = np.zeros(x.shape[1])
        for _ in range(50):
            p = 1.0 / (1.0 + np.exp(-np.clip(x @ weights, -30, 30)))
            gradient = x.T @ (wanted - p) - pull * weights
            step = np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + np.diag(pull), gradient)
            weights += step
            if np.abs(step).max() < 1e-9:
                break
        numbers = (tuple(map(float, part)) for part in (means, scales, weights))
        return Logistic(tuple(names), *numbers)


@dataclass(frozen=True)
class ConfidenceModel:
    """Computes the `Confidence` of a translation from its hypotheses."""

    sentence: Logistic
    word: Logistic

    def estimate(self, length: int, hypotheses: Sequence[Hypothesis], scores: RuleScores) -> Confidence:
        """Return the confidence of the first of these distinct hypotheses. `length` counts the source words."""
        whole, words = features(length, hypotheses, scores)
        return Confidence(float(self.sentence(whole)[0]), tuple(map(float, self.word(words))) if words else ())

    @staticmethod
    def fit(
        rows: Sequence[tuple[list[float], list[list[float]]]], good: Floats, words: Iterable[bool]
    ) -> ConfidenceModel:
        """Fit the model to the features of sentences and words. Labels tell which of them are good."""
        return ConfidenceModel(
            Logistic.fit(SENTENCE, [row for row, _ in rows], good),
            Logistic.fit(WORD, [word for _, each in rows for word in each], [float(one) for one in words]),
        )

    def write(self, path: PathLike) -> None:
        """Write the model to a JSON file. The same model produces the same bytes."""
        with write_binary(path) as stream:
            stream.write(json.dumps(asdict(self), indent=1).encode() + b"\n")

    @staticmethod
    def load(path: PathLike) -> ConfidenceModel:
        """Load a model from its JSON file."""
        try:
            found = read_json(path)
            parts = {name: _logistic(found[name], known) for name, known in (("sentence", SENTENCE), ("word", WORD))}
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            problem = "is no confidence model; expected what treeglot confidence writes"
            raise FormatError(str(path), 0, problem) from error
        return ConfidenceModel(**parts)


def _logistic(table: Any, names: tuple[str, ...]) -> Logistic:
    made = Logistic(*(tuple(table[name]) for name in ("names", "means", "scales", "weights")))
    numbers = (*made.means, *made.scales, *made.weights)
    sizes = len(made.means), len(made.scales), len(made.weights) - 1
    if made.names != names or set(sizes) != {len(names)} or not all(math.isfinite(n) for n in numbers):
        raise ValueError("other features than this version's")
    return made


def features(length: int, hypotheses: Sequence[Hypothesis], scores: RuleScores) -> Features:
    """Return the features of a sentence, and the features of each word of its first hypothesis."""
    best = hypotheses[0]
    words = [word for word in best.text.split(" ") if word]
    posteriors = [_posteriors([h.score for h in hypotheses], scale) for scale in SCALES]
    bags = [Counter(h.text.split(" ")) for h in hypotheses]
    seen: Counter[str] = Counter()
    shares: list[list[float]] = []  # by word: the share of outputs, at each scale, that have it as often
    for word in words:
        seen[word] += 1
        has = np.array([bag[word] >= seen[word] for bag in bags])
        shares.append([float(p[has].sum()) for p in posteriors])
    steps = best.derivation.steps
    likelihood = [0.0 if step.local else sum(scores(step)) for step in steps]
    values, size = best.features, max(len(words), 1)
    rules = sum(not step.local for step in steps)
    whole = [
        math.log(length),
        best.score / size,
        values.get("lm", 0.0) / (size + 1),
        values.get("unknown", 0.0) / length,
        rules / length,
        values.get("glue", 0.0) / length,
        sum(likelihood) / size,
        *(math.log(max(float(p[0]), 1e-12)) for p in posteriors),
        *(float(np.mean(column)) if words else 1.0 for column in (zip(*shares, strict=True) if words else [[], []])),
    ]
    own = Counter(best.given_by)
    by_word = [
        [
            float(steps[step].local),
            math.log(own[step]),
            math.log(max(steps[step].span[1] - steps[step].span[0], 1)),
            likelihood[step] / own[step],
            math.log(len(word)),
            *share,
            *whole,
        ]
        for word, step, share in zip(words, best.given_by, shares, strict=True)
    ]
    return whole, by_word


def _posteriors(scores: Sequence[float], scale: float) -> Floats:
    values = np.array(scores) * scale
    weights = np.exp(values - values.max())
    return np.asarray(weights / weights.sum(), dtype=np.float64)
