import pickle

import numpy as np
import pytest
from graph_pieces import assemble, topological_order

from treeglot.graph import Builder, Hypergraph, prune


def ids(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.uint32)


def twice() -> Hypergraph:
    """A leaf, and a goal with one edge from the leaf and one from the leaf twice."""
    return Hypergraph.from_arrays([0, 1, 3], [0, 0, 1, 3], [0, 0, 0], 1)


def test_a_view_on_an_array_that_can_be_written_is_copied() -> None:
    whole = np.zeros(4, np.uint32)
    graph = Hypergraph.from_arrays([0, 1, 2], [0, 0, 1], whole[:1], 1)
    whole[0] = 7
    assert graph.tails.tolist() == [0]
    whole.flags.writeable = False
    assert np.shares_memory(Hypergraph.from_arrays([0, 1, 2], [0, 0, 1], whole[1:2], 1).tails, whole)


def test_arrays_go_in_and_out_without_copies() -> None:
    first_edge, first_tail, tails = ids(0, 1, 3), ids(0, 0, 1, 3), ids(0, 0, 0)
    graph = Hypergraph.from_arrays(first_edge, first_tail, tails, 1)
    assert np.shares_memory(graph.first_edge, first_edge)
    assert np.shares_memory(graph.first_tail, first_tail)
    assert np.shares_memory(graph.tails, tails)
    assert np.shares_memory(graph.heads, graph.heads)
    assert graph.heads.tolist() == [0, 1, 1]
    for array in (graph.first_edge, graph.first_tail, graph.tails, graph.heads, first_edge, first_tail, tails):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_views_keep_the_graph_alive() -> None:
    heads = twice().heads
    mapped_edges = prune(twice(), [0.0, 0.0, 0.0], 1.0).edge_map
    assert heads.tolist() == [0, 1, 1]
    assert mapped_edges.tolist() == [0, 1, 2]


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint64])
def test_other_arrays_are_copied(dtype: type) -> None:
    tails = np.array([0, 0, 0], dtype=dtype)
    graph = Hypergraph.from_arrays(np.array([0, 9, 1, 9, 3], dtype=np.uint32)[::2], [0, 0, 1, 3], tails, 1)
    assert graph == twice()
    tails[0] = 7
    assert graph.tails.tolist() == [0, 0, 0]


def test_equality_hash_pickle_repr() -> None:
    graph = twice()
    assert graph == twice()
    assert hash(graph) == hash(twice())
    assert graph != Hypergraph.from_arrays([0, 1, 3], [0, 0, 1, 3], [0, 0, 0], None)
    assert graph != "graph"
    assert pickle.loads(pickle.dumps(graph)) == graph
    assert repr(graph) == "Hypergraph(nodes=2, edges=3, goal=1)"
    assert repr(Hypergraph.from_arrays([0], [0], [], None)) == "Hypergraph(nodes=0, edges=0, goal=None)"


@pytest.mark.parametrize(
    ("first_edge", "first_tail", "tails", "goal", "message"),
    [
        ([], [0], [], None, "first_edge must begin with 0"),
        ([0], [], [], None, "first_tail must begin with 0"),
        ([1, 1], [0, 0], [], None, "first_edge must begin with 0"),
        ([0, 2, 1], [0, 0], [], None, "first_edge[2] is 1 after 2: offsets never decrease"),
        ([0, 1], [0, 0, 0], [], None, "first_edge ends with 1; expected 2"),
        ([0, 1], [0, 1], [], None, "first_tail ends with 1; expected 0"),
        ([0, 1], [0, 1], [0], None, "edge into node 0 has tail 0: tails must be built before heads"),
        ([0, 1], [0, 1], [3], None, "edge into node 0 has tail 3: tails must be built before heads"),
        ([0, 1], [0, 0], [], 1, "the goal is node 1 of a graph with 1 nodes"),
        ([0, -1], [0, 0], [], 0, "first_edge must be a sequence of numbers from 0 to 2^32 - 1"),
        ([0, 1], [0, 2**32], [], 0, "first_tail must be a sequence of numbers from 0 to 2^32 - 1"),
        ([0, 1], [0, 0], ["a"], 0, "tails must be a sequence of numbers from 0 to 2^32 - 1"),
    ],
)
def test_what_is_not_a_hypergraph_is_refused(first_edge, first_tail, tails, goal, message: str) -> None:
    with pytest.raises(ValueError) as error:
        Hypergraph.from_arrays(first_edge, first_tail, tails, goal)
    assert str(error.value) == message


