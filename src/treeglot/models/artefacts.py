"""What the folder of a model has beside rules, language model and weights."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from treeglot._core import HeadTable
from treeglot.base.files import write_binary
from treeglot.syntax import Dependency, heads

if TYPE_CHECKING:
    from collections.abc import Iterable

    from treeglot.lm import DependencyModel
    from treeglot.lm.dependency import Unit

SOURCE_HEADS = "source.heads"
DEPENDENCY_MODELS: dict[Unit, str] = {"words": "dlm.words.bin", "tags": "dlm.tags.bin"}


def load_artefacts(
    folder: Path, source_heads: bool, units: Iterable[Unit]
) -> tuple[HeadTable | None, tuple[DependencyModel, ...]]:
    """The head table of the source language and the dependency models of the target side, from a model's folder."""
    from treeglot.lm import load_dependency

    table = heads.load(folder / SOURCE_HEADS) if source_heads else None
    return table, tuple(load_dependency(folder / DEPENDENCY_MODELS[unit]) for unit in units)


def write_heads(name: str, folder: Path) -> None:
    """Write a head table, given by its name or file."""
    with write_binary(folder / SOURCE_HEADS) as stream:
        stream.write(heads.load(name).text.encode())


class DependencyModels:
    """The dependency models of trees that come one by one; sentences without a tree are left out."""

    def __init__(self, units: Iterable[Unit]) -> None:
        from treeglot._core import DependencyTrainer, DependencyUnit
        from treeglot.lm.train import FALLBACK

        self.trees = 0
        self._trainers = {unit: DependencyTrainer(DependencyUnit[unit], FALLBACK) for unit in units}

    def add(self, tree: Dependency) -> None:
        """One more tree."""
        if len(tree):
            self.trees += 1
            for trainer in self._trainers.values():
                trainer.add([tree])

    def write(self, folder: Path) -> None:
        """Estimate the models and write them into a folder."""
        from treeglot.lm import compile_dependency
        from treeglot.lm.train import DiscountWarning
        from treeglot.lm.train_dependency import estimate_dependency

        for unit, trainer in self._trainers.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DiscountWarning)  # usual over tags, and small data says so elsewhere
                compile_dependency(estimate_dependency(trainer, unit), folder / DEPENDENCY_MODELS[unit])
        self._trainers.clear()
