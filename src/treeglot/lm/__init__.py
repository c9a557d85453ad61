"""Language models over words and over dependencies."""

from treeglot._core import EstimatedNgrams, NgramTrainReport
from treeglot.lm.train import DiscountWarning, Training, train
from treeglot.lm.train_dependency import DependencyTraining, train_dependency

__all__ = [
    "DependencyTraining",
    "DiscountWarning",
    "EstimatedNgrams",
    "NgramTrainReport",
    "Training",
    "train",
    "train_dependency",
]
