"""Selects pairs that make every extractor number the labels of parses in the same way as the whole corpus."""

from __future__ import annotations

from itertools import compress

import numpy as np

from treeglot.corpus.pairs import Pair
from treeglot.syntax import Alignment, Dependency, ParseForest, Tree


class Prologue:
    """Collects, for each label, the first pair of the corpus that contains it.

    An extractor that reads these pairs first numbers the labels in the order of the whole corpus.
    """

    def __init__(self) -> None:
        self._pairs: list[Pair] = []
        self._labels: dict[str, set[str]] = {}  # by the field of a pair
        self._sources = _SourceDependencies()

    def see(self, pair: Pair) -> None:
        """Look for new labels in the next pair of the corpus."""
        new = False
        for name in ("source_tree", "target_tree", "source_forest", "target_dependency"):
            value = getattr(pair, name)
            if value is not None:
                labels = _labels(value)
                known = self._labels.setdefault(name, set())
                new |= not known.issuperset(labels)
                known.update(labels)
        if new:
            self._pairs.append(pair)
        if pair.source_dependency is not None:
            self._sources.see(pair.source_dependency)

    def pairs(self, source_words: list[str]) -> list[Pair]:
        """Return the pairs that were collected, in the order of the corpus.

        For source dependencies, the labels include every head word. So they come from one artificial pair instead.
        """
        return [*self._pairs, *self._sources.pairs(source_words)]


def _labels(value: Tree | ParseForest | Dependency) -> list[str]:
    """Return the labels of a parse that extractors number. Words that are only children have no number."""
    if isinstance(value, Dependency):
        return value.tags or []
    if isinstance(value, ParseForest):
        return value.labels[len(value.words) :]
    leaf = value.sizes == 1
    alone = np.concatenate(([False], value.sizes[:-1] == 2)) if len(value.sizes) else leaf
    return list(compress(value.labels, (~(leaf & alone)).tolist()))


class _SourceDependencies:
    """Collects the labels of head-dependents relations: tags, head words, and the size of the widest relation."""

    def __init__(self) -> None:
        self._tags: dict[str, None] = {}
        self._heads: dict[str, None] = {}
        self._most = 0  # dependents of a word

    def see(self, tree: Dependency) -> None:
        """Collect the labels of the next tree.

        Trees with cycles or missing heads yield no rules; crossing arcs are lifted.
        """
        if not len(tree) or (tree.heads == Dependency.NO_HEAD).any() or tree.cycle():
            return
        if not tree.is_projective():
            tree, _ = tree.projectivise()
        self._tags.update(dict.fromkeys(tree.tags or []))
        dependents = np.bincount(tree.heads[tree.heads >= 0], minlength=len(tree))
        self._heads.update(dict.fromkeys(compress(tree.words, dependents.tolist())))
        self._most = max(self._most, int(dependents.max()))

    def pairs(self, source_words: list[str]) -> list[Pair]:
        """Return one artificial pair without links that contains all labels."""
        if not self._tags:
            return []
        words: list[str] = []
        heads: list[int] = []
        some = source_words[0]
        for place, word in enumerate(self._heads):
            width = self._most if place + 1 == len(self._heads) else 1
            heads += [-1, *[len(words)] * width]
            words += [word, *[some] * width]
        roots = max(0, len(self._tags) - len(words))
        words += [some] * roots
        heads += [-1] * roots
        tags = [*self._tags]
        tags += tags[:1] * (len(words) - len(tags))
        tree = Dependency(words, heads, tags)
        return [Pair(0, words, [], Alignment(), source_dependency=tree)]