def test_builder_groups_edges_by_head() -> None:
    builder = Builder()
    assert (builder.add_node(), builder.add_nodes(2)) == (0, 1)
    assert [builder.add_edge(2, [0, 1]), builder.add_edge(0), builder.add_edge(2, [1]), builder.add_edge(1)] == [
        *range(4)
    ]
    assert (builder.nodes, builder.edges) == (3, 4)
    mapped = builder.freeze(2)
    assert mapped.edge_map.tolist() == [1, 3, 0, 2]
    assert mapped.graph == Hypergraph.from_arrays([0, 1, 2, 4], [0, 0, 0, 2, 3], [0, 1, 1], 2)
    assert (builder.nodes, builder.edges) == (0, 0)


def test_builder_refuses() -> None:
    builder = Builder()
    builder.add_node()
    with pytest.raises(ValueError, match=r"^edge into node 0 has tail 3: tails must be built before heads$"):
        builder.add_edge(0, [3])
    with pytest.raises(ValueError, match=r"^edge into node 1: only 1 nodes have been added$"):
        builder.add_edge(1)
    with pytest.raises(ValueError, match=r"^the goal is node 1 of a graph with 1 nodes$"):
        builder.freeze(1)
    with pytest.raises(ValueError, match=r"^the number of nodes is 4294967294; expected at most 134217727$"):
        builder.add_nodes(2**32 - 2)
    assert builder.freeze(0).graph.nodes == 1  # refusals change nothing


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, [0], [0], []), "first_tail has 1 offsets for 1 edges; expected one more than edges"),
        ((1, [1], [0, 0], []), "edge 0 has head 1 in a graph with 1 nodes"),
        ((2, [1, 1], [0, 1, 2], [0, 2]), "edge 1 has tail 2 in a graph with 2 nodes"),
        ((2, [1], [0, 2], [0]), "first_tail ends with 2; expected 1"),
        ((2, [1], [0, -1], [0]), "first_tail has -1; expected numbers from 0 to 4294967295"),
        ((2, [0.5], [0, 1], [0]), "heads is of type float64; expected whole numbers"),
        ((1, [0], [0, 1], [0]), "node 0 is on a cycle: it is among the tails of its own derivation"),
    ],
)
def test_loose_edges_are_refused(arguments, message: str) -> None:
    for function in (topological_order, lambda *a: assemble(*a, goal=None)):
        with pytest.raises(ValueError) as error:
            function(*arguments)
        assert str(error.value) == message


def test_assemble_refuses_a_goal_outside() -> None:
    with pytest.raises(ValueError, match=r"^the goal is node 4 of a graph with 1 nodes$"):
        assemble(1, [], [0], [], 4)


@pytest.mark.parametrize(
    ("scores", "margin", "message"),
    [
        ([0.0, 0.0], 1.0, "2 scores for 3 edges"),
        ([0.0, float("nan"), 0.0], 1.0, "edge 1 has score nan; expected a number or -inf"),
        ([0.0, 0.0, float("inf")], 1.0, "edge 2 has score inf; expected a number or -inf"),
        ([0.0, 0.0, 0.0], -1.0, "the margin is -1.000000; expected 0 or more, in natural logarithms"),
        ([0.0, 0.0, 0.0], float("nan"), "the margin is nan; expected 0 or more, in natural logarithms"),
    ],
)
def test_prune_refuses(scores: list[float], margin: float, message: str) -> None:
    with pytest.raises(ValueError) as error:
        prune(twice(), scores, margin)
    assert str(error.value) == message


def test_prune_with_a_repeated_tail_counts_it_twice() -> None:
    # leaf -1 or -3; goal = leaf leaf: the worse leaf costs 2 below the best derivation, not 4.
    graph = Hypergraph.from_arrays([0, 2, 3], [0, 0, 0, 2], [0, 0], 1)
    assert prune(graph, [-1.0, -3.0, 0.0], 1.9).edge_map.tolist() == [0, 2]
    assert prune(graph, [-1.0, -3.0, 0.0], 2.0).edge_map.tolist() == [0, 1, 2]
