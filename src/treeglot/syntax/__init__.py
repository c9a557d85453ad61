"""Trees, forests, dependencies and alignments, and the formats they are kept in."""

from treeglot._core import Alignment, Dependency, ParseForest, ScoreKind, Tree, TreeNode

__all__ = ["Alignment", "Dependency", "ParseForest", "ScoreKind", "Tree", "TreeNode"]
