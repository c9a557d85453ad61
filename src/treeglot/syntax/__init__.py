"""Trees, forests, dependencies and alignments, and the formats they are kept in."""

from treeglot._core import Alignment, Dependency, HeadTable, ParseForest, ScoreKind, Tree, TreeNode
from treeglot.syntax import heads
from treeglot.syntax.constituents import to_dependencies, to_dependency
from treeglot.syntax.notebook import attach
from treeglot.syntax.structure import Structure, structure, structures

__all__ = [
    "Alignment",
    "Dependency",
    "HeadTable",
    "ParseForest",
    "ScoreKind",
    "Structure",
    "Tree",
    "TreeNode",
    "heads",
    "structure",
    "structures",
    "to_dependencies",
    "to_dependency",
]

attach()
