"""MIRA (Chiang 2009; Cherry and Foster 2012): learns many weights, sentence by sentence, from a hope and a fear."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from treeglot import _core
from treeglot.base.options import Options, option
from treeglot.decode.weights import Weights
from treeglot.evaluate.metrics import Smooth
from treeglot.tune.method import METHODS, Update, derived_seed, fitting_scale, sentence_metric
from treeglot.tune.pool import Pool


@METHODS("mira")
@dataclass(frozen=True)
class Mira(Options):
    """Options of batch MIRA, which learns from the hypotheses of a pool."""

    # On pools of Hiero and of 79,165 syntax features, learnt from four fifths and judged on one, it is the best or
    # nearly (bench/RESULTS.md). The paper's 0.01 is for features in units of their own.
    c: float = option(0.003, "the largest step, in features' units of spread", above=0)
    decay: float = option(
        0.999, "factor for the background after every sentence", above=0, most=1, paper="Cherry and Foster 2012"
    )
    background: Literal["hope", "model"] = option(
        "hope", "which counts it sums: those of hopes, or of the model's choices (longer output)"
    )
    epochs: int = option(60, "passes over the pool, at most", least=1, paper="Cherry and Foster 2012")
    patience: int = option(10, "passes without a better held-out score before learning ends", least=1)
    held_out_share: float = option(
        0.1, "share of the sentences that are held out to decide when to stop", least=0, below=1
    )
    smooth: Smooth = option("add-one", "how a sentence's BLEU is smoothed, on top of the background")
    least_spread: float = option(0.0, "smallest spread of a feature: those with a smaller one move less", least=0)
    runs: int = option(1, "runs over the pool in different orders; the result is their mean", least=1)
    mean: bool = option(True, "a run gives the mean of all updates; else the weights of the iteration that scored best")

    def update(self, pool: Pool, weights: Weights, *, seed: int, threads: int = 1) -> Update:
        """Return the mean weights after the epoch that scored best on the held-out sentences.

        The hope of a sentence is the hypothesis with the highest model score plus gain. Its fear is the one with the
        highest score minus gain. The gain is the BLEU of the sentence together with the decayed counts of the last
        sentences. Features that are equal for all hypotheses keep their weights, and the other weights keep their
        scale. If there are several runs, the result is the mean of their weights.
        """
        held_out = self.held_out(pool.sentences)
        before = pool.score(weights)
        single = sentence_metric(pool.metric, self.smooth)
        old, spreads, scale = pool.dense(weights), pool.core.spreads(), fitting_scale(pool, single, weights)
        units = np.where(spreads > 0, np.maximum(spreads, self.least_spread), 0.0)
        seeds = [seed, *(derived_seed(seed, run) for run in range(1, self.runs))]
        given = (pool.core, single.core, pool.metric.core, old * scale, units, held_out.view(np.uint8), self)
        found = [_core.mira(*given, one) for one in seeds]
        learnt = [run for run in found if run.best_epoch]  # others found nothing better than the old weights
        notes: dict[str, float] = {
            "epochs": float(np.mean([len(run.train) for run in found])),
            "best_epoch": float(np.mean([run.best_epoch for run in found])),
        }
        if not learnt:
            return Update(dict(weights), before, before, True, notes)
        mean = np.mean([run.weights for run in learnt], axis=0)
        new = pool.sparse(np.where(spreads > 0, mean / scale, old), weights)
        if held_out.any():
            notes["pool_held_out"] = float(np.mean([run.held_out[run.best_epoch - 1] for run in learnt]))
        return Update(new, before, pool.score(new), False, notes)

    def held_out(self, sentences: int) -> npt.NDArray[np.bool_]:
        """Choose held-out sentences that are spread evenly over the text.

        If there are too few sentences, hold out none.

        >>> Mira(held_out_share=0.25).held_out(8).nonzero()[0]
        array([3, 7])
        """
        number = int(sentences * self.held_out_share)
        mask = np.zeros(sentences, dtype=np.bool_)
        if number:
            mask[np.arange(1, number + 1) * sentences // number - 1] = True
        return mask
