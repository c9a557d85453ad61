"""Extraction, counting and scoring of rules, and the compiled table."""

from treeglot.rules.collect import Collected, FuzzyOptions, StructureOptions, collect, extract_pairs, fuzzy_labels
from treeglot.rules.engines import DuckDB, Engine, Statement
from treeglot.rules.extract import Extraction, HieroOptions, bitext, extract
from treeglot.rules.ghkm import RULE_SETS, GhkmOptions, RuleKinds, extract_ghkm, rule_kinds
from treeglot.rules.head_dependents import HeadDependentsOptions, extract_dependents
from treeglot.rules.score import score, table_schema
from treeglot.rules.sql import ScoreOptions, scoring
from treeglot.rules.string_dependency import target_structures
from treeglot.rules.table import Compiled, CompileOptions, compile_table, open_table
from treeglot.rules.tree_pair import TreePairOptions, extract_tree_pairs, rule_trees

__all__ = [
    "RULE_SETS",
    "Collected",
    "CompileOptions",
    "Compiled",
    "DuckDB",
    "Engine",
    "Extraction",
    "FuzzyOptions",
    "GhkmOptions",
    "HeadDependentsOptions",
    "HieroOptions",
    "RuleKinds",
    "ScoreOptions",
    "Statement",
    "StructureOptions",
    "TreePairOptions",
    "bitext",
    "collect",
    "compile_table",
    "extract",
    "extract_dependents",
    "extract_ghkm",
    "extract_pairs",
    "extract_tree_pairs",
    "fuzzy_labels",
    "open_table",
    "rule_kinds",
    "rule_trees",
    "score",
    "scoring",
    "table_schema",
    "target_structures",
]
