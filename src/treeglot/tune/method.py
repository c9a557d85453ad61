"""Defines the interface of tuning methods. They are pure functions from a pool, weights and a seed to new weights."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from treeglot.base.registry import Registry
from treeglot.decode.weights import Weights
from treeglot.evaluate import Bleu
from treeglot.evaluate.metrics import Metric, Smooth
from treeglot.tune.pool import Pool


@dataclass(frozen=True)
class Update:
    """New weights, and how well they score on the pool."""

    weights: dict[str, float]
    before: float  # the pool's corpus score with the weights as they were
    after: float
    converged: bool = False  # the method says that more of the same pool gains nothing
    notes: Mapping[str, Any] = field(default_factory=dict)  # for the log


class Method(Protocol):
    """A tuning method and its options.

    The same pool, weights and seed give the same update, with any number of threads.
    """

    @property
    def mean(self) -> bool:
        """Whether the result of a run is the mean of all updates, instead of the iteration that scored best."""
        ...

    def update(self, pool: Pool, weights: Weights, *, seed: int, threads: int = 1) -> Update:
        """Find weights that are better for the hypotheses in the pool."""
        ...

    def held_out(self, sentences: int) -> npt.NDArray[np.bool_]:
        """Return the sentences that the method does not learn from. Their score decides when to stop."""
        ...


METHODS: Registry[Method] = Registry("tuning method")
"""The methods by name."""


def derived_seed(*parts: int) -> int:
    """Derive a seed for a part of the work. The seed does not depend on how the work is distributed.

    >>> derived_seed(1, 0) == derived_seed(1, 0) != derived_seed(1, 1)
    True
    """
    return int.from_bytes(blake2b(" ".join(map(str, parts)).encode(), digest_size=8).digest(), "little")


def sentence_metric(metric: Metric, smooth: Smooth) -> Metric:
    """Adapt `metric` to single sentences: BLEU is smoothed, and other metrics stay unchanged."""
    return dataclasses.replace(metric, smooth=smooth) if isinstance(metric, Bleu) else metric


def none_held_out(sentences: int) -> npt.NDArray[np.bool_]:
    """Hold out no sentences, so that a method learns from all of them."""
    return np.zeros(sentences, dtype=np.bool_)


def fitting_scale(pool: Pool, metric: Metric, weights: Weights) -> float:
    """Return a factor for weights, by which scores vary no more than gains.

    The scale of weights does not affect a search, but MIRA compares margins with gains. If weights were too large,
    learning would need many small steps. At the end, the scale is undone, because weights outside the pool keep theirs.
    """
    spread = pool.spread(pool.scores(weights))
    gains = metric.scores(pool.statistics) / 100 * pool.statistics[:, 1]
    return min(1.0, pool.spread(gains) / spread or 1.0) if spread else 1.0
