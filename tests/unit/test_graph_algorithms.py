"""Refusals, edges of the number line, and depth; what the algorithms compute is tested against their slow twins."""

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from graph_pieces import KBestDerivations, Yields, assemble, derivation_score, derivation_yield

from treeglot import graph as tg
from treeglot.graph import Hypergraph

INF = float("inf")
NAN = float("nan")


def twice() -> Hypergraph:
    """A leaf with two edges, and a goal with one edge that has the leaf twice."""
    return Hypergraph.from_arrays([0, 2, 3], [0, 0, 0, 2], [0, 0], 1)


def nothing() -> Hypergraph:
    """A goal without edges."""
    return Hypergraph.from_arrays([0, 0], [0], [], 0)


TAKING_SCORES = [
    lambda g, s: tg.inside(g, s),
    lambda g, s: tg.outside(g, s),
    lambda g, s: tg.inside(g, s, "viterbi"),
    lambda g, s: tg.posteriors(g, s),
    lambda g, s: tg.viterbi(g, s),
    lambda g, s: tg.kbest(g, s, 1),
    lambda g, s: tg.sample_derivations(g, s, 1, 1),
    lambda g, s: tg.prune(g, s, 1.0),
]


@pytest.mark.parametrize("function", TAKING_SCORES)
@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([0.0], "1 scores for 3 edges"),
        ([0.0, NAN, 0.0], "edge 1 has score nan; expected a number or -inf"),
        ([0.0, 0.0, INF], "edge 2 has score inf; expected a number or -inf"),
    ],
)
def test_scores_are_refused(function, scores: list[float], message: str) -> None:
    with pytest.raises(ValueError) as error:
        function(twice(), scores)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda g: tg.inside(g, [1, 1], "real"), "2 weights for 3 edges"),
        (lambda g: tg.inside(g, [1, -INF, 1], "real"), "edge 1 has weight -inf; expected a finite number"),
        (lambda g: tg.outside(g, [1, 1, NAN], "count"), "edge 2 has weight nan; expected a finite number"),
        (
            lambda g: tg.inside(g, [0, 0, 0], "tropical"),
            "'tropical' is not a semiring; expected 'log', 'viterbi', 'real' or 'count'",
        ),
        (lambda g: tg.outside(g, inside=[0.0]), "1 inside values for 2 nodes"),
        (lambda g: tg.sample_derivations(nothing(), [], 1, 1), "the goal has no derivation to sample"),
        (lambda g: tg.sample_derivations(g, [-INF, -INF, 0], 1, 1), "the goal has no derivation to sample"),
        (
            lambda g: tg.posteriors(g, [1e308, 0, 1e308]),
            "the logarithm of the sum over all derivations overflows: the scores are too large",
        ),
        (
            lambda g: tg.sample_derivations(g, [1e308, 0, 1e308], 1, 1),
            "the logarithm of the sum over all derivations overflows: the scores are too large",
        ),
        (
            lambda g: KBestDerivations(g, [0, 0, 0], Yields.of([[0], [0]])),
            "3 offsets of yields for 3 edges; expected one more than edges",
        ),
        (
            lambda g: KBestDerivations(g, [0, 0, 0], Yields.of([[0], [-1], [-1, -2]])),
            "the yield of edge 1 has -1, which stands for tail 0 of 0",
        ),
        (
            lambda g: KBestDerivations(g, [0, 0, 0], Yields.of([[0], [], [-3]])),
            "the yield of edge 2 has -3, which stands for tail 2 of 2",
        ),
        (lambda g: Yields.of([[2**31]]), "yields has 2147483648; expected numbers from -2147483648 to 2147483647"),
    ],
)
def test_refusals(call, message: str) -> None:
    with pytest.raises(ValueError) as error:
        call(twice())
    assert str(error.value) == message


