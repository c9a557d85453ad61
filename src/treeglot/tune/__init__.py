"""Tuners that find a model's weights: MERT, MIRA and PRO."""

from treeglot.tune import mert, mira, pro  # noqa: F401  (they register themselves)
from treeglot.tune.loop import LoopOptions, tune_weights
from treeglot.tune.method import METHODS

__all__ = ["METHODS", "LoopOptions", "tune_weights"]
