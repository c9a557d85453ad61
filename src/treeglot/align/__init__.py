"""Word alignment: train, save and apply aligners, symmetrise their directions, and score alignments.

>>> source = [["das", "Haus"], ["das", "Buch"], ["ein", "Buch"]] * 20
>>> target = [["the", "house"], ["the", "book"], ["a", "book"]] * 20
>>> [str(links) for links in align_corpus(source, target)[:3]]
['0-0 1-1', '0-0 1-1', '0-0 1-1']
"""

from treeglot.align.aligner import Aligner
from treeglot.align.aligners import ALIGNERS
from treeglot.align.corpus import align_corpus
from treeglot.align.score import score_alignments

__all__ = ["ALIGNERS", "Aligner", "align_corpus", "score_alignments"]
