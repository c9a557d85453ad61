import math
from collections import Counter
from itertools import product

import numpy as np
from enumeration import Derivation, derivations, edges_into, score, tails_of
from graph_pieces import KBestDerivations, Yields, derivation_score, derivation_yield
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import INF, hypergraphs, scored_hypergraphs

from treeglot.graph import Hypergraph, inside, kbest, sample_derivations, viterbi


def in_order(graph: Hypergraph, scores: np.ndarray) -> list[tuple[float, Derivation]]:
    """All derivations of the goal above -inf in the documented order: all of them are listed, then sorted."""
    lists: list[list[tuple[float, Derivation]]] = []
    for node in range(graph.nodes):
        found = []
        for edge in edges_into(graph, node):
            tails = tails_of(graph, edge)
            for ranks in product(*(range(len(lists[tail])) for tail in tails)):
                parts = [lists[tail][rank] for tail, rank in zip(tails, ranks, strict=True)]
                total = float(scores[edge])
                for part in parts:
                    total += part[0]
                if total > -INF:
                    found.append((-total, edge, ranks, (edge, *(e for part in parts for e in part[1]))))
        lists.append([(-total, derivation) for total, _, _, derivation in sorted(found)])
    return [] if graph.goal is None else lists[graph.goal]


def pairs(found: list) -> list[tuple[float, Derivation]]:
    return [(d.score, tuple(d.edges.tolist())) for d in found]


@st.composite
def with_yields(draw: st.DrawFn) -> tuple[Hypergraph, np.ndarray, list[list[int]]]:
    """Few terminals, so that many derivations share a yield; tails in any order, now and then dropped or doubled."""
    graph, scores = draw(scored_hypergraphs())
    yields = []
    for edge in range(graph.edges):
        symbols = [-1 - i for i in range(len(tails_of(graph, edge)))] + draw(st.lists(st.integers(0, 1), max_size=2))
        symbols = draw(st.permutations(symbols))
        if draw(st.integers(0, 9)) == 0:
            symbols = draw(st.lists(st.sampled_from(symbols), max_size=3)) if symbols else []
        yields.append(symbols)
    return graph, scores, yields


def expand(graph: Hypergraph, yields: list[list[int]], derivation: Derivation) -> tuple[int, ...]:
    rest = iter(derivation)

    def one() -> list[int]:
        edge = next(rest)
        below = [one() for _ in tails_of(graph, edge)]
        return [t for symbol in yields[edge] for t in ([symbol] if symbol >= 0 else below[-1 - symbol])]

    return tuple(one())


@given(scored_hypergraphs(), st.integers(0, 300))
def test_kbest_is_all_derivations_in_order(graph_scores: tuple[Hypergraph, np.ndarray], k: int) -> None:
    graph, scores = graph_scores
    wanted = in_order(graph, scores)
    assert pairs(list(KBestDerivations(graph, scores))) == wanted
    assert pairs(kbest(graph, scores, k)) == wanted[:k]
    enumeration = KBestDerivations(graph, scores)  # resumed again and again
    assert pairs([*enumeration.take(2), *enumeration.take(0), *enumeration.take(3), *enumeration]) == wanted
    assert enumeration.take(5) == []


@given(with_yields())
def test_distinct_kbest_is_the_first_derivation_of_every_yield(
    case: tuple[Hypergraph, np.ndarray, list[list[int]]],
) -> None:
    graph, scores, yields = case
    first: dict[tuple[int, ...], tuple[float, Derivation]] = {}
    for found in in_order(graph, scores):
        first.setdefault(expand(graph, yields, found[1]), found)
    assert pairs(list(KBestDerivations(graph, scores, Yields.of(yields)))) == list(first.values())


@given(with_yields())
def test_yield_and_score_of_every_derivation(case: tuple[Hypergraph, np.ndarray, list[list[int]]]) -> None:
    graph, scores, yields = case
    for derivation in derivations(graph, graph.goal)[:20]:
        assert derivation_score(graph, scores, derivation) == score(graph, scores, derivation)
        found = derivation_yield(graph, Yields.of(yields), derivation)
        assert tuple(found.tolist()) == expand(graph, yields, derivation)


@given(scored_hypergraphs())
def test_viterbi_is_the_first(graph_scores: tuple[Hypergraph, np.ndarray]) -> None:
    graph, scores = graph_scores
    best = viterbi(graph, scores)
    assert pairs([] if best is None else [best]) == in_order(graph, scores)[:1]
    if best is not None:
        assert best.score == inside(graph, scores, "viterbi")[graph.goal]


@settings(max_examples=30)
@given(scored_hypergraphs(max_nodes=6, max_derivations=12), st.integers(0, 2**64 - 1))
def test_samples_follow_the_distribution(graph_scores: tuple[Hypergraph, np.ndarray], seed: int) -> None:
    graph, scores = graph_scores
    wanted = in_order(graph, scores)
    if not wanted:
        return
    number = 4000
    drawn = sample_derivations(graph, scores, number, seed)
    assert pairs(drawn) == pairs(sample_derivations(graph, scores, number, seed))
    assert pairs(drawn[:10]) == pairs(sample_derivations(graph, scores, 10, seed))
    exact = {d: s for s, d in wanted}
    assert all(d.score == exact[tuple(d.edges.tolist())] for d in drawn)
    largest = wanted[0][0]
    total = math.fsum(math.exp(s - largest) for s, _ in wanted)
    counts = Counter(tuple(d.edges.tolist()) for d in drawn)
    for s, derivation in wanted:
        p = math.exp(s - largest) / total
        # Six standard deviations, and a little for rare ones: a false alarm once in 10^8.
        assert abs(counts[derivation] - number * p) <= 6 * math.sqrt(number * p * (1 - p)) + 8
    assert sum(counts.values()) == number


@given(hypergraphs(goal=True))
def test_without_scores_all_derivations_are_equal(graph: Hypergraph) -> None:
    found = kbest(graph, np.zeros(graph.edges), 1000)
    assert len(found) == len(derivations(graph, graph.goal))
    assert all(d.score == 0 for d in found)
