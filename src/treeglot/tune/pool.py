"""Collects the hypotheses of all iterations, each once, with their statistics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from treeglot import _core
from treeglot.base.errors import UsageError
from treeglot.decode.weights import Weights
from treeglot.evaluate.metrics import Metric, References, Statistics
from treeglot.tune.kbest import KBest, sizes_of


@contextmanager
def refused_overflow() -> Iterator[None]:
    """Refuse weights with which a hypothesis has no finite score. The core names the hypothesis."""
    try:
        yield
    except OverflowError as error:
        raise UsageError(str(error)) from error


class Pool:
    """Hypotheses by sentence. A pool is immutable: `merged` returns a new one.

    If a k-best list has no hypotheses for a sentence, the sentence gets the empty translation without features. This is
    what a reader would see, so it counts in the score.

    >>> from treeglot.evaluate import Bleu
    >>> pool = Pool(Bleu().prepare([["a b c d", "e"]]))
    >>> pool = pool.merged(KBest.of([[("a b c d", {"lm": -2.0}), ("a c b d", {"lm": -1.0})], []]))
    >>> pool, round(pool.score({"lm": 1.0}), 2), round(pool.score({"lm": -1.0}), 2)
    (Pool(sentences=2, hypotheses=3, features=1), 17.59, 77.88)
    >>> pool.merged(KBest.of([[("a b c d", {"lm": -2.0})], []])).hypotheses  # nothing new
    3
    """

    def __init__(self, references: References) -> None:
        """Create an empty pool for sentences with these references."""
        self.references = references
        self.names: Sequence[str] = ()
        self.first: npt.NDArray[np.uint32] = np.zeros(len(references) + 1, dtype=np.uint32)
        self.first_feature: npt.NDArray[np.uint64] = np.zeros(1, dtype=np.uint64)
        self.features: npt.NDArray[np.uint32] = np.zeros(0, dtype=np.uint32)
        self.values: npt.NDArray[np.float32] = np.zeros(0, dtype=np.float32)
        self.statistics: Statistics = np.zeros((0, references.metric.core.width))
        self._seen: frozenset[bytes] = frozenset()

    def __repr__(self) -> str:
        return f"Pool(sentences={self.sentences}, hypotheses={self.hypotheses}, features={len(self.names)})"

    @property
    def metric(self) -> Metric:
        """The metric that the statistics belong to."""
        return self.references.metric

    @property
    def sentences(self) -> int:
        """The number of sentences in the pool."""
        return len(self.references)

    @property
    def hypotheses(self) -> int:
        """The number of hypotheses of all sentences."""
        return len(self.first_feature) - 1

    @cached_property
    def core(self) -> _core.HypothesisPool:
        """The arrays of the pool in the core, after they have been checked."""
        return _core.HypothesisPool(
            self.first, self.first_feature, self.features, self.values, self.statistics.ravel(), len(self.names)
        )

    def dense(self, weights: Weights) -> npt.NDArray[np.float64]:
        """Return the weights of the pool's features as an array, in their order."""
        return np.array([weights.get(name, 0.0) for name in self.names], dtype=np.float64)

    def sparse(self, dense: npt.NDArray[np.float64], weights: Weights) -> dict[str, float]:
        """Return a copy of `weights` in which the array `dense` replaces the weights of the pool's features."""
        new = dict(weights)
        for name, weight in zip(self.names, dense.tolist(), strict=True):
            if weight != 0 or name in new:
                new[name] = weight
        return new

    def scores(self, weights: Weights) -> npt.NDArray[np.float64]:
        """Return the score of every hypothesis."""
        with refused_overflow():
            return self.core.scores(self.dense(weights))

    def spread(self, values: npt.NDArray[np.float64]) -> float:
        """Return how much a value varies within a sentence: its standard deviation over the hypotheses, on average."""
        deviations = [np.std(values[b:e]) for b, e in pairwise(self.first.tolist()) if e - b > 1]
        return float(np.mean(deviations)) if deviations else 0.0

    def score(self, weights: Weights, chosen: npt.NDArray[np.bool_] | None = None) -> float:
        """Return the corpus score of the hypotheses that these weights rank first, over all or only some sentences."""
        mask = np.ones(self.sentences, dtype=np.bool_) if chosen is None else chosen
        with refused_overflow():
            return self.core.score(self.metric.core, self.dense(weights), np.ascontiguousarray(mask).view(np.uint8))

    def merged(self, kbest: KBest) -> Pool:
        """Return a pool that also has the new entries of `kbest`: new texts, and known ones with other features."""
        if len(kbest) != self.sentences:
            raise ValueError(f"a k-best list of {len(kbest)} sentences; there are references for {self.sentences}")
        batch = _Batch(kbest, self.names)
        keys = batch.keys()
        fresh = []
        seen = set(self._seen)
        for hypothesis, key in enumerate(keys):
            if key not in seen:
                seen.add(key)
                fresh.append(hypothesis)
        new = Pool(self.references)
        new.names = batch.names
        new._seen = frozenset(seen)
        texts = [batch.texts[hypothesis] for hypothesis in fresh]
        sentences = batch.sentences[fresh]
        statistics = self.references.statistics(texts, sentences)

        # Old and new side by side, ordered by sentence; within one, old ones first.
        owner = np.concatenate([np.repeat(np.arange(self.sentences), sizes_of(self.first)), sentences])
        order = np.argsort(owner, kind="stable")
        new.first = np.searchsorted(owner[order], np.arange(self.sentences + 1)).astype(np.uint32)
        new.statistics = np.concatenate([self.statistics, statistics])[order]
        rows = _Rows(self.first_feature, self.features, self.values).followed_by(batch.rows.chosen(fresh)).chosen(order)
        new.first_feature, new.features, new.values = rows.first, rows.features, rows.values
        return new


