"""Scores of translations, and whether a difference between two of them means anything."""

from treeglot._core import SignTest
from treeglot.evaluate.dependencies import Comparison, compare_dependencies
from treeglot.evaluate.metrics import Bleu, Chrf, Metric, References, Statistics, Ter
from treeglot.evaluate.significance import Bootstrap, Interval, paired_bootstrap, sign_test

__all__ = [
    "Bleu",
    "Bootstrap",
    "Chrf",
    "Comparison",
    "Interval",
    "Metric",
    "References",
    "SignTest",
    "Statistics",
    "Ter",
    "compare_dependencies",
    "paired_bootstrap",
    "sign_test",
]
