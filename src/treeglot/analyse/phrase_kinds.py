"""Counts phrase pairs by kind: all, those that nest, and those that are constituents (Chiang 2010, table 1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from treeglot._core import PhraseKindCounter, Tally
from treeglot.corpus.pairs import Pair
from treeglot.rules.collect import collect
from treeglot.syntax.draw.bars import bars, columns, html_table

KINDS: Mapping[str, str] = {
    "string_to_string": "string-to-string",
    "nested": "max nested",
    "tree_to_string": "tree-to-string",
    "string_to_tree": "string-to-tree",
    "tree_to_tree": "tree-to-tree",
}


@dataclass(frozen=True)
class PhraseKinds:
    """Counts of phrase pairs without unaligned words at their ends."""

    pairs: int  # sentence pairs
    string_to_string: int  # all
    nested: int  # the most that do not cross: all that any one pair of trees could have
    tree_to_string: int  # the source side is a constituent
    string_to_tree: int  # the target side is
    tree_to_tree: int  # both are

    def share(self, kind: str) -> float:
        """Return the number of phrase pairs of a kind, in percent of the largest nested set.

        >>> PhraseKinds(1, 10, 5, 4, 4, 3).share("tree_to_tree")
        60.0
        """
        number: int = getattr(self, kind)
        return 100 * number / self.nested if self.nested else 0.0

    def text(self) -> str:
        """Format the counts as a table for the terminal."""
        return columns(self._rows())

    def _rows(self) -> list[list[str]]:
        rows = [["kind", "phrase pairs", "% of max nested"]]
        return rows + [[name, f"{getattr(self, kind):,}", f"{self.share(kind):.1f}"] for kind, name in KINDS.items()]

    def _repr_html_(self) -> str:
        return html_table(self._rows())

    def as_json(self) -> dict[str, Any]:
        """Return the counts as values for JSON."""
        return asdict(self) | {"percent_of_nested": {kind: self.share(kind) for kind in KINDS}}

    def plot(self) -> str:
        """Draw the counts as bars, in SVG."""
        values = [[int(getattr(self, kind))] for kind in KINDS]
        return bars("Phrase pairs by kind", list(KINDS.values()), [f"{self.pairs:,} sentence pairs"], values, "")


def phrase_kinds(pairs: Iterable[Pair], max_phrase: int = -1, threads: int = 1) -> PhraseKinds:
    """Count the phrase pairs of sentence pairs with trees: all, the most that nest, and those that are constituents.

    Phrases have up to `max_phrase` source words; -1 means no limit.

    >>> from treeglot.syntax import Alignment, Tree
    >>> links = Alignment.parse("0-0 1-1 2-2")
    >>> trees = Tree.parse("(S (A a) (B (C b) (D c)))"), Tree.parse("(S (A (C x) (D y)) (B z))")
    >>> pair = Pair(1, ["a", "b", "c"], ["x", "y", "z"], links, source_tree=trees[0], target_tree=trees[1])
    >>> print(phrase_kinds([pair]).text())
    kind              phrase pairs  % of max nested
    string-to-string             6            120.0
    max nested                   5            100.0
    tree-to-string               5            100.0
    string-to-tree               5            100.0
    tree-to-tree                 4             80.0
    """
    read = collect(pairs)
    counter = PhraseKindCounter(read.bitext, read.source_trees, read.target_trees, max_phrase)
    counter.extract(0, Tally(), 0, threads)  # there are no rules: no memory
    return PhraseKinds(**counter.counts)
