"""Scores of translations, and whether a difference between two of them means anything."""

from treeglot.evaluate.metrics import Bleu, Chrf, Ter
from treeglot.evaluate.significance import paired_bootstrap, sign_test

__all__ = ["Bleu", "Chrf", "Ter", "paired_bootstrap", "sign_test"]
