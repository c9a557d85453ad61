"""Language models over words and over dependencies."""

from treeglot._core import EstimatedNgrams, NgramTrainReport
from treeglot.lm.train import DiscountWarning, Training, train

__all__ = ["DiscountWarning", "EstimatedNgrams", "NgramTrainReport", "Training", "train"]
