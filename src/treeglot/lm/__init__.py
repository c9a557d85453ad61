"""Language models over words and over dependencies."""

from treeglot.lm.dependency import DependencyModel, compile_dependency, load_dependency
from treeglot.lm.ngram import NgramModel, compile, load
from treeglot.lm.train import train
from treeglot.lm.train_dependency import train_dependency

__all__ = [
    "DependencyModel",
    "NgramModel",
    "compile",
    "compile_dependency",
    "load",
    "load_dependency",
    "train",
    "train_dependency",
]
