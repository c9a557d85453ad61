"""The slow twin of the graph algorithms: all derivations, one by one, from the definition."""

from functools import cache
from itertools import product

import numpy as np
import numpy.typing as npt

from treeglot.graph import Hypergraph

Derivation = tuple[int, ...]  # edges in preorder


def tails_of(graph: Hypergraph, edge: int) -> list[int]:
    return graph.tails[graph.first_tail[edge] : graph.first_tail[edge + 1]].tolist()


def edges_into(graph: Hypergraph, node: int) -> range:
    return range(int(graph.first_edge[node]), int(graph.first_edge[node + 1]))


def derivations(graph: Hypergraph, node: int | None) -> list[Derivation]:
    """Every derivation of `node`."""

    @cache
    def of(v: int) -> tuple[Derivation, ...]:
        return tuple(
            (edge, *(e for part in parts for e in part))
            for edge in edges_into(graph, v)
            for parts in product(*(of(tail) for tail in tails_of(graph, edge)))
        )

    return [] if node is None else list(of(node))


def score(graph: Hypergraph, scores: npt.NDArray[np.float64], derivation: Derivation) -> float:
    """The score of a derivation, added up in the documented order: the edge, then its tails from left to right."""
    rest = iter(derivation)

    def one() -> float:
        edge = next(rest)
        total = float(scores[edge])
        for _ in tails_of(graph, edge):
            total += one()
        return total

    return one()
