"""Exact tree-to-tree extraction: rules from pairs of subtrees, their labels part of them, their trees kept beside."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from treeglot._core import TreePairExtractor
from treeglot.base.options import Options, option
from treeglot.corpus.pairs import Pair
from treeglot.rules.collect import collect
from treeglot.rules.extract import Extracting, extractor

VARIABLE = re.compile(r"\[.+,[0-9]+\]", re.DOTALL)  # a word that looks like one has a backslash before it


@dataclass(frozen=True)
class TreePairOptions(Options):
    """Which rules are taken from a pair of trees. A limit of -1 is no limit."""

    max_frontier: int = option(7, "frontier nodes on a rule's source side (Chiang 2010, 4.1)", least=1, unlimited=True)
    max_rules: int = option(
        100, "rules of one pair of nodes; those with fewer frontier nodes are taken first", least=1, unlimited=True
    )


@extractor("tree-pairs", TreePairOptions)
def tree_pairs(pairs: Iterable[Pair], options: TreePairOptions, threads: int) -> Extracting:
    """Rules of pairs of subtrees that are phrase pairs."""
    found = collect(pairs)
    return Extracting(TreePairExtractor(found.bitext, found.source_trees, found.target_trees, options), labels=True)


def rule_trees(source: str, target: str, labels: str) -> tuple[str, str]:
    """The two trees of a rule of an exact tree-to-tree table, from its columns, in brackets.

    >>> rule_trees("在 [NP~NP,1] 中", "in [NP~NP,1]", "PP PP NP NP (PP (P * ) (LCP * (LC * ) ) ) (PP (IN * ) * )")
    ('(PP (P 在) (LCP [NP~NP,1] (LC 中)))', '(PP (IN in) [NP~NP,1])')
    """
    sides = source.split(" "), target.split(" ")
    tokens = iter(labels.split(" ")[2 + 2 * sum(VARIABLE.fullmatch(s) is not None for s in sides[0]) :])
    first, second = (_tree(tokens, iter(side)) for side in sides)
    return first, second


def _tree(tokens: Iterator[str], symbols: Iterator[str]) -> str:
    """The next tree of `tokens`; a star is the next of `symbols`."""
    out, depth = "", 0
    for token in tokens:
        if token == ")":
            out += token
            depth -= 1
        else:
            out += " " if out else ""
            out += next(symbols) if token == "*" else token
            depth += token.startswith("(")
        if depth == 0:
            break
    return out
