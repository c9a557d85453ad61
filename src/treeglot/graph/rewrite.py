"""Stages that make a hypergraph from others, or from loose edges, and say where its nodes and edges came from."""

from __future__ import annotations

import numpy.typing as npt

from treeglot import _core
from treeglot._core import NO_NODE, Hypergraph, Mapped
from treeglot.graph.arrays import Ids, floats, ids


def topological_order(nodes: int, heads: npt.ArrayLike, first_tail: npt.ArrayLike, tails: npt.ArrayLike) -> Ids:
    """The nodes in an order in which tails come before heads: of all such orders the lexicographically smallest.

    Edge `e` leads from `tails[first_tail[e]:first_tail[e + 1]]` to `heads[e]`.

    >>> topological_order(3, heads=[0, 2], first_tail=[0, 2, 3], tails=[2, 1, 1])  # 0 ← 2 1, 2 ← 1
    array([1, 2, 0], dtype=uint32)
    >>> topological_order(3, heads=[0, 2], first_tail=[0, 2, 3], tails=[2, 1, 0])
    Traceback (most recent call last):
    ValueError: node 0 is on a cycle: it is among the tails of its own derivation
    """
    order, on_cycle = _core.graph_topological_order(
        nodes, ids("heads", heads), ids("first_tail", first_tail), ids("tails", tails)
    )
    if on_cycle != NO_NODE:
        raise ValueError(f"node {on_cycle} is on a cycle: it is among the tails of its own derivation")
    return order


def assemble(
    nodes: int, heads: npt.ArrayLike, first_tail: npt.ArrayLike, tails: npt.ArrayLike, goal: int | None
) -> Mapped:
    """A hypergraph from edges in any order, its nodes renumbered in topological order.

    >>> mapped = assemble(3, heads=[0, 2, 1], first_tail=[0, 2, 3, 3], tails=[2, 1, 1], goal=0)
    >>> mapped.graph, mapped.node_map.tolist(), mapped.edge_map.tolist()
    (Hypergraph(nodes=3, edges=3, goal=2), [1, 2, 0], [2, 1, 0])
    """
    return _core.graph_assemble(nodes, ids("heads", heads), ids("first_tail", first_tail), ids("tails", tails), goal)


def prune(graph: Hypergraph, scores: npt.ArrayLike, margin: float) -> Mapped:
    """Drop the edges whose best derivation is worse than the best of all by more than `margin` (natural logarithms).

    What is in no derivation then goes too; the best derivation always stays. With `margin=inf` only what is in no
    derivation above -inf is dropped.

    >>> builder = _core.Builder()
    >>> leaf, goal = builder.add_node(), builder.add_node()
    >>> edges = [builder.add_edge(leaf), builder.add_edge(goal, [leaf]), builder.add_edge(goal, [leaf, leaf])]
    >>> graph = builder.freeze(goal).graph
    >>> prune(graph, [-0.5, -1.0, -4.0], margin=3.0).edge_map
    array([0, 1], dtype=uint32)
    """
    return _core.graph_prune(graph, floats(scores), margin)
