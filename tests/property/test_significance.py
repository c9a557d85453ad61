"""The tests of significance against slow twins that work on the texts."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_random import SlowRandom

from treeglot.evaluate import Bleu, Chrf, Ter, paired_bootstrap, sign_test

METRICS = [Bleu(), Bleu(length="shortest", smooth="none"), Chrf(), Ter()]
LINES = st.lists(st.sampled_from("abcd"), max_size=8).map(" ".join)


@st.composite
def comparisons(draw: st.DrawFn) -> tuple[list[str], list[str], list[list[str]]]:
    sentences = draw(st.integers(1, 7))
    texts = st.lists(LINES, min_size=sentences, max_size=sentences)
    return draw(texts), draw(texts), draw(st.lists(texts, min_size=1, max_size=3))


@given(comparisons(), st.sampled_from(METRICS))
def test_sign_test_is_that_of_whole_corpora(comparison, metric) -> None:
    baseline, system, references = comparison
    score = metric.score(metric.statistics(baseline, references))
    better = worse = 0
    for number, line in enumerate(system):
        swapped = [*baseline[:number], line, *baseline[number + 1 :]]
        gain = metric.score(metric.statistics(swapped, references)) - score
        if not metric.higher_is_better:
            gain = -gain
        # A sum in another order may differ in the last bit, where lengths are fractions.
        better += gain > 1e-9
        worse += gain < -1e-9
    found = sign_test(metric, metric.statistics(baseline, references), metric.statistics(system, references))
    assert (found.better, found.worse, found.equal) == (better, worse, len(system) - better - worse)
    assert found.p == pytest.approx(float(two_sided(better, worse)), rel=1e-9)


def two_sided(better: int, worse: int) -> Fraction:
    n = better + worse
    return min(Fraction(1), 2 * sum(Fraction(comb(n, k), 2**n) for k in range(min(better, worse) + 1)))


@given(st.integers(0, 3000), st.integers(0, 3000))
@settings(max_examples=30)
def test_probabilities_of_the_sign_test(better: int, worse: int) -> None:
    edits = np.repeat([0.0, 2.0], [better, worse])  # of one word each; the baseline has one edit
    system = np.stack([np.append(edits, 1.0), np.ones(len(edits) + 1)], axis=1)
    found = sign_test(Ter(), np.ones_like(system), system)
    assert (found.better, found.worse, found.equal) == (better, worse, 1)
    assert found.p == pytest.approx(float(two_sided(better, worse)), rel=1e-8, abs=1e-300)


@given(comparisons(), st.sampled_from(METRICS), st.integers(0, 2**64 - 1))
@settings(max_examples=40)
def test_bootstrap_is_that_of_whole_corpora(comparison, metric, seed: int) -> None:
    baseline, system, references = comparison
    samples = 20
    random = SlowRandom(seed)
    wins = losses = 0
    scores = []
    for _ in range(samples):
        drawn = [random.below(len(baseline)) for _ in baseline]
        corpus = [[lines[i] for i in drawn] for lines in references]
        old, new = (metric.score(metric.statistics([lines[i] for i in drawn], corpus)) for lines in (baseline, system))
        scores.append(new)
        gain = new - old if metric.higher_is_better else old - new
        wins += gain > 0
        losses += gain < 0
    rows = metric.statistics(baseline, references), metric.statistics(system, references)
    found = paired_bootstrap(metric, *rows, samples=samples, seed=seed, level=0.9)
    assert (found.wins, found.losses, found.ties) == (wins, losses, samples - wins - losses)
    ahead = metric.score(rows[1]) - metric.score(rows[0])
    ahead = ahead if metric.higher_is_better else -ahead
    assert found.p == pytest.approx(min(1, 2 * (samples - (wins if ahead >= 0 else losses) + 1) / (samples + 1)))
    inside = sum(found.system.low <= score <= found.system.high for score in scores)
    assert inside >= 0.9 * samples - 1
    assert min(scores) <= found.system.low <= found.system.high <= max(scores)


@given(comparisons(), st.sampled_from(METRICS))
@settings(max_examples=30)
def test_a_system_is_not_better_than_itself(comparison, metric) -> None:
    baseline, _, references = comparison
    rows = metric.statistics(baseline, references)
    assert sign_test(metric, rows, rows).p == 1.0
    found = paired_bootstrap(metric, rows, rows, samples=50)
    assert (found.wins, found.losses, found.p) == (0, 0, 1.0)
    assert found.difference.low == found.difference.high == 0.0
