"""Extraction, counting and scoring of rules, and the compiled table."""

from treeglot.rules.engines import DuckDB, Engine, Statement
from treeglot.rules.extract import Extraction, HieroOptions, bitext, extract
from treeglot.rules.score import score, table_schema
from treeglot.rules.sql import ScoreOptions, scoring

__all__ = [
    "DuckDB",
    "Engine",
    "Extraction",
    "HieroOptions",
    "ScoreOptions",
    "Statement",
    "bitext",
    "extract",
    "score",
    "scoring",
    "table_schema",
]
