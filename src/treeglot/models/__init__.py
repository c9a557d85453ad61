"""Models: the folders of trained systems, and the declarations of all kinds of models."""

from treeglot.models.kind import Kind
from treeglot.models.kinds import KINDS
from treeglot.models.model import Model, load
from treeglot.models.train import train

__all__ = ["KINDS", "Kind", "Model", "load", "train"]
