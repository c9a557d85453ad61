"""Extraction, counting and scoring of rules, and the compiled table."""

from treeglot.rules.engines import DuckDB, Engine, Statement
from treeglot.rules.extract import Extraction, HieroOptions, bitext, extract
from treeglot.rules.ghkm import RULE_SETS, GhkmOptions, extract_ghkm
from treeglot.rules.grammar import read_grammar, write_grammar
from treeglot.rules.score import score, table_schema
from treeglot.rules.sql import ScoreOptions, scoring
from treeglot.rules.table import Compiled, CompileOptions, compile_table, open_table

__all__ = [
    "RULE_SETS",
    "CompileOptions",
    "Compiled",
    "DuckDB",
    "Engine",
    "Extraction",
    "GhkmOptions",
    "HieroOptions",
    "ScoreOptions",
    "Statement",
    "bitext",
    "compile_table",
    "extract",
    "extract_ghkm",
    "open_table",
    "read_grammar",
    "score",
    "scoring",
    "table_schema",
    "write_grammar",
]
