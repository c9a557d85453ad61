"""Parallel corpora: the one declaration of their files, and the sentence pairs that one pass over them gives."""

from treeglot.corpus.files import Corpus
from treeglot.corpus.pairs import Needs

__all__ = ["Corpus", "Needs"]
