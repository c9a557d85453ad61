"""Models: what a trained system consists of, and the declarations of the kinds there are."""

from treeglot.models.kind import Kind
from treeglot.models.kinds import KINDS
from treeglot.models.model import Model, load
from treeglot.models.train import train

__all__ = ["KINDS", "Kind", "Model", "load", "train"]
