"""Tests whether one system is better than another, or was only lucky. They use statistics of a metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from treeglot import _core
from treeglot._core import SignTest
from treeglot.base.later import Later
from treeglot.evaluate.metrics import Metric, Statistics

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = Later("numpy")

SAMPLES = 1000
SEED = 1


class Interval(NamedTuple):
    """An interval that contains a share `level` of all samples."""

    low: float
    high: float
    level: float


@dataclass(frozen=True)
class Bootstrap:
    """The result of a paired bootstrap test (Koehn 2004)."""

    wins: int  # samples on which the system is better than the baseline
    losses: int
    ties: int
    p: float  # two-sided; see `two_sided`
    baseline: Interval
    system: Interval
    difference: Interval

    @property
    def samples(self) -> int:
        """The number of resampled test sets."""
        return self.wins + self.losses + self.ties

    def _repr_html_(self) -> str:
        from treeglot.syntax.draw.bars import html_table

        intervals = {"baseline": self.baseline, "system": self.system, "difference": self.difference}
        rows = [["", f"{100 * self.system.level:.0f} % interval"]]
        rows += [[name, f"{found.low:.2f} to {found.high:.2f}"] for name, found in intervals.items()]
        return html_table(rows) + f"<small>p {self.p:.3f}, {self.samples:,} samples</small>"


def sign_test(metric: Metric, baseline: Statistics, system: Statistics) -> SignTest:
    """Return the result of the two-sided sign test of Collins et al. (2005).

    For each sentence, the test puts the system's translation into the baseline's output. The sentence counts as better
    (worse) if the corpus score rises (falls).

    >>> from treeglot.evaluate import Bleu
    >>> bleu = Bleu()
    >>> references = bleu.prepare([["a b c d e", "f g h i j", "k l m n o"]])
    >>> baseline = references.statistics(["a b c d x", "f g h i x", "k l m n o"])
    >>> system = references.statistics(["a b c d e", "f g h i j", "k l m n o"])
    >>> test = sign_test(bleu, baseline, system)
    >>> test.better, test.worse, test.equal, test.p
    (2, 0, 1, 0.5)
    """
    return _core.sign_test(metric.core, _rows(baseline), _rows(system))


def paired_bootstrap(
    metric: Metric,
    baseline: Statistics,
    system: Statistics,
    *,
    samples: int = SAMPLES,
    seed: int = SEED,
    level: float = 0.95,
) -> Bootstrap:
    """Test two systems by paired bootstrap resampling (Koehn 2004): score both on resampled test sets.

    The same seed gives the same samples on every machine. Intervals are percentiles.

    >>> from treeglot.evaluate import Bleu
    >>> bleu = Bleu()
    >>> references = bleu.prepare([["a b c d e", "f g h i j", "k l m n o"]])
    >>> baseline = references.statistics(["a b c d x", "f g h i x", "k l m n o"])
    >>> system = references.statistics(["a b c d e", "f g h i j", "k l m n o"])
    >>> test = paired_bootstrap(bleu, baseline, system)
    >>> test.wins, test.losses, test.ties, round(test.p, 3)
    (970, 0, 30, 0.062)
    """
    if samples < 1:
        raise ValueError(f"samples is {samples}; expected at least 1")
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; expected a number between 0 and 1")
    old, new = _core.paired_bootstrap(metric.core, _rows(baseline), _rows(system), samples, seed)
    sign = 1 if metric.higher_is_better else -1
    gains = sign * (new - old)
    wins, losses = int(np.sum(gains > 0)), int(np.sum(gains < 0))
    ahead = sign * (metric.score(system) - metric.score(baseline)) >= 0
    return Bootstrap(
        wins=wins,
        losses=losses,
        ties=samples - wins - losses,
        p=two_sided(samples - (wins if ahead else losses), samples),
        baseline=interval_of(old, level),
        system=interval_of(new, level),
        difference=interval_of(new - old, level),
    )


def two_sided(misses: int, samples: int) -> float:
    """Return the two-sided p-value. `misses` is the number of samples on which the better system was not better.

    It is never 0, because samples are finite.

    >>> two_sided(0, 1999), two_sided(1000, 1000)
    (0.001, 1.0)
    """
    return min(1.0, 2 * (misses + 1) / (samples + 1))


def interval_of(scores: npt.NDArray[np.float64], level: float) -> Interval:
    """Return the percentiles that enclose a share `level` of the scores."""
    outside = (1 - level) / 2
    low, high = np.quantile(scores, [outside, 1 - outside])
    return Interval(float(low), float(high), level)


def _rows(statistics: Statistics) -> npt.NDArray[np.float64]:
    return np.ascontiguousarray(statistics, dtype=np.float64).ravel()
