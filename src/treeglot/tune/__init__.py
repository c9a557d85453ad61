"""Tunes the weights of models, with MERT, MIRA or PRO."""

from treeglot.tune import mert, mira, pro  # noqa: F401  (they register themselves)
from treeglot.tune.loop import LoopOptions, tune_weights
from treeglot.tune.method import METHODS

__all__ = ["METHODS", "LoopOptions", "tune_weights"]
