"""The hypergraph, and the algorithms that work on it."""

from treeglot._core import Builder, Hypergraph
from treeglot.graph.derivations import kbest, prune, sample_derivations, viterbi
from treeglot.graph.sums import count, inside, outside, posteriors

__all__ = [
    "Builder",
    "Hypergraph",
    "count",
    "inside",
    "kbest",
    "outside",
    "posteriors",
    "prune",
    "sample_derivations",
    "viterbi",
]