@pytest.mark.parametrize("graph", [nothing(), Hypergraph.from_arrays([0], [0], [], None)])
def test_no_derivation(graph: Hypergraph) -> None:
    assert tg.viterbi(graph, []) is None
    assert tg.kbest(graph, [], 3) == []
    assert tg.count(graph) == 0
    assert tg.posteriors(graph, []).tolist() == []
    assert tg.prune(graph, [], INF).graph.nodes == 0
    assert tg.inside(graph).tolist() == [-INF] * graph.nodes


def test_minus_infinity_is_an_edge_that_is_not_there() -> None:
    scores = [-INF, -1.0, 0.0]
    assert tg.inside(twice(), scores).tolist() == [-1.0, -2.0]
    assert tg.posteriors(twice(), scores) == pytest.approx([-INF, math.log(2), 0.0])
    assert [d.edges.tolist() for d in KBestDerivations(twice(), scores)] == [[2, 1, 1]]
    assert tg.prune(twice(), scores, INF).edge_map.tolist() == [1, 2]
    assert {tuple(d.edges.tolist()) for d in tg.sample_derivations(twice(), scores, 100, 3)} == {(2, 1, 1)}


def test_overflow_is_infinity_not_nonsense() -> None:
    # Node v has node v - 1 twice: 2^(2^v) derivations. Beside it a dead tail: 0 · ∞ is 0.
    depth = 12
    first_edge = [0, 2, *range(3, depth + 2), depth + 1, depth + 2]
    tails = [v for v in range(depth - 1) for _ in range(2)] + [depth - 1, depth]
    graph = Hypergraph.from_arrays(first_edge, [0, 0, *range(0, 2 * depth + 1, 2)], tails, depth + 1)
    assert tg.inside(graph, semiring="count").tolist()[-4:] == [INF, INF, 0.0, 0.0]
    assert tg.count(graph) == 0
    assert tg.inside(graph, np.full(graph.edges, 1e306)).tolist()[-4:] == [INF, INF, -INF, -INF]


def test_a_derivation_too_large_to_list_is_refused() -> None:
    depth = 70
    first_edge = [0, *range(1, depth + 2)]
    tails = [v for v in range(depth) for _ in range(2)]
    graph = Hypergraph.from_arrays(first_edge, [0, *range(0, 2 * depth + 1, 2)], tails, depth)
    scores = np.full(graph.edges, -0.5)
    assert tg.count(graph) == 1
    assert tg.inside(graph, scores)[depth] == pytest.approx(-0.5 * (2.0 ** (depth + 1) - 1))
    for function in (tg.viterbi, lambda g, s: tg.kbest(g, s, 1)):
        with pytest.raises(ValueError) as error:
            function(graph, scores)
        assert str(error.value) == "a derivation has 2.36e+21 edges; at most 2^28 can be listed"


def uniform_numbers(seed: int) -> Iterator[float]:
    """xoshiro256** seeded by splitmix64, from their published definitions."""
    mask = 2**64 - 1

    def rotated(x: int, by: int) -> int:
        return (x << by | x >> (64 - by)) & mask

    s = []
    for _ in range(4):
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        z = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
        s.append(z ^ z >> 31)
    while True:
        yield (rotated(s[1] * 5 & mask, 7) * 9 & mask) / 2**64
        t = s[1] << 17 & mask
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotated(s[3], 45)


def test_random_derivations_are_the_same_everywhere() -> None:
    drawn = tg.sample_derivations(twice(), np.log([0.7, 0.3, 1.0]), 500, seed=2024)
    numbers = uniform_numbers(2024)
    for derivation in drawn:
        next(numbers)  # one number for each edge, in preorder: the goal has one edge, the leaf two
        assert derivation.edges.tolist() == [2, int(next(numbers) >= 0.7), int(next(numbers) >= 0.7)]


def test_scores_are_read_without_a_copy() -> None:
    scores = np.array([-1.0, -3.0, 0.0])
    best = KBestDerivations(twice(), scores)
    assert next(best).score == -2.0
    scores[:] = -7.0  # not a good idea, but no crash
    assert len(list(best)) == 3


