"""PRO (Hopkins and May 2011): learns weights with a classifier that separates better from worse hypotheses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from treeglot import _core
from treeglot.base.options import Options, option
from treeglot.decode.weights import Weights, rescaled
from treeglot.evaluate.metrics import Smooth
from treeglot.tune.method import METHODS, Update, none_held_out, sentence_metric
from treeglot.tune.pool import Pool


@METHODS("pro")
@dataclass(frozen=True)
class Pro(Options):
    """Options of PRO, which is pairwise ranking optimisation."""

    samples: int = option(5000, "pairs drawn from every sentence's hypotheses", least=1, paper="Hopkins and May 2011")
    kept: int = option(50, "pairs kept of them, those that differ most", least=1, paper="Hopkins and May 2011")
    least: float = option(
        5.0, "pairs whose BLEU differs by fewer points are not kept", least=0, paper="Hopkins and May 2011"
    )
    prior: float = option(1.0, "precision of the Gaussian prior on weights", above=0, paper="MegaM's default")
    share: float = option(1.0, "share of the new weights in the result; the rest are the old ones", above=0, most=1)
    smooth: Smooth = option("add-one-length", "how a sentence's BLEU is smoothed", paper="Nakov et al. 2012")

    def update(self, pool: Pool, weights: Weights, *, seed: int, threads: int = 1) -> Update:
        """Fit a logistic regression to pairs of hypotheses. If no pair differs on a feature, its weight stays.

        The absolute values of the other weights keep their sum.
        """
        before = pool.score(weights)
        single = sentence_metric(pool.metric, self.smooth)
        scores = single.scores(pool.statistics) if pool.hypotheses else np.zeros(0)
        if not single.higher_is_better:
            scores = -scores
        first, features, values = _core.sample_pairs(pool.core, scores, self, seed)
        pairs = len(first) - 1
        if not len(features):
            return Update(dict(weights), before, before, True, {"pairs": pairs})
        active, columns = np.unique(features, return_inverse=True)
        found, rounds = regress(first, columns, values, len(active), self.prior)
        dense = pool.dense(weights)
        dense[active] = found
        new = rescaled(pool.sparse(dense, weights), weights, {pool.names[f] for f in active})
        if self.share < 1:
            names = {*new, *weights}
            mixed = {n: self.share * new.get(n, 0.0) + (1 - self.share) * weights.get(n, 0.0) for n in sorted(names)}
            new = {n: weight if new.get(n) != weights.get(n) else new[n] for n, weight in mixed.items()}
        return Update(new, before, pool.score(new), False, {"pairs": pairs, "rounds": rounds})

    mean: ClassVar[bool] = False
    held_out = staticmethod(none_held_out)


def regress(
    first: npt.NDArray[np.uint64],
    columns: npt.NDArray[np.intp],
    values: npt.NDArray[np.float64],
    features: int,
    prior: float,
) -> tuple[npt.NDArray[np.float64], int]:
    """Minimise Σ log(1 + e^(−w·x)) + prior/2 · |w|² over the rows x, and return w and the rounds of L-BFGS.

    >>> first, columns = np.array([0, 1, 2], dtype=np.uint64), np.array([0, 0])
    >>> regress(first, columns, np.array([2.0, 2.0]), features=1, prior=1.0)[0].round(3)
    array([0.741])
    """
    from scipy.optimize import minimize
    from scipy.sparse import csr_array
    from threadpoolctl import threadpool_limits

    matrix = csr_array((values, columns, first.astype(np.int64)), shape=(len(first) - 1, features))
    transposed = matrix.T.tocsr()

    def loss(w: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        margins = matrix @ w
        wrong = np.exp(-np.logaddexp(0, margins))  # 1 / (1 + e^margin)
        value = np.logaddexp(0, -margins).sum() + 0.5 * prior * (w @ w)
        return float(value), prior * w - transposed @ wrong

    # One thread: sums come out the same on any number of processors, and many tiny products need no company.
    with threadpool_limits(limits=1, user_api="blas"):
        found = minimize(loss, np.zeros(features), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return np.asarray(found.x, dtype=np.float64), int(found.nit)
