"""Extraction, counting and scoring of rules, and the compiled table."""

from treeglot.rules.engines import DuckDB, Engine, Statement
from treeglot.rules.extract import Extraction, HieroOptions, bitext, extract
from treeglot.rules.ghkm import RULE_SETS, GhkmOptions, RuleKinds, as_forest, extract_ghkm, rule_kinds
from treeglot.rules.head_dependents import HeadDependentsOptions, extract_dependents
from treeglot.rules.parsed import ParsedBitext, fuzzy_labels, parsed_bitext
from treeglot.rules.phrase_kinds import PhraseKinds, phrase_kinds
from treeglot.rules.score import score, table_schema
from treeglot.rules.sql import ScoreOptions, scoring
from treeglot.rules.string_dependency import target_structures
from treeglot.rules.table import Compiled, CompileOptions, compile_table, open_table
from treeglot.rules.tree_pair import TreePairOptions, extract_tree_pairs, rule_trees

__all__ = [
    "RULE_SETS",
    "CompileOptions",
    "Compiled",
    "DuckDB",
    "Engine",
    "Extraction",
    "GhkmOptions",
    "HeadDependentsOptions",
    "HieroOptions",
    "ParsedBitext",
    "PhraseKinds",
    "RuleKinds",
    "ScoreOptions",
    "Statement",
    "TreePairOptions",
    "as_forest",
    "bitext",
    "compile_table",
    "extract",
    "extract_dependents",
    "extract_ghkm",
    "extract_tree_pairs",
    "fuzzy_labels",
    "open_table",
    "parsed_bitext",
    "phrase_kinds",
    "rule_kinds",
    "rule_trees",
    "score",
    "scoring",
    "table_schema",
    "target_structures",
]
