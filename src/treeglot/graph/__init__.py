"""The hypergraph and the algorithms over it."""

from treeglot._core import NO_EDGE, NO_NODE, Builder, Hypergraph, Mapped
from treeglot.graph.rewrite import assemble, prune, restrict, topological_order, unite

__all__ = [
    "NO_EDGE",
    "NO_NODE",
    "Builder",
    "Hypergraph",
    "Mapped",
    "assemble",
    "prune",
    "restrict",
    "topological_order",
    "unite",
]
