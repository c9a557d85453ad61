"""Models: what a trained system consists of, and the declarations of the kinds there are."""

from treeglot.models.model import Model, load

__all__ = ["Model", "load"]
