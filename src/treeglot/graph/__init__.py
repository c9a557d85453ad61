"""The hypergraph and the algorithms over it."""

from treeglot._core import NO_EDGE, NO_NODE, Builder, GraphDerivation, Hypergraph, Mapped
from treeglot.graph.derivations import KBest, Yields, derivation_score, derivation_yield, kbest, sample, viterbi
from treeglot.graph.json import LabelledGraph, from_json, to_json
from treeglot.graph.rewrite import assemble, prune, restrict, topological_order, unite
from treeglot.graph.sums import count, derivable, expectation, inside, outside, posteriors, reachable, useful

__all__ = [
    "NO_EDGE",
    "NO_NODE",
    "Builder",
    "GraphDerivation",
    "Hypergraph",
    "KBest",
    "LabelledGraph",
    "Mapped",
    "Yields",
    "assemble",
    "count",
    "derivable",
    "derivation_score",
    "derivation_yield",
    "expectation",
    "from_json",
    "inside",
    "kbest",
    "outside",
    "posteriors",
    "prune",
    "reachable",
    "restrict",
    "sample",
    "to_json",
    "topological_order",
    "unite",
    "useful",
    "viterbi",
]
