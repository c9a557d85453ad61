"""Finds single derivations (the best, the k best, random ones), and prunes the worst."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treeglot import _core
from treeglot._core import GraphDerivation, Hypergraph, Mapped
from treeglot.base.later import Later
from treeglot.graph.arrays import floats

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = Later("numpy")


def kbest(graph: Hypergraph, scores: npt.ArrayLike, k: int) -> list[GraphDerivation]:
    """Return the `k` best derivations of the goal, or all if there are fewer. Derivations with score -inf are left out.

    The order is exact and total. Higher scores come first. Among equal scores, the derivation whose first edge has the
    smaller number comes first. Among equal edges, the better derivation of the first tail decides, then that of the
    second tail, and so on.

    >>> graph = Hypergraph.from_arrays([0, 2, 3], [0, 0, 0, 2], [0, 0], goal=1)  # two leaves; goal ← leaf leaf
    >>> [(derivation.score, derivation.edges.tolist()) for derivation in kbest(graph, [-1.0, -3.0, 0.0], 3)]
    [(-2.0, [2, 0, 0]), (-4.0, [2, 0, 1]), (-4.0, [2, 1, 0])]
    """
    return _core.GraphKBest(graph, floats(scores), None, None).take(k)


def viterbi(graph: Hypergraph, scores: npt.ArrayLike) -> GraphDerivation | None:
    """Return the best derivation of the goal, or None if there is none.

    If several derivations are equally good, the result is the first one that `kbest` returns.

    >>> graph = Hypergraph.from_arrays([0, 2, 3], [0, 0, 0, 2], [0, 0], goal=1)
    >>> viterbi(graph, [-1.0, -3.0, 0.0]).edges
    array([2, 0, 0], dtype=uint32)
    """
    return _core.graph_viterbi(graph, floats(scores))


def sample_derivations(graph: Hypergraph, scores: npt.ArrayLike, n: int, seed: int) -> list[GraphDerivation]:
    """Draw `n` derivations of the goal, each with a probability in proportion to e^score.

    The same seed gives the same derivations on every machine. If the goal has no derivation, this is an error.

    >>> import numpy as np
    >>> graph = Hypergraph.from_arrays([0, 2, 3], [0, 0, 0, 2], [0, 0], goal=1)
    >>> drawn = sample_derivations(graph, np.log([0.9, 0.1, 1.0]), n=1000, seed=1)
    >>> sum(derivation.edges.tolist() == [2, 0, 0] for derivation in drawn)
    816
    """
    return _core.graph_sample(graph, floats(scores), n, seed)


def prune(graph: Hypergraph, scores: npt.ArrayLike, margin: float) -> Mapped:
    """Drop the edges whose best derivation is more than `margin` (natural logarithm) worse than the best of all.

    Nodes and edges that are then in no derivation are dropped, too. The best derivation always stays. With
    `margin=inf`, only parts that are in no derivation above -inf are dropped.

    >>> builder = _core.Builder()
    >>> leaf, goal = builder.add_node(), builder.add_node()
    >>> edges = [builder.add_edge(leaf), builder.add_edge(goal, [leaf]), builder.add_edge(goal, [leaf, leaf])]
    >>> graph = builder.freeze(goal).graph
    >>> prune(graph, [-0.5, -1.0, -4.0], margin=3.0).edge_map
    array([0, 1], dtype=uint32)
    """
    return _core.graph_prune(graph, floats(scores), margin)
