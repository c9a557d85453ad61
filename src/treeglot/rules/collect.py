"""Sentence pairs as extractors read them: what one pass over a corpus gives, kept small in the core."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from treeglot._core import Bitext, BitextBuilder, DependencyBank, FuzzyLabels, HieroLimits, TargetStructures, TreeBatch
from treeglot.base.errors import UsageError
from treeglot.base.options import option
from treeglot.corpus import Pair, Spill
from treeglot.rules.extract import MEMORY, Extraction, HieroOptions, extract
from treeglot.rules.ghkm import extract_ghkm
from treeglot.rules.head_dependents import extract_dependents
from treeglot.rules.tree_pair import extract_tree_pairs
from treeglot.syntax import Dependency, ParseForest, Tree
from treeglot.syntax.same_words import ESCAPES


@dataclass(frozen=True)
class FuzzyOptions(HieroOptions):
    """Which of Hiero's rules are taken, and how their phrases are labelled."""

    nesting: bool = option(False, "use only phrases no two of which cross")
    hard: bool = option(False, "make target categories part of the rules")

    def limits(self) -> HieroLimits:
        """As the core takes them."""
        return _plain(self).limits()


@dataclass(frozen=True)
class StructureOptions(HieroOptions):
    """Which of Hiero's rules are taken, with structures on their target sides."""

    strict: bool = option(True, "well-formed structures as Shen et al. (2008) define them; else as for c2d")

    def limits(self) -> HieroLimits:
        """As the core takes them."""
        return _plain(self).limits()


def _plain(options: HieroOptions) -> HieroOptions:
    return HieroOptions(**{f.name: getattr(options, f.name) for f in dataclasses.fields(HieroOptions)})


@dataclass
class Collected:
    """Aligned sentence pairs and their trees; a sentence without a tree gives rules without labels on its side."""

    pairs: Bitext
    source_trees: TreeBatch = field(default_factory=TreeBatch)
    target_trees: TreeBatch = field(default_factory=TreeBatch)
    target_dependencies: DependencyBank = field(default_factory=DependencyBank)
    source_dependencies: list[Dependency] = field(default_factory=list)
    counts: Mapping[str, int] = field(default_factory=dict)  # of what was seen while they were read


def collect(pairs: Iterable[Pair], forests: Spill[ParseForest | None] | None = None) -> Collected:
    """All pairs in the core; forests, which are large, go to `forests`."""
    builder, found = BitextBuilder(), Collected(BitextBuilder().finish())
    for pair in pairs:
        builder.append(pair.source, pair.target, pair.links)
        if pair.target_tree is not None or pair.source_tree is not None:
            _append(found.source_trees, pair.source_tree or Tree(), pair.source)
            _append(found.target_trees, pair.target_tree or Tree(), pair.target)
        if pair.target_dependency is not None:
            found.target_dependencies.append(pair.target_dependency)
        if pair.source_dependency is not None:
            found.source_dependencies.append(pair.source_dependency)
        if forests is not None:
            forests.append(pair.source_forest)
    return dataclasses.replace(found, pairs=builder.finish())


def _append(batch: TreeBatch, tree: Tree, words: list[str]) -> None:
    batch.append(tree, words, words if len(tree) else [])


def extract_pairs(
    extractor: str,
    pairs: Iterable[Pair],
    folder: Path,
    options: Any,
    *,
    seen: Callable[[], Mapping[str, int]] = dict,
    threads: int = 1,
    memory: int = MEMORY,
) -> Extraction:
    """Take the rules of pairs, which are read once, and write them to `folder`.

    `seen` is asked after the last pair for what was counted while they were read.
    """
    more: dict[str, Any] = {"threads": threads, "memory": memory}
    if extractor == "ghkm":
        with Spill[ParseForest | None](folder) as forests:
            found = collect(pairs, forests)
            trees = found.target_dependencies if len(found.target_dependencies) else None
            return extract_ghkm(found.pairs, forests, folder, options, dependencies=trees, **more)
    found = collect(pairs)
    found.counts = seen()
    match extractor:
        case "hiero":
            return extract(found.pairs, folder, options, **more)
        case "string-dependency":
            structures = TargetStructures(found.pairs, found.target_dependencies, options.strict)
            return extract(found.pairs, folder, _plain(options), labels=structures, **more)
        case "fuzzy":
            labels = fuzzy_labels(found, nesting=options.nesting, hard=options.hard)
            return extract(found.pairs, folder, _plain(options), labels=labels, seen=found.counts, **more)
        case "tree-pairs":
            return extract_tree_pairs(found, folder, options, **more)
        case "head-dependents":
            return extract_dependents(found.pairs, found.source_dependencies, folder, options, **more)
    raise UsageError(f"unknown extractor {extractor!r}")


def fuzzy_labels(found: Collected, *, nesting: bool = False, hard: bool = False) -> FuzzyLabels:
    """Labels for the phrases of Hiero's rules: the categories of their spans in the trees."""
    source, target = punctuation(found.pairs.source_words), punctuation(found.pairs.target_words)
    return FuzzyLabels(found.pairs, found.source_trees, found.target_trees, source, target, nesting, hard)


def punctuation(words: Sequence[str]) -> npt.NDArray[np.uint8]:
    """Which words have nothing in them but punctuation: by Unicode, and as treebanks write quotes and brackets.

    >>> punctuation(["a", "。", "...", "'s", "``", "-LRB-"])
    array([0, 1, 1, 0, 1, 1], dtype=uint8)
    """

    def is_mark(c: str) -> bool:
        return c == "`" or unicodedata.category(c).startswith("P")

    flags = [word.lower() in ESCAPES or all(map(is_mark, word)) for word in words]
    return np.array(flags, dtype=np.uint8)
