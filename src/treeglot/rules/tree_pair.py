"""Extracts rules from pairs of subtrees (exact tree-to-tree). Labels are part of a rule, and trees are notes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from treeglot._core import TreePairExtractor
from treeglot.base.options import Options, option
from treeglot.corpus.pairs import Pair
from treeglot.rules.collect import collect
from treeglot.rules.extract import Extracting, extractor


@dataclass(frozen=True)
class TreePairOptions(Options):
    """Options that select the rules of a pair of trees. The value -1 removes a limit."""

    max_frontier: int = option(7, "frontier nodes on a rule's source side (Chiang 2010, 4.1)", least=1, unlimited=True)
    max_rules: int = option(
        100, "rules of one pair of nodes; those with fewer frontier nodes are taken first", least=1, unlimited=True
    )


@extractor("tree-pairs", TreePairOptions)
def tree_pairs(pairs: Iterable[Pair], options: TreePairOptions, threads: int) -> Extracting:
    """Extract rules from the pairs of subtrees that are phrase pairs."""
    found = collect(pairs)
    core = TreePairExtractor(found.bitext, found.source_trees, found.target_trees, options)
    return Extracting(core, labels=True, keyed=True)
