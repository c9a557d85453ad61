"""Models: the files of a trained system, and the declarations of all kinds."""

from treeglot.models.kind import Kind
from treeglot.models.kinds import KINDS
from treeglot.models.model import Model, load
from treeglot.models.train import train

__all__ = ["KINDS", "Kind", "Model", "load", "train"]
