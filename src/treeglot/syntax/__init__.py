"""Trees, forests, dependencies and alignments, and the formats they are kept in."""

from treeglot._core import Alignment, Dependency, HeadTable, ParseForest, ScoreKind, Tree, TreeNode
from treeglot.syntax import heads
from treeglot.syntax.constituents import to_dependencies, to_dependency
from treeglot.syntax.formats import (
    FORMATS,
    Format,
    Records,
    find_format,
    read,
    read_alignments,
    read_dependencies,
    read_forests,
    read_parallel,
    read_text,
    read_trees,
    write,
)
from treeglot.syntax.notebook import attach
from treeglot.syntax.structure import Structure, structure, structures

__all__ = [
    "FORMATS",
    "Alignment",
    "Dependency",
    "Format",
    "HeadTable",
    "ParseForest",
    "Records",
    "ScoreKind",
    "Structure",
    "Tree",
    "TreeNode",
    "find_format",
    "heads",
    "read",
    "read_alignments",
    "read_dependencies",
    "read_forests",
    "read_parallel",
    "read_text",
    "read_trees",
    "structure",
    "structures",
    "to_dependencies",
    "to_dependency",
    "write",
]

attach()
