"""The papers' analyses of corpora and systems."""

from treeglot.analyse.phrase_kinds import PhraseKinds, phrase_kinds
from treeglot.analyse.rewrites import Rewrites, count_rewrites, rewrites_plot, rewrites_text

__all__ = ["PhraseKinds", "Rewrites", "count_rewrites", "phrase_kinds", "rewrites_plot", "rewrites_text"]
