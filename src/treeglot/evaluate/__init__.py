"""Scores translations, and tests whether differences are significant."""

from treeglot.evaluate.metrics import Bleu, Chrf, Ter
from treeglot.evaluate.significance import paired_bootstrap, sign_test

__all__ = ["Bleu", "Chrf", "Ter", "paired_bootstrap", "sign_test"]