def test_many_distinct_yields() -> None:
    width = 60  # leaves i and j side by side; their yields repeat after 40
    graph = Hypergraph.from_arrays([0, width, width + 1], [0] * (width + 1) + [2], [0, 0], 1)
    scores = -(np.arange(width + 1.0) ** 1.5)
    yields = Yields.of([*([i % 40] for i in range(width)), [-1, -2]])
    found = KBestDerivations(graph, scores, yields).take(5000)
    assert len({tuple(derivation_yield(graph, yields, d.edges).tolist()) for d in found}) == len(found) == 40 * 40
    assert sorted(tuple(d.edges.tolist()) for d in found) == [(width, i, j) for i in range(40) for j in range(40)]
    assert all(a.score >= b.score for a, b in pairwise(found))


def test_an_enumeration_may_be_shared_by_threads() -> None:
    width = 40
    graph = Hypergraph.from_arrays([0, width, width + 1], [0] * (width + 1) + [2], [0, 0], 1)
    best = KBestDerivations(graph, -np.arange(width + 1.0))
    with ThreadPoolExecutor(4) as pool:
        taken = [d.score for part in pool.map(lambda _: best.take(width * width // 8), range(8)) for d in part]
    assert sorted(taken) == sorted(-width - i - j for i in range(width) for j in range(width))


def chain(nodes: int) -> Hypergraph:
    """A leaf, and above it node upon node with two unary edges each."""
    return Hypergraph.from_arrays(
        np.maximum(np.arange(-1, 2 * nodes, 2), 0).astype(np.uint32),
        np.maximum(np.arange(-1, 2 * nodes - 1), 0).astype(np.uint32),
        np.repeat(np.arange(nodes - 1), 2).astype(np.uint32),
        nodes - 1,
    )


def test_a_million_levels() -> None:
    nodes = 1_000_000
    graph = chain(nodes)
    scores = np.zeros(graph.edges)
    scores[1::2], scores[2::2] = -0.25, -0.75  # sums of quarters are exact
    best = -0.25 * (nodes - 1)
    both = math.log(math.exp(-0.25) + math.exp(-0.75))
    assert tg.inside(graph, scores)[-1] == pytest.approx(both * (nodes - 1), rel=1e-9)
    assert tg.outside(graph, scores)[0] == pytest.approx(both * (nodes - 1), rel=1e-9)
    posteriors = np.exp(tg.posteriors(graph, scores))
    # A logarithm of -2e5 has 10 digits behind the point, and a million roundings add up.
    assert np.allclose(posteriors[1::2], 1 / (1 + math.exp(-0.5)), rtol=1e-4)
    assert tg.count(graph) == INF
    derivation = tg.viterbi(graph, scores)
    assert derivation is not None
    assert (derivation.score, len(derivation.edges)) == (best, nodes)
    assert [d.score for d in tg.kbest(graph, scores, 3)] == [best, best - 0.5, best - 0.5]
    yields = Yields(np.arange(graph.edges + 1, dtype=np.uint32), np.full(graph.edges, -1, np.int32))
    yields.symbols[0] = 8
    assert [d.score for d in KBestDerivations(graph, scores, yields).take(2)] == [best]  # one distinct yield
    assert derivation_yield(graph, yields, derivation.edges).tolist() == [8]
    drawn = tg.sample_derivations(graph, scores, 1, 1)[0]
    assert derivation_score(graph, scores, drawn.edges) == drawn.score
    assert tg.prune(graph, scores, 0.25).graph.edges == nodes
    upside_down = nodes - 1 - graph.heads.astype(np.int64), nodes - 1 - graph.tails.astype(np.int64)
    mapped = assemble(nodes, upside_down[0], graph.first_tail, upside_down[1], 0)
    assert mapped.graph == graph
