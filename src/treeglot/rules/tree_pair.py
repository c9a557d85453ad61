"""Exact tree-to-tree extraction: rules from pairs of subtrees, their labels part of them, their trees kept beside."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from treeglot._core import TreePairCounts, TreePairExtractor
from treeglot.base.errors import UsageError
from treeglot.base.files import PathLike
from treeglot.base.options import option
from treeglot.rules.extract import MEMORY, NO_LIMIT, Extraction, write_extraction

if TYPE_CHECKING:
    from treeglot.rules.collect import Collected

COUNTED = ("pairs", "unlinked", "unparsed", "nodes", "limited", "rules")
VARIABLE = re.compile(r"\[.+,[0-9]+\]", re.DOTALL)  # a word that looks like one has a backslash before it


@dataclasses.dataclass(frozen=True)
class TreePairOptions:
    """Which rules are taken from a pair of trees. A limit of -1 is no limit."""

    max_frontier: int = option(7, "frontier nodes on a rule's source side (Chiang 2010, 4.1)")
    max_rules: int = option(100, "rules of one pair of nodes; those with fewer frontier nodes are taken first")

    def limits(self) -> tuple[int, int]:
        """As the core takes them."""
        for name, value in dataclasses.asdict(self).items():
            if value < 1 and value != -1:
                raise UsageError(f"{name} is {value}; expected 1 or more, or -1 for no limit")
        most, rules = (NO_LIMIT if value == -1 else value for value in (self.max_frontier, self.max_rules))
        return most, rules


def extract_tree_pairs(
    parsed: Collected,
    folder: PathLike,
    options: TreePairOptions | None = None,
    *,
    threads: int = 1,
    memory: int = MEMORY,
) -> Extraction:
    """Take the rules of pairs of trees, count them and write them to `folder`, as `extract` does."""
    options = options or TreePairOptions()
    extractor = TreePairExtractor(parsed.pairs, parsed.source_trees, parsed.target_trees, *options.limits())
    counts = TreePairCounts()
    return write_extraction(
        parsed.pairs,
        folder,
        lambda at, tally: extractor.extract(at, tally, memory, threads, counts),
        lambda: {
            "extractor": "tree-pairs",
            "options": dataclasses.asdict(options),
            "counts": {name: getattr(counts, name) for name in COUNTED} | dict(parsed.counts),
        },
        label_texts=lambda: extractor.texts,
        labels=True,
        threads=threads,
    )


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
