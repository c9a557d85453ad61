"""Compares trees by labelled brackets, as EVALB does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from treeglot import _core
from treeglot._core import BracketCounts, ParseForest, Tree
from treeglot.base.options import Options, option

# What EVALB's usual parameter file (COLLINS.prm) leaves out and takes for the same.
LEFT_OUT = ("TOP", "ROOT", "S1", "-NONE-", ",", ":", "``", "''", ".")
EQUAL = ("ADVP=PRT",)


@dataclass(frozen=True)
class BracketOptions(Options):
    """Options that define which brackets count."""

    left_out: tuple[str, ...] = option(LEFT_OUT, "labels and tags of words that do not count")
    equal: tuple[str, ...] = option(EQUAL, "A=B: label A is taken for B")

    def core(self) -> _core.BracketOptions:
        """Convert the options to the core's type."""
        pairs = [tuple(pair.split("=", 1)) for pair in self.equal]
        return _core.BracketOptions(list(self.left_out), [(pair[0], pair[-1]) for pair in pairs])


def compare(
    gold: Iterable[Tree], test: Iterable[Tree | ParseForest], options: BracketOptions | None = None
) -> BracketCounts:
    """Count the brackets that trees and gold trees share. For a forest, count those of its best tree (the oracle).

    >>> gold = Tree.parse("(S (NP (DT the) (NN dog)) (VP (VBZ barks)))")
    >>> test = Tree.parse("(S (NP (DT the)) (VP (NN dog) (VBZ barks)))")
    >>> counts = compare([gold], [test])
    >>> counts.matched, counts.gold, counts.test
    (1, 3, 3)
    >>> compare([gold], [ParseForest.from_kbest([(0.0, gold), (0.0, test)])]).f1
    1.0
    """
    core = (options or BracketOptions()).core()
    trees: list[tuple[Tree, Tree]] = []
    forests: list[tuple[Tree, ParseForest]] = []
    for wanted, found in zip(gold, test, strict=True):
        if isinstance(found, Tree):
            trees.append((wanted, found))
        else:
            forests.append((wanted, found))
    return _core.count_brackets(trees, core) + _core.count_oracle(forests, core)


def summary(counts: BracketCounts, tags: bool = True) -> str:
    """Format the usual figures, one per line. Figures for tags are optional, because forests have none."""
    lines = [
        f"sentences   {counts.sentences:,}, without a tree {counts.missing:,}",
        f"precision   {100 * counts.precision:.2f} ({counts.matched:,} of {counts.test:,} brackets)",
        f"recall      {100 * counts.recall:.2f} ({counts.matched:,} of {counts.gold:,} brackets)",
        f"F1          {100 * counts.f1:.2f}",
        f"exact match {100 * counts.exact / max(1, counts.sentences):.2f} ({counts.exact:,} sentences)",
    ]
    if tags:
        lines.append(f"tags        {100 * counts.right_tags / max(1, counts.words):.2f}")
    return "\n".join(lines)
