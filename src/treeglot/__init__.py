"""Treeglot: syntax-based machine translation that can be trained on a laptop, inspected and corrected."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from treeglot.base.errors import FormatError, TreeglotError, UsageError
from treeglot.syntax import Alignment, Dependency, ParseForest, Tree

if TYPE_CHECKING:
    from treeglot.decode import Translation
    from treeglot.models import Model, load
    from treeglot.models.train import train

__all__ = [
    "Alignment",
    "Dependency",
    "FormatError",
    "Model",
    "ParseForest",
    "Translation",
    "Tree",
    "TreeglotError",
    "UsageError",
    "__version__",
    "load",
    "train",
]

__version__ = "0.2.0"

# Imported when they are first asked for: `import treeglot` stays quick.
_LATER = {
    "Model": "treeglot.models",
    "Translation": "treeglot.decode",
    "load": "treeglot.models",
    "train": "treeglot.models",
}
_FOLDERS = {"align", "analyse", "corpus", "decode", "evaluate", "experiment", "foreign", "graph", "lm", "models"}
_FOLDERS |= {"documents", "neural", "parse", "rules", "sample", "text", "tune"}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    if name in _FOLDERS:
        return import_module(f"treeglot.{name}")
    raise AttributeError(f"module 'treeglot' has no attribute {name!r}")
