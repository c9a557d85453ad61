import math
from collections.abc import Callable

import numpy as np
import pytest
from enumeration import derivations, edges_into, score, tails_of
from hypothesis import given
from hypothesis import strategies as st
from strategies import INF, hypergraphs, scored_hypergraphs

from treeglot import _core
from treeglot.graph import Hypergraph, count, inside, outside, posteriors


def log_sum(values: list[float]) -> float:
    largest = max(values, default=-INF)
    return largest if largest == -INF else largest + math.log(math.fsum(math.exp(v - largest) for v in values))


def best(values: list[float]) -> float:
    return max(values, default=-INF)


def close(found: np.ndarray, wanted: list[float]) -> None:
    assert found.tolist() == pytest.approx(wanted, rel=1e-9, abs=1e-9)


LOG_SEMIRINGS: list[tuple[str, Callable[[list[float]], float]]] = [("log", log_sum), ("viterbi", best)]


def contexts(graph: Hypergraph, node: int) -> list[list[int]]:
    """The derivations of the goal with one derivation of `node` cut out, each as the edges that are left."""
    if graph.goal is None:
        return []
    found: list[list[int]] = []

    def descend(above: list[int], v: int) -> None:
        if v == node:
            found.append(above)
        for edge in edges_into(graph, v):
            tails = tails_of(graph, edge)
            for place, tail in enumerate(tails):
                beside: list[list[int]] = [[]]
                for sibling in tails[:place] + tails[place + 1 :]:
                    beside = [[*b, *d] for b in beside for d in derivations(graph, sibling)]
                for b in beside:
                    descend([*above, edge, *b], tail)

    descend([], graph.goal)
    return found


@given(scored_hypergraphs())
def test_inside_sums_over_derivations(graph_scores: tuple[Hypergraph, np.ndarray]) -> None:
    graph, scores = graph_scores
    all_scores = [[score(graph, scores, d) for d in derivations(graph, v)] for v in range(graph.nodes)]
    for semiring, add in LOG_SEMIRINGS:
        close(inside(graph, scores, semiring), [add(s) for s in all_scores])
    weights = np.exp(scores)
    products = [[math.prod(weights[list(d)]) for d in derivations(graph, v)] for v in range(graph.nodes)]
    close(inside(graph, weights, "real"), [math.fsum(p) for p in products])
    close(inside(graph, semiring="count"), [float(len(p)) for p in products])


@given(scored_hypergraphs(max_nodes=6, max_derivations=20))
def test_outside_sums_over_contexts(graph_scores: tuple[Hypergraph, np.ndarray]) -> None:
    graph, scores = graph_scores
    around = [contexts(graph, v) for v in range(graph.nodes)]
    for semiring, add in LOG_SEMIRINGS:
        wanted = [add([math.fsum(scores[c]) for c in cs]) for cs in around]
        close(outside(graph, scores, semiring), wanted)
        close(outside(graph, scores, semiring, inside=inside(graph, scores, semiring)), wanted)
    weights = np.exp(scores)
    close(outside(graph, weights, "real"), [math.fsum(math.prod(weights[c]) for c in cs) for cs in around])
    close(outside(graph, semiring="count"), [float(len(cs)) for cs in around])


@given(scored_hypergraphs())
def test_posteriors_are_expected_counts(graph_scores: tuple[Hypergraph, np.ndarray]) -> None:
    graph, scores = graph_scores
    scored = [(d, score(graph, scores, d)) for d in derivations(graph, graph.goal)]
    total = log_sum([s for _, s in scored])
    expected = np.zeros(graph.edges)
    if total > -INF:
        for derivation, s in scored:
            for edge in derivation:
                expected[edge] += math.exp(s - total)
    found = posteriors(graph, scores)
    close(np.exp(found), expected.tolist())
    possible = {edge for derivation, s in scored if s > -INF for edge in derivation}
    assert set(np.flatnonzero(found > -INF)) == possible


@given(scored_hypergraphs(zeros=False), st.floats(-800, 800))
def test_no_scale_of_probabilities_is_too_small_or_large(
    graph_scores: tuple[Hypergraph, np.ndarray], shift: float
) -> None:
    # Every derivation of the goal has one edge into it: what they all have in common must not change posteriors.
    graph, scores = graph_scores
    into_goal = np.zeros(graph.edges, dtype=bool)
    if graph.goal is not None:
        into_goal[graph.first_edge[graph.goal] : graph.first_edge[graph.goal + 1]] = True
    assert posteriors(graph, scores + shift * into_goal).tolist() == pytest.approx(
        posteriors(graph, scores).tolist(), abs=1e-9
    )


@given(hypergraphs())
def test_count_is_the_number_of_derivations(graph: Hypergraph) -> None:
    assert count(graph) == len(derivations(graph, graph.goal))


@given(hypergraphs(), st.data())
def test_a_nodes_rank_is_the_share_of_nodes_in_better_derivations(graph: Hypergraph, data: st.DataObject) -> None:
    drawn = st.one_of(st.integers(-9, 9).map(float), st.just(-INF))  # whole numbers: equal sums are equal in any order
    scores = np.array(data.draw(st.lists(drawn, min_size=graph.edges, max_size=graph.edges)))
    through = [-INF] * graph.nodes
    for derivation in derivations(graph, graph.goal):
        for edge in derivation:
            head = graph.heads[edge]
            through[head] = max(through[head], score(graph, scores, derivation))
    wanted = [1.0 if own == -INF else sum(other > own for other in through) / graph.nodes for own in through]
    assert _core.graph_node_ranks(graph, scores).tolist() == pytest.approx(wanted, abs=1e-6)


def test_node_ranks_need_a_score_for_every_edge() -> None:
    graph = Hypergraph.from_arrays([0, 1], [0, 0], [], goal=0)
    with pytest.raises(ValueError, match="edge 0 has score nan; expected a number or -inf"):
        _core.graph_node_ranks(graph, np.array([math.nan]))
