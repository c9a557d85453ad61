"""Rules: extracts, counts and scores them, and compiles them into a table for the decoder."""

from treeglot.rules import ghkm, head_dependents, hiero, tree_pair  # noqa: F401  (they register their extractors)
from treeglot.rules.extract import EXTRACTORS, extract
from treeglot.rules.score import score_rules
from treeglot.rules.table import compile_table, open_table

__all__ = ["EXTRACTORS", "compile_table", "extract", "open_table", "score_rules"]
