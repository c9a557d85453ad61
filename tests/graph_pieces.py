"""What tests ask of graphs beside the public functions: yields, lazy k-best lists, edges in any order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from treeglot import _core
from treeglot._core import NO_NODE, GraphDerivation, Hypergraph, Mapped
from treeglot.graph.arrays import floats

Ids: TypeAlias = npt.NDArray[np.uint32]
Symbols: TypeAlias = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Yields:
    """What each edge stands for: `symbols[first_symbol[edge]:first_symbol[edge + 1]]`.

    A symbol is a terminal if it is 0 or more; `-1 - i` is the yield of the edge's i-th tail.
    """

    first_symbol: Ids
    symbols: Symbols

    @staticmethod
    def of(edges: Iterable[Sequence[int]]) -> Yields:
        """The yields of edges, one list of symbols for each.

        >>> Yields.of([[7], [], [-1, 8, -2]]).first_symbol
        array([0, 1, 1, 4], dtype=uint32)
        """
        lists = list(edges)
        ends = np.cumsum([0, *map(len, lists)]).astype(np.uint32)
        return Yields(ends, symbols("yields", [symbol for edge in lists for symbol in edge]))


class KBestDerivations(Iterator[GraphDerivation]):
    """The derivations of the goal from the best down; the next one can be asked for at any time.

    The order is exact and total: a higher score first; of equal scores the derivation whose first edge has the smaller
    number; of equal edges the one whose first tail has the better derivation, then the second tail, and so on.
    Derivations with score -inf are left out. With `yields`, of those with equal yields only the first is given.

    >>> graph = Hypergraph.from_arrays([0, 2, 3], [0, 0, 0, 2], [0, 0], goal=1)  # two leaves; goal ← leaf leaf
    >>> best = KBestDerivations(graph, [-1.0, -3.0, 0.0])
    >>> next(best), next(best).edges.tolist(), next(best).edges.tolist()
    (GraphDerivation(score=-2, edges=3), [2, 0, 1], [2, 1, 0])
    >>> [derivation.score for derivation in best]
    [-6.0]
    """

    def __init__(self, graph: Hypergraph, scores: npt.ArrayLike, yields: Yields | None = None) -> None:
        """Read `scores`, one for each edge, without copying: they should stay as they are."""
        first_symbol, symbols = (None, None) if yields is None else _arrays(yields)
        self._core = _core.GraphKBest(graph, floats(scores), first_symbol, symbols)

    def __next__(self) -> GraphDerivation:
        derivation = self._core.next()
        if derivation is None:
            raise StopIteration
        return derivation

    def take(self, number: int) -> list[GraphDerivation]:
        """The next `number` derivations, or as many as are left."""
        return self._core.take(number)


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


def derivation_score(graph: Hypergraph, scores: npt.ArrayLike, edges: npt.ArrayLike) -> float:
    """The score of a derivation, given as its edges in preorder.

    >>> graph = Hypergraph.from_arrays([0, 2, 3], [0, 0, 0, 2], [0, 0], goal=1)
    >>> derivation_score(graph, [-1.0, -3.0, 0.0], [2, 1, 0])
    -4.0
    """
    values, open_scores = floats(scores), list[float]()
    for edge in reversed(np.asarray(edges).tolist()):
        score = float(values[edge])
        for _ in range(graph.first_tail[edge], graph.first_tail[edge + 1]):
            score += open_scores.pop()
        open_scores.append(score)
    [whole] = open_scores
    return whole


def derivation_yield(graph: Hypergraph, yields: Yields, edges: npt.ArrayLike) -> Symbols:
    """The terminals of a derivation, given as its edges in preorder.

    >>> graph = Hypergraph.from_arrays([0, 2, 3], [0, 0, 0, 2], [0, 0], goal=1)
    >>> derivation_yield(graph, Yields.of([[5], [6], [-2, 9, -1]]), [2, 0, 1])
    array([6, 9, 5], dtype=int32)
    """
    open_yields: list[list[int]] = []
    for edge in reversed(np.asarray(edges).tolist()):
        tails = [open_yields.pop() for _ in range(graph.first_tail[edge], graph.first_tail[edge + 1])]
        terminals: list[int] = []
        for symbol in yields.symbols[yields.first_symbol[edge] : yields.first_symbol[edge + 1]].tolist():
            terminals += [symbol] if symbol >= 0 else tails[-1 - symbol]
        open_yields.append(terminals)
    [whole] = open_yields
    return np.array(whole, dtype=np.int32)


def _arrays(yields: Yields) -> tuple[Ids, Symbols]:
    return ids("first_symbol", yields.first_symbol), symbols("symbols", yields.symbols)


def ids(name: str, values: npt.ArrayLike) -> Ids:
    """A contiguous array of uint32; `values` itself if it is one. A number that does not fit is refused.

    >>> ids("tails", [2, -1])
    Traceback (most recent call last):
    ValueError: tails has -1; expected numbers from 0 to 4294967295
    """
    return np.ascontiguousarray(_fitting(name, values, 0, 2**32 - 1), dtype=np.uint32)


def symbols(name: str, values: npt.ArrayLike) -> Symbols:
    """A contiguous array of int32; `values` itself if it is one. A number that does not fit is refused."""
    return np.ascontiguousarray(_fitting(name, values, -(2**31), 2**31 - 1), dtype=np.int32)


def _fitting(name: str, values: npt.ArrayLike, low: int, high: int) -> npt.NDArray[np.generic]:
    array = np.asarray(values)
    if array.size == 0:
        return array
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} is of type {array.dtype}; expected whole numbers")
    limits = np.iinfo(array.dtype)
    if limits.min < low or limits.max > high:
        for extreme in (int(array.min()), int(array.max())):
            if not low <= extreme <= high:
                raise ValueError(f"{name} has {extreme}; expected numbers from {low} to {high}")
    return array
