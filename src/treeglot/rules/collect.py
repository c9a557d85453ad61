"""Reads the sentence pairs of a corpus in one pass, and stores them compactly in the core for extractors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from treeglot._core import Bitext, BitextBuilder, DependencyBank, ForestBank, TreeBatch
from treeglot.corpus.pairs import Pair
from treeglot.syntax import Dependency, Tree

BATCH = 2048  # forests that are pruned at a time
NO_TREE = Tree()


class Kept(dict[Any, Any]):
    """What extractors keep from one part of a corpus to the next, by key. It lives as long as the extraction.

    A copy in another process is empty.
    """

    def __reduce__(self) -> tuple[type[Kept], tuple[()]]:
        return Kept, ()


@dataclass(frozen=True)
class Part(Iterable[Pair]):
    """Some pairs of a corpus, and the numbers of all words of the corpus. Every part uses the same numbers."""

    pairs: Sequence[Pair]
    source_words: list[str]
    target_words: list[str]
    kept: Kept = field(default_factory=Kept)

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)


@dataclass
class Collected:
    """Aligned sentence pairs and their parses. Either all pairs have parses of a kind, or none has."""

    bitext: Bitext
    source_trees: TreeBatch = field(default_factory=TreeBatch)
    target_trees: TreeBatch = field(default_factory=TreeBatch)
    source_dependencies: list[Dependency] = field(default_factory=list)
    target_dependencies: DependencyBank | None = None
    forests: ForestBank = field(default_factory=lambda: ForestBank(math.inf))


def collect(pairs: Iterable[Pair], *, prune: float | None = None, threads: int = 1) -> Collected:
    """Store all pairs in the core, in one pass. With `prune`, also store the source forests, pruned with this margin.

    Words are numbered by frequency. So extraction begins after the last pair has been read, unless a `Part` already
    contains the numbers.
    """
    given = (pairs.source_words, pairs.target_words) if isinstance(pairs, Part) else ()
    builder, found = BitextBuilder(*given), Collected(BitextBuilder().finish())
    if prune is not None:
        found.forests = ForestBank(prune)
    stream = iter(pairs)
    while batch := list(islice(stream, BATCH)):
        for pair in batch:
            builder.append(pair.source, pair.target, pair.links, list(pair.weights), pair.share)
            if pair.source_tree is not None or pair.target_tree is not None:
                _append(found.source_trees, pair.source_tree or NO_TREE, pair.source)
                _append(found.target_trees, pair.target_tree or NO_TREE, pair.target)
            if pair.source_dependency is not None:
                found.source_dependencies.append(pair.source_dependency)
            if pair.target_dependency is not None:
                found.target_dependencies = found.target_dependencies or DependencyBank()
                found.target_dependencies.append(pair.target_dependency)
        if prune is not None:
            found.forests.append([pair.source_forest for pair in batch], threads)
    found.bitext = builder.finish()
    return found


def _append(batch: TreeBatch, tree: Tree, words: list[str]) -> None:
    batch.append(tree, words, words if len(tree) else [])
