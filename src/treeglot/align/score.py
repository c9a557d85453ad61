"""Compares alignments with gold alignments, by precision, recall, F1 and alignment error rate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from treeglot.syntax import Alignment


@dataclass(frozen=True)
class AlignmentScore:
    """Counts of links over a corpus, and the precision, recall, F1 and error rate that follow from them."""

    links: int  # of the alignments
    sure: int  # gold links that must be there
    found: int  # links that are sure
    possible: int  # links that are sure or possible

    @property
    def precision(self) -> float:
        """The share of the found links that are possible gold links."""
        return self.possible / self.links if self.links else 0.0

    @property
    def recall(self) -> float:
        """The share of the sure gold links that were found."""
        return self.found / self.sure if self.sure else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    @property
    def aer(self) -> float:
        """The alignment error rate (Och and Ney 2003)."""
        both = self.links + self.sure
        return 1 - (self.found + self.possible) / both if both else 0.0

    def _repr_html_(self) -> str:
        from treeglot.syntax.draw.bars import html_table

        figures = (self.precision, self.recall, self.f1, self.aer)
        rows = [["links", "precision", "recall", "F1", "AER"], [f"{self.links:,}", *(f"{x:.4f}" for x in figures)]]
        return html_table(rows)


def score_alignments(
    alignments: Iterable[Alignment], gold: Iterable[Alignment], possible: Iterable[Alignment] | None = None
) -> AlignmentScore:
    """Compare alignments with gold alignments. Links in `possible` do not count as errors (default: the gold links).

    >>> judged = score_alignments([Alignment.parse("0-0 1-2")], [Alignment.parse("0-0 1-1")])
    >>> judged.precision, judged.recall, judged.aer
    (0.5, 0.5, 0.5)
    """
    sure = list(gold)
    links = wanted = found = allowed = 0
    for given, must, may in zip(alignments, sure, sure if possible is None else possible, strict=True):
        a, s = set(given), set(must)
        links += len(a)
        wanted += len(s)
        found += len(a & s)
        allowed += len(a & (s | set(may)))
    return AlignmentScore(links, wanted, found, allowed)
