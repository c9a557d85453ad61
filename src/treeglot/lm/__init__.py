"""Language models over words and over dependencies."""

from treeglot._core import (
    ChartState,
    DependencyPiece,
    DependencyState,
    DependencyTally,
    EstimatedNgrams,
    NgramState,
    NgramTrainReport,
    check_rule_heads,
    join_pieces,
)
from treeglot.lm.dependency import DependencyModel, compile_dependency, is_dependency_model, load_dependency
from treeglot.lm.ngram import LN10, NgramModel, Perplexity, WordScore, compile, load
from treeglot.lm.train import DiscountWarning, Training, train
from treeglot.lm.train_dependency import DependencyTraining, train_dependency

__all__ = [
    "LN10",
    "ChartState",
    "DependencyModel",
    "DependencyPiece",
    "DependencyState",
    "DependencyTally",
    "DependencyTraining",
    "DiscountWarning",
    "EstimatedNgrams",
    "NgramModel",
    "NgramState",
    "NgramTrainReport",
    "Perplexity",
    "Training",
    "WordScore",
    "check_rule_heads",
    "compile",
    "compile_dependency",
    "is_dependency_model",
    "join_pieces",
    "load",
    "load_dependency",
    "train",
    "train_dependency",
]
