"""Models: what a trained system consists of, and the declarations of the kinds there are."""

from treeglot.models.kind import Corpus, Kind
from treeglot.models.kinds import KINDS, find_kind
from treeglot.models.model import Model, load
from treeglot.models.train import train

__all__ = ["KINDS", "Corpus", "Kind", "Model", "find_kind", "load", "train"]
