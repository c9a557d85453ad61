"""MERT's line search against a scan of all breakpoints in exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from treeglot import _core
from treeglot.evaluate import Bleu, Chrf, Ter
from treeglot.tune.kbest import KBest
from treeglot.tune.pool import Pool

# Whole numbers: the slow twin computes with fractions, and ties, parallel and equal lines are frequent.
SMALL = st.integers(-4, 4)
METRICS = [Bleu(), Chrf(), Ter()]


def exact_envelope(lines: list[tuple[int, int]]) -> list[tuple[int, Fraction | None]]:
    """Which line is highest (of equal ones the first), from left to right, and from where on."""
    crossings = {Fraction(b - d, c - a) for (a, b), (c, d) in combinations(lines, 2) if a != c}
    best: list[tuple[int, Fraction | None]] = []
    for begin, inside in intervals(sorted(crossings)):
        highest = max(range(len(lines)), key=lambda i: (lines[i][0] * inside + lines[i][1], -i))
        if not best or best[-1][0] != highest:
            best.append((highest, begin))
    return best


def intervals(points: list[Fraction]) -> list[tuple[Fraction | None, Fraction]]:
    """Where each interval between neighbouring points begins, and a point inside it."""
    if not points:
        return [(None, Fraction(0))]
    inner = [(a, (a + b) / 2) for a, b in pairwise(points)]
    return [(None, points[0] - 1), *inner, (points[-1], points[-1] + 1)]


@given(st.lists(st.tuples(SMALL, SMALL), min_size=1, max_size=12))
def test_envelope_of_lines(lines: list[tuple[int, int]]) -> None:
    slopes, intercepts = (np.array(column, dtype=np.float64) for column in zip(*lines, strict=True))
    ids, begin = _core.upper_envelope(slopes, intercepts)
    expected = exact_envelope(lines)
    assert ids.tolist() == [line for line, _ in expected]
    assert begin[0] == -math.inf
    assert begin[1:] == pytest.approx([float(at) for _, at in expected[1:] if at is not None])


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.integers(-50, 50), st.integers(-500, 500)), min_size=30, max_size=60),
    st.floats(0.0, 20.0),
)
def test_envelope_of_many_lines(lines: list[tuple[int, int]], bend: float) -> None:
    """Beyond a few, lines are dropped before they are sorted. Bent downwards, more of them are highest somewhere."""
    bent = [(slope, intercept - round(bend * slope * slope / 50)) for slope, intercept in lines]
    slopes, intercepts = (np.array(column, dtype=np.float64) for column in zip(*bent, strict=True))
    ids, begin = _core.upper_envelope(slopes, intercepts)
    expected = rising(bent)
    assert ids.tolist() == [line for line, _ in expected]
    assert begin[1:] == pytest.approx([float(at) for _, at in expected[1:] if at is not None])


def in_doubles(envelope: list[tuple[int, Fraction | None]], shift: int) -> list[tuple[int, float]]:
    """An envelope whose places are multiplied by 2^shift. Lines that are the highest at no double are left out."""
    begins = [-math.inf if at is None else scaled(at, shift) for _, at in envelope]
    ends = [*begins[1:], math.inf]
    kept = zip([line for line, _ in envelope], begins, ends, strict=True)
    return [(line, begin) for line, begin, end in kept if begin < end]


def scaled(number: Fraction, shift: int) -> float:
    try:
        return float(number * Fraction(2) ** shift)
    except OverflowError:
        return math.copysign(math.inf, number)


EXPONENT = st.integers(-1014, 1014)


@settings(max_examples=300)
@given(
    st.lists(st.tuples(SMALL, SMALL), min_size=1, max_size=12)
    | st.lists(st.tuples(st.integers(-50, 50), st.integers(-500, 500)), min_size=9, max_size=40),
    EXPONENT,
    EXPONENT,
)
@example([(-1, 0), (0, 0), (1, 1)], 1014, -1014)
@example([(-500, 3), (500, -3), (499, -500)], 1014, 1014)
@example([(n - 20, -abs(n - 20)) for n in range(40)], 1014, 1014)
def test_envelope_of_huge_and_tiny_lines(lines: list[tuple[int, int]], steep: int, high: int) -> None:
    """Differences, crossings and heights may be larger than any double."""
    slopes = np.array([math.ldexp(slope, steep) for slope, _ in lines])
    intercepts = np.array([math.ldexp(intercept, high) for _, intercept in lines])
    ids, begin = _core.upper_envelope(slopes, intercepts)
    expected = in_doubles(rising(lines), high - steep)
    assert ids.tolist() == [line for line, _ in expected]
    assert begin.tolist() == pytest.approx([at for _, at in expected], rel=1e-9, abs=0.0)


def rising(lines: list[tuple[int, int]]) -> list[tuple[int, Fraction | None]]:
    """The envelope from left to right: from the highest of the flattest lines to the one that crosses it first."""
    at = min(range(len(lines)), key=lambda i: (lines[i][0], -lines[i][1], i))
    out: list[tuple[int, Fraction | None]] = [(at, None)]
    while steeper := [i for i, line in enumerate(lines) if line[0] > lines[at][0]]:
        crossings = {i: Fraction(lines[at][1] - lines[i][1], lines[i][0] - lines[at][0]) for i in steeper}
        at = min(steeper, key=lambda i: (crossings[i], -lines[i][0], i))
        out.append((at, crossings[at]))
    return out


@st.composite
def pools(draw: st.DrawFn) -> tuple[Pool, list[list[tuple[str, list[int]]]], int]:
    """A pool with whole-numbered features; the same as lists; the number of features."""
    metric = draw(st.sampled_from(METRICS))
    features = draw(st.integers(1, 3))
    texts = st.lists(st.sampled_from("abc"), max_size=6).map(" ".join)
    hypothesis = st.tuples(texts, st.lists(SMALL, min_size=features, max_size=features))
    sentences = draw(st.lists(st.lists(hypothesis, min_size=1, max_size=5), min_size=1, max_size=4))
    references = [draw(st.lists(texts, min_size=len(sentences), max_size=len(sentences)))]
    named = [[(text, {f"f{i}": v for i, v in enumerate(vector)}) for text, vector in one] for one in sentences]
    pool = Pool(metric.prepare(references)).merged(
        KBest.of([[("", dict.fromkeys(named[0][0][1], 0)), *one] for one in named])
    )
    # The first hypothesis of every sentence makes the feature numbers known whatever values are 0.
    return pool, [[("", [0] * features), *one] for one in sentences], features


def vectors(size: int) -> st.SearchStrategy[list[int]]:
    return st.lists(SMALL, min_size=size, max_size=size)


def scan(pool: Pool, sentences, weights: list[int], direction: list[int]) -> tuple[float, float]:
    """The best score that any step along the direction reaches, and the score just right of where it begins."""
    lines = [[(dot(direction, vector), dot(weights, vector)) for _, vector in hypotheses] for hypotheses in sentences]
    points = {Fraction(b - d, c - a) for one in lines for (a, b), (c, d) in combinations(one, 2) if a != c}
    scores = []
    here = math.nan
    ordered = sorted(points)
    for (begin, inside), end in zip(intervals(ordered), [*ordered, None], strict=True):
        chosen = []
        for one, hypotheses in zip(lines, sentences, strict=True):
            best = max(range(len(one)), key=lambda i: (one[i][0] * inside + one[i][1], -i))
            chosen.append(hypotheses[best][0])
        scores.append(pool.metric.score(pool.references.statistics(chosen)))
        if (begin is None or begin <= 0) and (end is None or end > 0):
            here = scores[-1]
    return (max if pool.metric.higher_is_better else min)(scores), here


def dot(a: list[int], b: list[int]) -> int:
    return sum(x * y for x, y in zip(a, b, strict=True))


def by_name(pool: Pool, values: list[float]) -> npt.NDArray[np.float64]:
    return pool.dense({f"f{i}": float(v) for i, v in enumerate(values)})


@settings(max_examples=150)
@given(st.data())
def test_line_search_is_a_scan_of_all_intervals(data: st.DataObject) -> None:
    pool, sentences, features = data.draw(pools())
    weights, direction = data.draw(vectors(features)), data.draw(vectors(features))
    best, here = scan(pool, sentences, weights, direction)
    start, along = by_name(pool, weights), by_name(pool, direction)
    step = _core.line_search(pool.core, pool.metric.core, start, along)
    assert step.score == pytest.approx(best, abs=1e-9)
    assert step.here == pytest.approx(here, abs=1e-9)
    # Standing there gives what was promised, unless two hypotheses are equal along the whole line.
    if step.length != 0:
        reached = start + step.length * along
        scored = pool.core.score(pool.metric.core, reached, np.ones(pool.sentences, dtype=np.uint8))
        if not any(parallel_ties(one, weights, direction) for one in sentences):
            assert scored == pytest.approx(best, abs=1e-9)


@settings(max_examples=100)
@given(st.data(), st.just(0) | st.integers(0, 2000), EXPONENT)
def test_line_search_with_huge_numbers(data: st.DataObject, below: int, way: int) -> None:
    """Weights and directions may be so large that differences of scores overflow, or steps."""
    pool, sentences, features = data.draw(pools())
    weights, direction = data.draw(vectors(features)), data.draw(vectors(features))
    best, here = scan(pool, sentences, weights, direction)
    sums = [dot(list(map(abs, weights)), list(map(abs, vector))) for one in sentences for _, vector in one]
    largest = max(1, *sums, *map(abs, weights), *map(abs, direction))
    up = max(-1000, 1024 - largest.bit_length() - below)  # the largest exponent that leaves scores and weights finite
    along = min(way, up)  # otherwise, all is in narrow intervals
    start = by_name(pool, [math.ldexp(weight, up) for weight in weights])
    step = _core.line_search(
        pool.core, pool.metric.core, start, by_name(pool, [math.ldexp(d, along) for d in direction])
    )
    assert math.isfinite(step.length)
    assert step.here == pytest.approx(here, abs=1e-9)
    if up - along < 1000:  # otherwise, some crossings are larger than any double
        assert step.score == pytest.approx(best, abs=1e-9)


def parallel_ties(hypotheses, weights: list[int], direction: list[int]) -> bool:
    lines = [(dot(direction, vector), dot(weights, vector)) for _, vector in hypotheses]
    return len(set(lines)) < len(lines)


@settings(max_examples=100)
@given(st.data(), st.integers(0, 3), st.integers(0, 99))
def test_no_feature_is_left_to_gain_at_the_end_of_a_climb(data: st.DataObject, directions: int, seed: int) -> None:
    pool, _, features = data.draw(pools())
    start, spreads = by_name(pool, data.draw(vectors(features))), pool.core.spreads()
    options = {"directions": directions, "least_gain": 1e-6, "rounds": 1000}
    weights, score, before, rounds = _core.ascend(pool.core, pool.metric.core, start, spreads, options, seed)
    sign = 1 if pool.metric.higher_is_better else -1
    assert sign * (score - before) >= 0
    assert pool.core.score(pool.metric.core, weights, np.ones(pool.sentences, dtype=np.uint8)) == pytest.approx(score)
    assert rounds < 1000
    for feature in np.flatnonzero(spreads):
        axis = np.zeros(len(start))
        axis[feature] = 1 / spreads[feature]
        step = _core.line_search(pool.core, pool.metric.core, weights, axis)
        assert sign * (step.score - score) < 1e-6
