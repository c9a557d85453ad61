"""Trees, forests, dependencies and alignments, and the file formats that store them.

>>> tree = Tree.parse("(S (NP (PRP I)) (VP (VBP see) (NP (NNS stars))))")
>>> tree.words, tree.tags
(['I', 'see', 'stars'], ['PRP', 'VBP', 'NNS'])
>>> verb_phrase = tree.root.children[1]
>>> verb_phrase.label, verb_phrase.span, verb_phrase.words
('VP', (1, 3), ['see', 'stars'])

A forest packs many trees. Its scores are log probabilities of one of several kinds:

>>> other = Tree.parse("(S (NP (PRP I)) (VP (NN see) (NP (NNS stars))))")
>>> forest = ParseForest.from_kbest([(-1.0, tree), (-3.5, other)])
>>> forest.count(), forest.kind, forest.viterbi() == tree
(2.0, ScoreKind.posterior, True)
>>> [(round(score, 2), words.tags[1]) for score, words in forest.conditional().kbest(2)]
[(-0.08, 'VBP'), (-2.58, 'NN')]
>>> forest.prune(margin=2.0).count()
1.0

Dependencies have a head for every word, and alignments are sets of links:

>>> Dependency(["I", "see", "stars"], heads=[1, -1, 1]).heads
array([ 1, -1,  1], dtype=int32)
>>> alignment = Alignment.parse("0-0 1-2 2-1")
>>> (1, 2) in alignment, str(alignment.transpose())
(True, '0-0 1-2 2-1')
"""

from treeglot._core import Alignment, Dependency, ParseForest, Tree
from treeglot.syntax import heads
from treeglot.syntax.constituents import to_dependency
from treeglot.syntax.formats import FORMATS, read, write
from treeglot.syntax.notebook import attach

__all__ = [
    "FORMATS",
    "Alignment",
    "Dependency",
    "ParseForest",
    "Tree",
    "heads",
    "read",
    "to_dependency",
    "write",
]

attach()
