"""Lattices represent several readings of a sentence, as arcs with words and scores.

>>> lattice = Lattice([(0, 1, "dass", -2.0), (0, 1, "das", -0.1), (1, 2, "haus", 0.0), (0, 2, "dashaus", -3.0)])
>>> lattice.words
['dass', 'das', 'dashaus', 'haus']
>>> lattice.words_on([1, 3])
['das', 'haus']
>>> Lattice.parse("((('das',0.5,1),('dass',0.5,1),),(('haus',1.0,1),),)").nodes
3
"""

from treeglot._core import ArcScores, Lattice, LatticeForest

__all__ = ["ArcScores", "Lattice", "LatticeForest"]
