"""Parallel corpora: a declaration of their files, and their sentence pairs, read in one pass."""

from treeglot.corpus.files import Corpus
from treeglot.corpus.pairs import Needs

__all__ = ["Corpus", "Needs"]
