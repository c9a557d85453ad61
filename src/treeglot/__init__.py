"""Treeglot: syntax-based machine translation that can be trained on a laptop, inspected and corrected."""

from treeglot.base.errors import FormatError, TreeglotError, UsageError
from treeglot.syntax import Alignment, Dependency, ParseForest, Tree

__all__ = [
    "Alignment",
    "Dependency",
    "FormatError",
    "ParseForest",
    "Tree",
    "TreeglotError",
    "UsageError",
    "__version__",
]

__version__ = "0.1.0"
