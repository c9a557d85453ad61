import numpy as np
import pytest
from enumeration import derivations, edges_into, score, tails_of
from graph_pieces import assemble, topological_order
from hypothesis import given
from hypothesis import strategies as st
from strategies import INF, hypergraphs, scored_hypergraphs

from treeglot._core import Mapped
from treeglot.graph import Hypergraph, prune


def check_maps(old: Hypergraph, mapped: Mapped) -> None:
    new = mapped.graph
    assert np.all(np.diff(mapped.node_map.astype(np.int64)) > 0)
    assert np.all(np.diff(mapped.edge_map.astype(np.int64)) > 0)
    for edge in range(new.edges):
        before = int(mapped.edge_map[edge])
        assert mapped.node_map[new.heads[edge]] == old.heads[before]
        assert mapped.node_map[tails_of(new, edge)].tolist() == tails_of(old, before)
    if new.goal is not None:
        assert mapped.node_map[new.goal] == old.goal


def through(mapped: Mapped) -> set[tuple[int, ...]]:
    return {tuple(mapped.edge_map[list(d)].tolist()) for d in derivations(mapped.graph, mapped.graph.goal)}


@given(hypergraphs(), st.data())
def test_prune_keeps_exactly_the_derivations_of_possible_edges(graph: Hypergraph, data: st.DataObject) -> None:
    keep = data.draw(st.lists(st.sampled_from([True, True, True, False]), min_size=graph.edges, max_size=graph.edges))
    wanted = {d for d in derivations(graph, graph.goal) if all(keep[e] for e in d)}
    mapped = prune(graph, np.where(keep, 0.0, -INF), INF)
    check_maps(graph, mapped)
    assert through(mapped) == wanted
    assert set(mapped.edge_map.tolist()) == {edge for d in wanted for edge in d}  # nothing useless is left
    assert set(mapped.node_map.tolist()) == {int(graph.heads[edge]) for d in wanted for edge in d}
    assert (mapped.graph.goal is None) == (not wanted)


@given(scored_hypergraphs(), st.one_of(st.just(0.0), st.just(INF), st.floats(0, 12)))
def test_prune_keeps_edges_whose_best_derivation_is_near_the_best(graph_scores, margin: float) -> None:
    graph, scores = graph_scores
    scored = {d: score(graph, scores, d) for d in derivations(graph, graph.goal)}
    scored = {d: s for d, s in scored.items() if s > -INF}
    mapped = prune(graph, scores, margin)
    check_maps(graph, mapped)
    kept = set(mapped.edge_map.tolist())
    if not scored:
        assert (mapped.graph.nodes, mapped.graph.goal) == (0, None)
        return
    best = max(scored.values())
    best_through: dict[int, float] = {}
    for d, s in scored.items():
        for edge in d:
            best_through[edge] = max(best_through.get(edge, -INF), s)
    for edge in range(graph.edges):
        loss = best - best_through.get(edge, -INF)
        if loss < margin - 1e-9 or (margin == INF and loss < INF):
            assert edge in kept
        if loss > margin + 1e-9 or loss == INF:
            assert edge not in kept
    assert any(s == best and kept.issuperset(d) for d, s in scored.items())
    assert {e for d in through(mapped) for e in d} == kept


@given(hypergraphs(), st.randoms(use_true_random=False))
def test_assemble_undoes_any_renumbering(graph: Hypergraph, random) -> None:
    number = list(range(graph.nodes))
    random.shuffle(number)
    order = list(range(graph.edges))
    random.shuffle(order)
    tails = [[number[tail] for tail in tails_of(graph, edge)] for edge in order]
    loose = {
        "nodes": graph.nodes,
        "heads": [number[graph.heads[edge]] for edge in order],
        "first_tail": np.cumsum([0] + [len(t) for t in tails]),
        "tails": [tail for edge in tails for tail in edge],
    }
    goal = None if graph.goal is None else number[graph.goal]
    mapped = assemble(**loose, goal=goal)
    new = mapped.graph
    assert sorted(mapped.node_map.tolist()) == list(range(graph.nodes))
    assert sorted(mapped.edge_map.tolist()) == list(range(graph.edges))
    assert topological_order(**loose).tolist() == mapped.node_map.tolist()
    for node in range(new.nodes):
        edges = mapped.edge_map[list(edges_into(new, node))].tolist()
        assert edges == sorted(edges)  # the order given
    for edge in range(new.edges):
        old = int(mapped.edge_map[edge])
        assert mapped.node_map[new.heads[edge]] == loose["heads"][old]
        assert mapped.node_map[tails_of(new, edge)].tolist() == tails[old]
    assert (None if new.goal is None else mapped.node_map[new.goal]) == goal


@given(hypergraphs())
def test_a_graph_in_order_stays_as_it_is(graph: Hypergraph) -> None:
    mapped = assemble(graph.nodes, graph.heads, graph.first_tail, graph.tails, graph.goal)
    assert mapped.graph == graph
    assert mapped.edge_map.tolist() == list(range(graph.edges))


@given(
    st.integers(1, 6).flatmap(
        lambda n: st.tuples(
            st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.lists(st.integers(0, n - 1), max_size=3)))
        )
    )
)
def test_order_or_a_node_on_a_cycle(nodes_edges: tuple[int, list[tuple[int, list[int]]]]) -> None:
    nodes, edges = nodes_edges
    below = np.zeros((nodes, nodes), dtype=bool)
    for head, tails in edges:
        below[head, tails] = True
    for middle in range(nodes):  # transitive closure
        below |= np.outer(below[:, middle], below[middle])
    arrays = {
        "nodes": nodes,
        "heads": [head for head, _ in edges],
        "first_tail": np.cumsum([0] + [len(tails) for _, tails in edges]),
        "tails": [tail for _, tails in edges for tail in tails],
    }
    if below.diagonal().any():
        with pytest.raises(ValueError, match=r"node \d+ is on a cycle") as error:
            topological_order(**arrays)
        assert below.diagonal()[int(str(error.value).split()[1])]
    else:
        order = topological_order(**arrays).tolist()
        wanted: list[int] = []  # the smallest node that is ready, again and again
        while len(wanted) < nodes:
            ready = (v for v in range(nodes) if v not in wanted and all(t in wanted for t in np.flatnonzero(below[v])))
            wanted.append(next(ready))
        assert order == wanted
