"""Word alignment: both directions by an aligner, one alignment from the two, and how good it is.

>>> source = [["das", "Haus"], ["das", "Buch"], ["ein", "Buch"]] * 20
>>> target = [["the", "house"], ["the", "book"], ["a", "book"]] * 20
>>> [str(links) for links in align(source, target)[:3]]
['0-0 1-1', '0-0 1-1', '0-0 1-1']
"""

from treeglot.align.aligners import ALIGNERS, Aligner
from treeglot.align.corpus import align, align_directions
from treeglot.align.score import AlignmentScore, score
from treeglot.align.symmetrize import SYMMETRIZATIONS, symmetrize

__all__ = [
    "ALIGNERS",
    "SYMMETRIZATIONS",
    "Aligner",
    "AlignmentScore",
    "align",
    "align_directions",
    "score",
    "symmetrize",
]
