"""The hypergraph and the algorithms over it."""

from treeglot._core import Builder, Hypergraph
from treeglot.graph.derivations import kbest, sample, viterbi
from treeglot.graph.json import from_json, to_json
from treeglot.graph.rewrite import prune, unite
from treeglot.graph.sums import count, inside, outside, posteriors

__all__ = [
    "Builder",
    "Hypergraph",
    "count",
    "from_json",
    "inside",
    "kbest",
    "outside",
    "posteriors",
    "prune",
    "sample",
    "to_json",
    "unite",
    "viterbi",
]
