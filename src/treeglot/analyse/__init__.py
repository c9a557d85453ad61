"""Analyses of corpora and systems, which reproduce tables of the papers."""

from treeglot.analyse.phrase_kinds import phrase_kinds

__all__ = ["phrase_kinds"]
