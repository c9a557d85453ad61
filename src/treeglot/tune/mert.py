"""MERT (Och 2003): optimises the corpus score by exact line searches, from many starting points."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from treeglot import _core
from treeglot.base.errors import UsageError
from treeglot.base.options import Options, option
from treeglot.decode.weights import Weights, rescaled
from treeglot.tune.method import METHODS, Update, derived_seed, none_held_out
from treeglot.tune.pool import Pool, refused_overflow

MOST_FEATURES = 1000  # MERT is for a few dozen


@METHODS("mert")
@dataclass(frozen=True)
class Mert(Options):
    """Options of minimum error rate training."""

    restarts: int = option(20, "random starts, beside the weights as they are", least=0)
    directions: int = option(10, "random directions in every round, beside one for each feature", least=0)
    least_gain: float = option(0.01, "a round or an iteration that gains less is the last", least=0)
    rounds: int = option(20, "rounds from one start, at most", least=1)

    def update(self, pool: Pool, weights: Weights, *, seed: int, threads: int = 1) -> Update:
        """Climb from the given weights and from random ones, and return the best result. Ties go to the first.

        Features that are equal for all hypotheses keep their weights. The absolute values of the others keep their sum.
        """
        if len(pool.names) > MOST_FEATURES:
            raise UsageError(f"MERT takes at most {MOST_FEATURES} features, the pool has {len(pool.names)}")
        with refused_overflow():
            found = _climb(pool, pool.dense(weights), self, seed, threads)
        learnt = {name for name, spread in zip(pool.names, pool.core.spreads(), strict=True) if spread}
        new = rescaled(pool.sparse(found.weights, weights), weights, learnt)
        gain = abs(found.score - found.before)
        return Update(new, found.before, found.score, gain < self.least_gain, {"start": found.start})

    mean: ClassVar[bool] = False
    held_out = staticmethod(none_held_out)


@dataclass(frozen=True)
class Climb:
    """The best point that a climb found, and its score."""

    weights: npt.NDArray[np.float64]
    score: float
    before: float  # of the weights as they were
    start: int  # which climb it was: 0 from the weights as they were, others from random ones


def _climb(pool: Pool, weights: npt.NDArray[np.float64], options: Mert, seed: int, threads: int) -> Climb:
    """Climb from the given weights and from random ones, and return the best climb."""
    spreads = pool.core.spreads()
    seeds = (derived_seed(seed, i) for i in range(1, options.restarts + 1))
    starts = [weights, *(random_start(spreads, weights, one) for one in seeds)]

    def ascend(number: int) -> tuple[npt.NDArray[np.float64], float, float, int]:
        one = derived_seed(seed, number, 0)
        return _core.ascend(pool.core, pool.metric.core, starts[number], spreads, options, one)

    with ThreadPoolExecutor(max_workers=max(threads, 1)) as workers:
        ascents = list(workers.map(ascend, range(len(starts))))
    sign = 1 if pool.metric.higher_is_better else -1
    best = max(range(len(ascents)), key=lambda i: (sign * ascents[i][1], -i))
    return Climb(ascents[best][0], ascents[best][1], ascents[0][2], best)


def random_start(
    spreads: npt.NDArray[np.float64], weights: npt.NDArray[np.float64], seed: int
) -> npt.NDArray[np.float64]:
    """Draw random weights, divided by how much each feature varies. Features that never vary keep their `weights`.

    >>> random_start(np.array([1.0, 0.0, 100.0]), np.array([0.5, 0.5, 0.5]), seed=1).round(4)
    array([-0.7313,  0.5   ,  0.0069])
    """
    draw = random.Random(seed).random  # the same on every machine and for every version of Python
    pairs = zip(spreads.tolist(), weights.tolist(), strict=True)
    return np.array([(2 * draw() - 1) / spread if spread else weight for spread, weight in pairs])
