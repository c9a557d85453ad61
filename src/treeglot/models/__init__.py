"""Models: what a trained system consists of, and the declarations of the kinds there are."""

from treeglot.models.kind import Corpus, Kind
from treeglot.models.kinds import KINDS, find_kind
from treeglot.models.model import Model, load
from treeglot.models.rewrites import Rewrites, count_rewrites, rewrites_plot, rewrites_text
from treeglot.models.train import train

__all__ = [
    "KINDS",
    "Corpus",
    "Kind",
    "Model",
    "Rewrites",
    "count_rewrites",
    "find_kind",
    "load",
    "rewrites_plot",
    "rewrites_text",
    "train",
]
