"""Parallel corpora: declares their files, and reads their sentence pairs in one pass."""

from treeglot.corpus.files import Corpus
from treeglot.corpus.pairs import Needs

__all__ = ["Corpus", "Needs"]
