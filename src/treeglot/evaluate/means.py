"""Computes means over several tunings, and tests their differences.

A tuner draws random numbers, so a single tuning is not conclusive (Clark et al. 2011). The tests in this module
resample both the sentences and the tunings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treeglot.base.errors import UsageError
from treeglot.evaluate.metrics import Metric, Statistics
from treeglot.evaluate.report import Judge, MetricName, ReportOptions, judge_of
from treeglot.evaluate.significance import SAMPLES, SEED, Interval, interval_of, sign_test, two_sided

BLOCK = 256  # samples that are drawn together
TIE = 1e-9  # scores that differ by no more are the same


@dataclass(frozen=True)
class MeanDifference:
    """The difference between the mean scores of a system and the baseline."""

    difference: float
    interval: Interval  # two-sided
    p: float  # two-sided


@dataclass(frozen=True)
class TuningScores:
    """The scores of one system's tunings in one metric."""

    name: str
    scores: tuple[float, ...]  # one for each tuning
    against: MeanDifference | None
    adjusted_p: float | None  # by Holm's method, over all systems that are compared
    sign_tests: tuple[float, ...]  # p of each tuning against the baseline's tuning at the same place

    @property
    def mean(self) -> float:
        """The mean score over all tunings."""
        return float(np.mean(self.scores))

    @property
    def deviation(self) -> float:
        """The standard deviation of the scores, or 0 for a single score."""
        return float(np.std(self.scores, ddof=1)) if len(self.scores) > 1 else 0.0

    def as_object(self) -> dict[str, Any]:
        """Return the scores as JSON values."""
        found: dict[str, Any] = {"scores": list(self.scores), "mean": self.mean, "deviation": self.deviation}
        if self.against is not None:
            found["against"] = {
                "difference": self.against.difference,
                "interval": [self.against.interval.low, self.against.interval.high],
                "p": self.against.p,
                "adjusted_p": self.adjusted_p,
                "sign_tests": list(self.sign_tests),
            }
        return found


def compare_means(
    metric: Metric,
    baseline: Sequence[Statistics],
    system: Sequence[Statistics],
    *,
    samples: int = SAMPLES,
    seed: int = SEED,
    level: float = 0.95,
) -> MeanDifference:
    """Test the difference of two mean scores. Each system has the statistics of its tunings.

    Each sample draws sentences, the same for both systems, and tunings, separately for each system. With few tunings,
    the interval is too narrow. The mean of n draws from n tunings has (n - 1) / n of the variance of the mean of n new
    tunings.

    >>> from treeglot.evaluate import Bleu
    >>> bleu = Bleu()
    >>> references = bleu.prepare([["a b c d e", "f g h i j", "k l m n o"]])
    >>> old = [references.statistics(["a b c d x", "f g h i x", "k l m n o"])] * 2
    >>> new = [references.statistics(["a b c d e", "f g h i j", "k l m n o"])] * 2
    >>> test = compare_means(bleu, old, new)
    >>> round(test.difference, 2), test.p < 0.1
    (21.77, True)
    """
    if not baseline or not system:
        raise UsageError("there are no tunings to compare; expected at least one of each system")
    generator = np.random.default_rng(seed)
    sentences = len(baseline[0])
    gains = np.empty(samples)
    for begin in range(0, samples, BLOCK):
        size = min(BLOCK, samples - begin)
        drawn = generator.integers(sentences, size=(size, sentences))
        counts = np.stack([np.bincount(row, minlength=sentences) for row in drawn]).astype(np.float64)
        old, new = (_drawn_means(metric, counts, rows, generator) for rows in (baseline, system))
        gains[begin : begin + size] = new - old
    difference = _mean(metric, system) - _mean(metric, baseline)
    # The share of samples on which the sign is that of the difference; sums in another order differ by rounding.
    kept = int(np.sum(gains * np.sign(difference) > TIE)) if abs(difference) > TIE else 0
    return MeanDifference(difference, interval_of(gains, level), two_sided(samples - kept, samples))


def _drawn_means(
    metric: Metric, counts: npt.NDArray[np.float64], rows: Sequence[Statistics], generator: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Return the mean score of each resample. A row of `counts` tells how often each sentence was drawn."""
    scores = np.stack([metric.scores(counts @ np.asarray(one, dtype=np.float64)) for one in rows], axis=1)
    which = generator.integers(len(rows), size=scores.shape)
    means: npt.NDArray[np.float64] = np.take_along_axis(scores, which, axis=1).mean(axis=1)
    return means


def _mean(metric: Metric, rows: Sequence[Statistics]) -> float:
    return float(np.mean([metric.score(one) for one in rows]))


def holm(values: Mapping[str, float]) -> dict[str, float]:
    """Adjust p-values of several comparisons by Holm's method.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'b': 0.06, 'c': 0.06}
    """
    adjusted: dict[str, float] = {}
    largest = 0.0
    for place, name in enumerate(sorted(values, key=lambda name: values[name])):
        largest = max(largest, min(1.0, (len(values) - place) * values[name]))
        adjusted[name] = largest
    return {name: adjusted[name] for name in values}


def score_tunings(
    systems: Mapping[str, Sequence[Sequence[str]]],
    references: Sequence[Sequence[str]],
    *,
    baseline: str | None = None,
    metrics: Sequence[MetricName] = ("bleu", "chrf", "ter"),
    options: ReportOptions | None = None,
) -> dict[str, list[TuningScores]]:
    """Return the scores of systems that were tuned several times.

    Each system has one list of output lines per tuning.

    >>> systems = {"old": [["a b c d x"], ["a b c x e"]], "new": [["a b c d e"], ["a b c d e"]]}
    >>> found = score_tunings(systems, [["a b c d e"]], baseline="old", metrics=["bleu"])
    >>> found["new"][0].mean > found["old"][0].mean, found["new"][0].sign_tests
    (True, (1.0, 1.0))
    """
    chosen = (options or ReportOptions()).suited(references)
    out: dict[str, list[TuningScores]] = {name: [] for name in systems}
    for metric in metrics:
        judge = judge_of(metric, chosen, references)
        rows = {name: [judge.statistics(lines) for lines in outputs] for name, outputs in systems.items()}
        others = [name for name in systems if baseline is not None and name != baseline]
        drawn = {"samples": chosen.samples, "seed": chosen.seed}
        tests = {name: compare_means(judge.core, rows[baseline or ""], rows[name], **drawn) for name in others}
        adjusted = holm({name: test.p for name, test in tests.items()})
        for name, one in rows.items():
            signs = _sign_tests(judge, rows[baseline], one) if name in tests and baseline is not None else ()
            scores = tuple(judge.core.score(row) for row in one)
            out[name].append(TuningScores(judge.core.name, scores, tests.get(name), adjusted.get(name), signs))
    return out


def _sign_tests(judge: Judge, baseline: Sequence[Statistics], system: Sequence[Statistics]) -> tuple[float, ...]:
    """Return one sign test for each tuning. A system without tuning has the same output in all of them."""
    number = max(len(baseline), len(system))
    pairs = ((baseline[i % len(baseline)], system[i % len(system)]) for i in range(number))
    return tuple(sign_test(judge.core, old, new).p for old, new in pairs)
