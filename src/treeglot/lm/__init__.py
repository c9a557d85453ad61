"""Language models over words and over dependencies."""

from treeglot._core import ChartState, EstimatedNgrams, NgramState, NgramTrainReport
from treeglot.lm.ngram import LN10, NgramModel, Perplexity, WordScore, compile, load
from treeglot.lm.train import DiscountWarning, Training, train
from treeglot.lm.train_dependency import DependencyTraining, train_dependency

__all__ = [
    "LN10",
    "ChartState",
    "DependencyTraining",
    "DiscountWarning",
    "EstimatedNgrams",
    "NgramModel",
    "NgramState",
    "NgramTrainReport",
    "Perplexity",
    "Training",
    "WordScore",
    "compile",
    "load",
    "train",
    "train_dependency",
]
