"""Extraction, counting and scoring of rules, and the compiled table."""

from treeglot.rules.collect import Collected, collect
from treeglot.rules.engines import DuckDB, Engine, Statement
from treeglot.rules.extract import EXTRACTORS, Extraction, extract, extractor
from treeglot.rules.ghkm import RULE_SETS, GhkmOptions, RuleKinds, rule_kinds
from treeglot.rules.head_dependents import HeadDependentsOptions
from treeglot.rules.hiero import FuzzyOptions, HieroOptions, StructureOptions
from treeglot.rules.score import score, table_schema
from treeglot.rules.sql import ScoreOptions, scoring
from treeglot.rules.table import Compiled, CompileOptions, compile_table, open_table
from treeglot.rules.tree_pair import TreePairOptions, rule_trees

__all__ = [
    "EXTRACTORS",
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
    "collect",
    "compile_table",
    "extract",
    "extractor",
    "open_table",
    "rule_kinds",
    "rule_trees",
    "score",
    "scoring",
    "table_schema",
]
