"""Language models over words, word classes and dependencies."""

from treeglot.lm.dependency import DependencyModel, compile_dependency, load_dependency
from treeglot.lm.ngram import NgramModel, compile_ngram, load_ngram
from treeglot.lm.train import train_ngram
from treeglot.lm.train_dependency import train_dependency

__all__ = [
    "DependencyModel",
    "NgramModel",
    "compile_dependency",
    "compile_ngram",
    "load_dependency",
    "load_ngram",
    "train_dependency",
    "train_ngram",
]
