"""Scores of translations, and whether a difference between two of them means anything."""

from treeglot.evaluate.metrics import Bleu, Chrf, Ter
from treeglot.evaluate.report import score_systems
from treeglot.evaluate.significance import paired_bootstrap, sign_test

__all__ = ["Bleu", "Chrf", "Ter", "paired_bootstrap", "score_systems", "sign_test"]
