"""Computes sums over all derivations without enumerating them: inside, outside, posteriors, counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from treeglot import _core
from treeglot._core import Hypergraph
from treeglot.base.later import Later
from treeglot.graph.arrays import Floats, floats

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = Later("numpy")

Semiring: TypeAlias = Literal["log", "viterbi", "real", "count"]


def inside(graph: Hypergraph, weights: npt.ArrayLike | None = None, semiring: Semiring = "log") -> Floats:
    """Return the inside value of every node: the sum over its derivations of the product of their edges' weights.

    Weights are logarithms in the semirings `"log"` (log-sum-exp) and `"viterbi"` (max), and factors in `"real"` and
    `"count"`. Without weights, every edge has the neutral weight: 0 for logarithms, 1 for factors.

    >>> graph = Hypergraph.from_arrays([0, 2, 3], [0, 0, 0, 2], [0, 0], goal=1)  # two leaves; goal ← leaf leaf
    >>> inside(graph, [0.1, 0.2, 1.0], "real").round(2)
    array([0.3 , 0.09])
    >>> inside(graph, semiring="count")
    array([2., 4.])
    """
    return _core.graph_inside(semiring, graph, None if weights is None else floats(weights))


def outside(
    graph: Hypergraph,
    weights: npt.ArrayLike | None = None,
    semiring: Semiring = "log",
    inside: npt.ArrayLike | None = None,
) -> Floats:
    """Return the outside value of every node: the sum over everything around it in the derivations of the goal.

    If the inside values are already known, pass them as `inside` to save a sweep.

    >>> graph = Hypergraph.from_arrays([0, 2, 3], [0, 0, 0, 2], [0, 0], goal=1)
    >>> outside(graph, [0.1, 0.2, 1.0], "real")  # the leaf is there twice: 0.3 beside either
    array([0.6, 1. ])
    """
    given = None if weights is None else floats(weights)
    inner = _core.graph_inside(semiring, graph, given) if inside is None else floats(inside)
    return _core.graph_outside(semiring, graph, given, inner)


def posteriors(graph: Hypergraph, scores: npt.ArrayLike) -> Floats:
    """Return the log posterior of every edge: its expected count in a derivation drawn in proportion to e^score.

    The value is above 0 for an edge that occurs more than once in derivations. If the goal has no derivation, all
    values are -inf.

    >>> import numpy as np
    >>> graph = Hypergraph.from_arrays([0, 1, 3], [0, 0, 1, 2], [0, 0], goal=1)
    >>> np.exp(posteriors(graph, np.log([0.5, 0.3, 0.1])))
    array([1.  , 0.75, 0.25])
    """
    return _core.graph_posteriors(graph, floats(scores))


def count(graph: Hypergraph) -> float:
    """Return the number of derivations of the goal: exact up to 2^53, then rounded, `inf` beyond 1.8e308.

    >>> count(Hypergraph.from_arrays([0, 2, 3], [0, 0, 0, 2], [0, 0], goal=1))
    4.0
    """
    return 0.0 if graph.goal is None else float(inside(graph, semiring="count")[graph.goal])
