"""Makes new n-gram models from existing ones: interpolates several models, or prunes one."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from treeglot import _core
from treeglot._core import EstimatedNgrams
from treeglot.base.errors import UsageError
from treeglot.base.files import PathLike, iterate_lines, write_binary
from treeglot.base.later import Later
from treeglot.lm.ngram import TEXTS_AT_A_TIME, NgramModel, compile_ngram, load_ngram

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = Later("numpy")

MOST_ROUNDS = 1000
SETTLED = 1e-6  # no weight changes by more in the last round


@dataclass(frozen=True)
class MixedText:
    """Measures how well a mixture predicts a text. Words that no model knows do not count."""

    tokens: int  # with </s>, without unknown words
    unknown: int  # words that no model knows
    rounds: int  # of EM
    dynamic: float  # perplexity of the models' mixture
    static: float  # that of the one back-off model


@dataclass(frozen=True)
class Mixture:
    """The result of interpolating several models."""

    estimate: EstimatedNgrams
    weights: tuple[float, ...]
    dev: MixedText | None  # if there was a text

    def write_arpa(self, path: PathLike) -> None:
        """Write the model as an ARPA file."""
        _write(self.estimate, path)


@dataclass(frozen=True)
class Pruned:
    """The result of pruning a model."""

    estimate: EstimatedNgrams
    counted: tuple[int, ...]  # n-grams before, by order

    @property
    def kept(self) -> tuple[int, ...]:
        """The number of n-grams of each order that remain."""
        sizes = [len(self.estimate.log10_probability(n)) for n in range(1, self.estimate.order + 1)]
        return (*sizes, *[0] * (len(self.counted) - len(sizes)))

    def write_arpa(self, path: PathLike) -> None:
        """Write the model as an ARPA file."""
        _write(self.estimate, path)


def interpolate_ngrams(
    models: Sequence[NgramModel | PathLike],
    *,
    weights: Sequence[float] | None = None,
    dev: PathLike | Iterable[str] | None = None,
) -> Mixture:
    """Interpolate n-gram models linearly into one back-off model.

    If `dev` is a text, EM finds the weights that make it most likely. Otherwise, the weights are `weights`. The result
    has the n-grams of all models, each with the weighted sum of its probabilities. A word that a model does not know
    has probability 0 in this model. For other n-grams, the result backs off, so it differs from the mixture of the
    models (`MixedText.dynamic`).

    >>> from treeglot.lm import compile_ngram, train_ngram
    >>> lines = ["a a a b", "a b b", "b a a c", "c d e", "d a f", "e f a g a", "b a"]
    >>> one, two = (compile_ngram(train_ngram(text, order=2)) for text in (lines, [line[::-1] for line in lines]))
    >>> made = interpolate_ngrams([one, two], weights=[0.25, 0.75])
    >>> mixed = compile_ngram(made.estimate)
    >>> p, q, r = (10 ** model.score("a", bos=False, eos=False) for model in (one, two, mixed))
    >>> abs(0.25 * p + 0.75 * q - r) < 1e-6
    True
    """
    loaded = [model if isinstance(model, NgramModel) else load_ngram(model) for model in models]
    for model in loaded:
        _check(model)
    if (weights is None) == (dev is None):
        raise UsageError("a mixture needs weights or a text to find them with; expected one of the two")
    if not loaded:
        raise UsageError("there are no models; expected one or more")
    if weights is not None:
        return Mixture(_mixed(loaded, weights), tuple(weights), None)
    assert dev is not None
    text = dev if isinstance(dev, str | os.PathLike) else list(dev)  # it is read twice
    scores, unknown = _score(loaded, iterate_lines(text) if isinstance(text, str | os.PathLike) else text)
    if not scores.shape[1]:
        raise UsageError("the text has no words that a model knows; expected text to find weights with")
    found, rounds = _maximise(scores)
    estimate = _mixed(loaded, found)
    dynamic = math.exp(-float(np.log(found @ scores).mean()))
    lines = iterate_lines(text) if isinstance(text, str | os.PathLike) else text
    static = compile_ngram(estimate).perplexity(lines).excluding_oovs
    told = MixedText(scores.shape[1], unknown, rounds, dynamic, static)
    return Mixture(estimate, tuple(map(float, found)), told)


def prune_ngrams(model: NgramModel | PathLike, threshold: float) -> Pruned:
    """Remove n-grams that change the perplexity of a model by a smaller fraction than `threshold` (Stolcke 1998).

    The effect of each n-gram is computed for the whole model. An n-gram stays if a longer remaining n-gram begins with
    it. Back-off weights are computed again, so that probabilities sum to 1.

    >>> from treeglot.lm import compile_ngram, train_ngram
    >>> lines = ["a a a b", "a b b", "b a a c", "c d e", "d a f", "e f a g a", "b a"]
    >>> pruned = prune_ngrams(compile_ngram(train_ngram(lines, order=2)), 0.003)
    >>> pruned.counted, pruned.kept
    ((10, 23), (10, 12))
    """
    loaded = model if isinstance(model, NgramModel) else load_ngram(model)
    _check(loaded)
    if not threshold >= 0:
        raise UsageError(f"the threshold is {threshold}; expected a number of at least 0")
    estimate, counted = _core.prune_ngrams(loaded.core, threshold)
    return Pruned(estimate, tuple(counted))


def _check(model: NgramModel) -> None:
    if model.core.classed:
        raise UsageError(f"{model.path or 'a model'} is over classes of words; expected a model over words")


def _write(estimate: EstimatedNgrams, path: PathLike) -> None:
    with write_binary(path) as stream:
        estimate.write_arpa(stream.write)


def _mixed(models: Sequence[NgramModel], weights: Sequence[float] | npt.NDArray[np.float64]) -> EstimatedNgrams:
    try:
        return _core.mix_ngrams([model.core for model in models], [float(weight) for weight in weights])
    except ValueError as problem:
        raise UsageError(str(problem)) from None


def _score(models: Sequence[NgramModel], lines: Iterable[str]) -> tuple[npt.NDArray[np.float64], int]:
    """Return the probabilities of known tokens, one row per model, and the number of tokens that no model knows."""
    parts, unknown = [np.zeros((len(models), 0))], 0
    rest = iter(lines)
    while some := list(islice(rest, TEXTS_AT_A_TIME)):
        rows = []
        for model in models:
            ids, offsets = model.encode(some)
            log10, _ = model.score_words(ids, offsets)
            known = np.insert(ids != 0, offsets[1:].astype(np.int64), True)  # </s> comes after each text
            rows.append(np.where(known, 10.0 ** log10.astype(np.float64), 0.0))
        together = np.stack(rows)
        some_knows = together.max(axis=0) > 0
        unknown += int((~some_knows).sum())
        parts.append(together[:, some_knows])
    return np.concatenate(parts, axis=1), unknown


def _maximise(scores: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], int]:
    """Find the weights of the mixture that make the tokens most likely. Return them with the number of EM rounds."""
    weights, rounds, change = np.full(len(scores), 1 / len(scores)), 0, math.inf
    while rounds < MOST_ROUNDS and change >= SETTLED:
        new = weights * (scores / (weights @ scores)).mean(axis=1)
        new /= new.sum()
        change = float(np.abs(new - weights).max())
        weights = new
        rounds += 1
    return weights, rounds
