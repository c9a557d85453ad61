"""Word alignment: both directions by an aligner, one alignment from the two, and how good it is.

>>> source = [["das", "Haus"], ["das", "Buch"], ["ein", "Buch"]] * 20
>>> target = [["the", "house"], ["the", "book"], ["a", "book"]] * 20
>>> [str(links) for links in align(source, target)[:3]]
['0-0 1-1', '0-0 1-1', '0-0 1-1']
"""

from treeglot.align.aligners import ALIGNERS
from treeglot.align.corpus import align
from treeglot.align.score import score
from treeglot.align.symmetrize import symmetrize

__all__ = ["ALIGNERS", "align", "score", "symmetrize"]
