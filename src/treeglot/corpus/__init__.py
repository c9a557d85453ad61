"""Parallel corpora: the one declaration of their files, and the sentence pairs that one pass over them gives."""

from treeglot.corpus.files import Corpus, SourceFiles
from treeglot.corpus.pairs import Needs, Pair, PairCounts, Pairs
from treeglot.corpus.parses import as_forest
from treeglot.corpus.spill import Spill

__all__ = ["Corpus", "Needs", "Pair", "PairCounts", "Pairs", "SourceFiles", "Spill", "as_forest"]
