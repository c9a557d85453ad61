"""The papers' analyses of corpora and systems."""

from treeglot.analyse.phrase_kinds import phrase_kinds

__all__ = ["phrase_kinds"]
