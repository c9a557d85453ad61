"""Derivations one by one: the best, the k best, random ones, and what they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeglot import _core
from treeglot._core import GraphDerivation, Hypergraph
from treeglot.graph.arrays import Ids, Symbols, floats, ids, symbols


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


def kbest(graph: Hypergraph, scores: npt.ArrayLike, k: int, yields: Yields | None = None) -> list[GraphDerivation]:
    """The `k` best derivations of the goal, or all if there are fewer; see `KBestDerivations` for their order.

    >>> graph = Hypergraph.from_arrays([0, 2, 3], [0, 0, 0, 2], [0, 0], goal=1)
    >>> [derivation.score for derivation in kbest(graph, [-1.0, -3.0, 0.0], 3)]
    [-2.0, -4.0, -4.0]
    >>> same = Yields.of([[5], [5], [-1, -2]])
    >>> [derivation.score for derivation in kbest(graph, [-1.0, -3.0, 0.0], 3, same)]
    [-2.0]
    """
    return KBestDerivations(graph, scores, yields).take(k)


def viterbi(graph: Hypergraph, scores: npt.ArrayLike) -> GraphDerivation | None:
    """The best derivation of the goal, of equal ones the first that `kbest` gives; None if there is none.

    >>> graph = Hypergraph.from_arrays([0, 2, 3], [0, 0, 0, 2], [0, 0], goal=1)
    >>> viterbi(graph, [-1.0, -3.0, 0.0]).edges
    array([2, 0, 0], dtype=uint32)
    """
    return _core.graph_viterbi(graph, floats(scores))


def sample_derivations(graph: Hypergraph, scores: npt.ArrayLike, n: int, seed: int) -> list[GraphDerivation]:
    """Draw `n` derivations of the goal, each with a probability in proportion to e^score.

    The same seed gives the same derivations on every machine. A goal without derivations is refused.

    >>> graph = Hypergraph.from_arrays([0, 2, 3], [0, 0, 0, 2], [0, 0], goal=1)
    >>> drawn = sample_derivations(graph, np.log([0.9, 0.1, 1.0]), n=1000, seed=1)
    >>> sum(derivation.edges.tolist() == [2, 0, 0] for derivation in drawn)
    816
    """
    return _core.graph_sample(graph, floats(scores), n, seed)


def derivation_score(graph: Hypergraph, scores: npt.ArrayLike, edges: npt.ArrayLike) -> float:
    """The score of a derivation, given as its edges in preorder.

    >>> graph = Hypergraph.from_arrays([0, 2, 3], [0, 0, 0, 2], [0, 0], goal=1)
    >>> derivation_score(graph, [-1.0, -3.0, 0.0], [2, 1, 0])
    -4.0
    """
    return _core.graph_derivation_score(graph, floats(scores), ids("edges", edges))


def derivation_yield(graph: Hypergraph, yields: Yields, edges: npt.ArrayLike) -> Symbols:
    """The terminals of a derivation, given as its edges in preorder.

    >>> graph = Hypergraph.from_arrays([0, 2, 3], [0, 0, 0, 2], [0, 0], goal=1)
    >>> derivation_yield(graph, Yields.of([[5], [6], [-2, 9, -1]]), [2, 0, 1])
    array([6, 9, 5], dtype=int32)
    """
    return _core.graph_yield(graph, *_arrays(yields), ids("edges", edges))


def _arrays(yields: Yields) -> tuple[Ids, Symbols]:
    return ids("first_symbol", yields.first_symbol), symbols("symbols", yields.symbols)
