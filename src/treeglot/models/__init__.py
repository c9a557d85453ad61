"""Models: what a trained system consists of, and the declarations of the kinds there are."""

from treeglot.corpus import Corpus
from treeglot.models.kind import Kind
from treeglot.models.kinds import KINDS, find_kind
from treeglot.models.model import Model, load
from treeglot.models.train import train

__all__ = [
    "KINDS",
    "Corpus",
    "Kind",
    "Model",
    "find_kind",
    "load",
    "train",
]
