"""Aligns the sentences of documents that are parallel by paragraph, by their lengths and words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from treeglot import _core
from treeglot.align.aligner import Aligner, alignable

Sentences: TypeAlias = Sequence[Sequence[str]]
Paragraph: TypeAlias = tuple[Sentences, Sentences]

SURE = 0.9  # the probability of a bead that words are learnt from


@dataclass(frozen=True)
class Bead:
    """A group of at most two source and two target sentences that translate each other. A side can be empty."""

    source: range
    target: range
    probability: float  # that they belong together

    @property
    def dropped(self) -> str:
        """The reason why the bead is not a sentence pair, or an empty text if it is one."""
        return "" if self.source and self.target else "no target" if self.source else "no source"


def align_sentences(
    paragraphs: Iterable[Paragraph], aligner: Aligner | None = None, *, learn: bool = True, threads: int = 1
) -> list[list[Bead]]:
    """Find the beads (groups of matching sentences) of each paragraph pair, in order. Every sentence is in one bead.

    Lengths are scored after Gale and Church (1993), and words by the aligner. Without an aligner, one is trained on the
    pairs that are clear by length (Moore 2002), unless `learn` is off.

    >>> source = [["eins", "ist", "da"], ["zwei", "bleibt", "heute", "unübersetzt"], ["drei", "ist", "es"]]
    >>> target = [["one", "is", "there"], ["three", "it", "is"]]
    >>> [found] = align_sentences([(source, target)], learn=False)
    >>> [(list(bead.source), list(bead.target), bead.dropped) for bead in found]
    [([0], [0], ''), ([1], [], 'no target'), ([2], [1], '')]
    """
    texts = [([list(s) for s in source], [list(t) for t in target]) for source, target in paragraphs]
    lengths = [(_lengths(source), _lengths(target)) for source, target in texts]
    model = _core.fit_lengths(lengths)
    found = _beads(_core.align_sentences(lengths, [], model, None, threads))
    if aligner is None and learn:
        sure = [
            (source[bead.source[0]], target[bead.target[0]])
            for (source, target), beads in zip(texts, found, strict=True)
            for bead in beads
            if len(bead.source) == len(bead.target) == 1 and bead.probability >= SURE
        ]
        sure = [pair for pair in sure if alignable(*pair)]
        aligner = Aligner.train(sure, threads=threads) if sure else None
    if aligner is None:
        return found
    return _beads(_core.align_sentences(lengths, texts, model, aligner.core, threads))


def _lengths(sentences: Sentences) -> list[float]:
    return [float(max(sum(map(len, words)), 1)) for words in sentences]


def _beads(found: Iterable[Iterable[tuple[int, int, int, int, float]]]) -> list[list[Bead]]:
    return [[Bead(range(a, b), range(c, d), posterior) for a, b, c, d, posterior in beads] for beads in found]
