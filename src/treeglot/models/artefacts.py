"""Writes and loads the files of a model besides its rules, language model and weights."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeglot._core import HeadTable
from treeglot.base.files import PathLike, write_binary
from treeglot.decode.context import ContextCounts
from treeglot.syntax import Dependency, heads

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from treeglot.corpus.pairs import Pair
    from treeglot.lm import DependencyModel
    from treeglot.lm.train_dependency import Conditioning, Unit
    from treeglot.text import TextPipeline

PARSER, TARGET_PARSER = "parser", "target.parser"
ALIGNER = "aligner"
SOURCE_HEADS = "source.heads"
CONTEXT = "context.json"  # the words of context features
LEXICAL = "lexical"  # the name of a lexical network
JOINED = "parts"  # the folder with the parts of a joint model
DEPENDENCY_MODELS: dict[Unit, str] = {"words": "dlm.words.bin", "tags": "dlm.tags.bin"}


def load_artefacts(
    folder: Path, source_heads: bool, units: Iterable[Unit]
) -> tuple[HeadTable | None, tuple[DependencyModel, ...]]:
    """Load the source head table and the target dependency models of a model's folder."""
    from treeglot.lm import load_dependency

    table = heads.load(folder / SOURCE_HEADS) if source_heads else None
    return table, tuple(load_dependency(folder / DEPENDENCY_MODELS[unit]) for unit in units)


def write_heads(name: str, folder: Path) -> None:
    """Write a head table into a model's folder. The table is given by its name or its file."""
    with write_binary(folder / SOURCE_HEADS) as stream:
        stream.write(heads.load(name).text.encode())


def copy_parser(parser: PathLike, folder: Path, name: str = PARSER) -> str:
    """Copy the files of a parser into a model's folder. Return the entry for it in `model.toml`."""
    from treeglot.parse.grammar import joined_folders, load_grammar

    adapter, colon, model = os.fspath(parser).rpartition(":")
    given = Path(model)
    if not colon:
        for grammar in joined_folders(given):
            load_grammar(grammar)  # refuses what is none
    if given.is_dir():
        shutil.copytree(given, folder / name)
    elif given.is_file():
        shutil.copyfile(given, folder / name)
    else:  # a name that the adapter's package knows
        return os.fspath(parser)
    return f"{adapter}{colon}{name}"


def copy_aligner(aligner: PathLike, folder: Path) -> None:
    """Copy a saved aligner into a model's folder, so that the model can learn from more sentence pairs."""
    from treeglot.align.aligner import FACTS, MODEL, Aligner

    Aligner.load(aligner)  # refuses what is none
    (folder / ALIGNER).mkdir()
    for name in (MODEL, FACTS):
        shutil.copyfile(Path(aligner, name), folder / ALIGNER / name)


def write_training(folder: Path, pairs: Mapping[str, int | str], options: Any, text: TextPipeline | None) -> None:
    """Write `training.json`. It records how the model was made, and the number and digest of its sentence pairs."""
    from treeglot import __version__

    languages = None if text is None else [text.source.language.code, text.target.language.code]
    facts = {"version": __version__, "languages": languages, **pairs, "options": dataclasses.asdict(options)}
    with write_binary(folder / "training.json") as stream:
        stream.write(json.dumps(facts, indent=1, default=str).encode() + b"\n")


class ContextFile:
    """Counts words for context features while the pairs are read."""

    def __init__(self, words: int) -> None:
        """Create empty counts. `words` is the number of words of each side, and 0 turns the features off."""
        self._words = words
        self._counts = ContextCounts()

    def count(self, pairs: Iterator[Pair]) -> Iterator[Pair]:
        """Yield the pairs unchanged, and count their words if context features need them."""
        return self._counted(pairs) if self._words else pairs

    def _counted(self, pairs: Iterator[Pair]) -> Iterator[Pair]:
        for pair in pairs:
            if pair.is_first:
                self._counts.add(pair.source, pair.target)
            yield pair

    def write(self, folder: Path) -> str:
        """Write the most frequent words into a folder, and return the name of the file, or an empty text."""
        if not self._words:
            return ""
        self._counts.most_frequent(self._words).write(folder / CONTEXT)
        return CONTEXT


class DependencyModels:
    """Counts the events of dependency models while target trees are read. Sentences without a tree are skipped."""

    def __init__(self, units: Iterable[Unit], conditioning: Conditioning) -> None:
        from treeglot.lm.train_dependency import new_trainer

        self.trees = 0
        self._conditioning = conditioning
        self._trainers = {unit: new_trainer(unit, conditioning) for unit in units}

    def add(self, tree: Dependency) -> None:
        """Count the events of one more tree."""
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
                training = estimate_dependency(trainer, unit, self._conditioning)
                compile_dependency(training, folder / DEPENDENCY_MODELS[unit])
        self._trainers.clear()