class _Rows:
    """Sparse vectors, stored one after the other."""

    def __init__(
        self, first: npt.NDArray[np.uint64], features: npt.NDArray[np.uint32], values: npt.NDArray[np.float32]
    ) -> None:
        self.first, self.features, self.values = first, features, values

    def followed_by(self, other: _Rows) -> _Rows:
        return _Rows(
            np.concatenate([self.first, other.first[1:] + self.first[-1]]),
            np.concatenate([self.features, other.features]),
            np.concatenate([self.values, other.values]),
        )

    def chosen(self, rows: npt.ArrayLike) -> _Rows:
        chosen = np.asarray(rows, dtype=np.int64)
        begin = self.first.astype(np.int64)
        sizes = sizes_of(self.first)[chosen]
        first = np.concatenate([[0], np.cumsum(sizes)])
        # Entry i of the result is that far from its row's begin, in the old arrays as in the new.
        places = np.repeat(begin[:-1][chosen] - first[:-1], sizes) + np.arange(first[-1])
        return _Rows(first.astype(np.uint64), self.features[places], self.values[places])


class _Batch:
    """The entries of a k-best list with the pool's feature numbers, sorted and without zeros."""

    def __init__(self, kbest: KBest, names: Sequence[str]) -> None:
        kbest.check()
        sizes = sizes_of(kbest.first_feature)
        kept = kbest.values != 0
        owner = np.repeat(np.arange(len(sizes)), sizes)[kept]
        known = {name: number for number, name in enumerate(names)}
        used = np.unique(kbest.features[kept])
        translate = np.zeros(len(kbest.names), dtype=np.uint32)
        for number in used.tolist():
            name = kbest.names[number]
            translate[number] = known.setdefault(name, len(known))
        self.names = list(known)
        features = translate[kbest.features[kept]]
        order = np.lexsort((features, owner))
        owner, features, values = owner[order], features[order], kbest.values[kept][order]
        twice = np.flatnonzero((np.diff(owner) == 0) & (np.diff(features.astype(np.int64)) == 0))
        if len(twice):
            sentence = int(kbest.sentences()[owner[twice[0]]])
            name = self.names[features[twice[0]]]
            raise ValueError(f"a hypothesis of sentence {sentence} has feature {name} twice")
        first = np.searchsorted(owner, np.arange(len(sizes) + 1)).astype(np.uint64)

        self.sentences = kbest.sentences()
        self.texts = list(kbest.texts)
        missing = np.flatnonzero(sizes_of(kbest.first) == 0)
        if len(missing):
            self.sentences = np.concatenate([self.sentences, missing.astype(np.uint32)])
            self.texts += [""] * len(missing)
            first = np.concatenate([first, np.repeat(first[-1:], len(missing))])
        self.rows = _Rows(first, features, values)

    def keys(self) -> list[bytes]:
        """Return what identifies each hypothesis: its sentence, translation and features."""
        keys = []
        begin = self.rows.first.tolist()
        sentences = self.sentences.tolist()
        for hypothesis, text in enumerate(self.texts):
            row = slice(begin[hypothesis], begin[hypothesis + 1])
            key = blake2b(f"{sentences[hypothesis]} {text}\n".encode(), digest_size=16)
            key.update(self.rows.features[row].tobytes())
            key.update(self.rows.values[row].tobytes())
            keys.append(key.digest())
        return keys
