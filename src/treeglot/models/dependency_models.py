"""The dependency models of the target side, for every kind of model that builds trees."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from treeglot.models.kind import Work
from treeglot.syntax import Dependency

if TYPE_CHECKING:
    from treeglot.lm import DependencyModel
    from treeglot.lm.dependency import Unit

WORDS: Mapping[Unit, str] = {"words": "dlm.words.bin"}
WORDS_AND_TAGS: Mapping[Unit, str] = {**WORDS, "tags": "dlm.tags.bin"}


def compile_models(files: Mapping[Unit, str], trees: Iterable[Dependency], folder: Path, work: Work) -> None:
    """Train a model over each unit on trees, sentences without one left out, and write it into the model's folder."""
    from treeglot.lm import DiscountWarning, compile_dependency, train_dependency

    known = [tree for tree in trees if len(tree) > 0]
    for unit, file in files.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DiscountWarning)  # usual over tags, and small data says so elsewhere
            compile_dependency(train_dependency(known, unit), folder / file)
    work.report(f"dependency models of {len(known):,} trees compiled")


def load_models(files: Mapping[Unit, str], folder: Path) -> tuple[DependencyModel, ...]:
    """The models from a model's folder."""
    from treeglot.lm import load_dependency

    return tuple(load_dependency(folder / file) for file in files.values())
