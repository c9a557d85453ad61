"""Compares several parsers' analyses of one text: agreement, accuracy, and invalid trees (the s2d page)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from treeglot._core import Dependency
from treeglot.base.errors import UsageError

__all__ = ["Accuracy", "Agreement", "DependencyComparison", "Trees", "compare_dependencies"]


@dataclass(frozen=True)
class Agreement:
    """How far two analyses agree, over the sentences that both have parsed."""

    roots: float  # share of sentences with the same root words
    heads: float  # share of words with the same head; a missing head agrees with none
    sentences: int
    words: int


@dataclass(frozen=True)
class Accuracy:
    """How far an analysis agrees with gold trees."""

    correct: int
    given: int  # words that the analysis gives a head
    wanted: int  # words that the gold trees give one

    @property
    def precision(self) -> float:
        """The share of the given heads that are correct."""
        return self.correct / self.given if self.given else 0.0

    @property
    def recall(self) -> float:
        """The share of the gold heads that were found."""
        return self.correct / self.wanted if self.wanted else 0.0


@dataclass(frozen=True)
class Trees:
    """The numbers of invalid trees, by reason. A tree can have several reasons."""

    sentences: int
    unparsed: int  # without words, or without a head for any of them
    several_roots: int
    cycles: int
    nonprojective: int
    illegal: int  # any of these three


@dataclass(frozen=True)
class DependencyComparison:
    """The result of a comparison: the figures of tables 2 and 3 of the s2d paper."""

    names: tuple[str, ...]
    agreement: Mapping[tuple[str, str], Agreement]  # each pair once, in the order of the names
    trees: Mapping[str, Trees]
    accuracy: Mapping[str, Accuracy]  # empty without gold trees

    def between(self, one: str, other: str) -> Agreement:
        """Return the agreement of two sources. The order does not matter."""
        return self.agreement[(one, other) if (one, other) in self.agreement else (other, one)]


def compare_dependencies(
    analyses: Mapping[str, Sequence[Dependency]], gold: Sequence[Dependency] | None = None
) -> DependencyComparison:
    """Compare analyses of the same sentences. `gold` contains the gold trees of all or only the first sentences.

    >>> one = [Dependency(["I", "see", "stars"], [1, -1, 1])]
    >>> other = [Dependency(["I", "see", "stars"], [1, -1, 0])]
    >>> found = compare_dependencies({"one": one, "other": other}, gold=one)
    >>> found.between("other", "one")
    Agreement(roots=1.0, heads=0.6666666666666666, sentences=1, words=3)
    >>> found.accuracy["other"].precision, found.trees["other"].nonprojective
    (0.6666666666666666, 1)
    """
    names = tuple(analyses)
    if not names:
        raise UsageError("there is nothing to compare")
    first = analyses[names[0]]
    for name, trees in analyses.items():
        _check(name, trees, names[0], first[: len(trees)], len(first))
    if gold is not None:
        if len(gold) > len(first):
            raise UsageError(f"there are {len(gold)} gold trees for {len(first)} sentences")
        _check("gold", gold, names[0], first[: len(gold)], len(gold))
    pairs = {(a, b): _agreement(analyses[a], analyses[b]) for a, b in combinations(names, 2)}
    accuracy = {} if gold is None else {name: _accuracy(trees[: len(gold)], gold) for name, trees in analyses.items()}
    return DependencyComparison(names, pairs, {name: _trees(trees) for name, trees in analyses.items()}, accuracy)


def _check(name: str, trees: Sequence[Dependency], other: str, expected: Sequence[Dependency], count: int) -> None:
    if len(trees) != count:
        raise UsageError(f"{name} has {len(trees)} sentences; expected {count}, as {other} has")
    for number, (tree, wanted) in enumerate(zip(trees, expected, strict=True), 1):
        if len(tree) and len(wanted) and len(tree) != len(wanted):
            raise UsageError(
                f"sentence {number} has {len(tree)} words in {name}, {len(wanted)} in {other}: it is another text"
            )


def _parsed(tree: Dependency) -> bool:
    return len(tree) > 0 and bool((tree.heads != Dependency.NO_HEAD).any())


def _agreement(one: Sequence[Dependency], other: Sequence[Dependency]) -> Agreement:
    both = [(a, b) for a, b in zip(one, other, strict=True) if _parsed(a) and _parsed(b)]
    if not both:
        return Agreement(0.0, 0.0, 0, 0)
    left, right = (np.concatenate([pair[side].heads for pair in both]) for side in (0, 1))
    same_roots = sum(a.roots() == b.roots() != [] for a, b in both)
    same_heads = int(((left == right) & (left != Dependency.NO_HEAD)).sum())
    return Agreement(same_roots / len(both), same_heads / len(left), len(both), len(left))


def _accuracy(trees: Sequence[Dependency], gold: Sequence[Dependency]) -> Accuracy:
    correct = given = wanted = 0
    for tree, right in zip(trees, gold, strict=True):
        wanted += int((right.heads != Dependency.NO_HEAD).sum())
        given += int((tree.heads != Dependency.NO_HEAD).sum())
        if len(tree) == len(right):
            correct += int(((tree.heads == right.heads) & (tree.heads != Dependency.NO_HEAD)).sum())
    return Accuracy(correct, given, wanted)


def _trees(trees: Sequence[Dependency]) -> Trees:
    parsed = [tree for tree in trees if _parsed(tree)]
    roots = [len(tree.roots()) > 1 for tree in parsed]
    cycles = [bool(tree.cycle()) for tree in parsed]
    crossing = [not tree.is_projective() for tree in parsed]
    illegal = sum(any(reasons) for reasons in zip(roots, cycles, crossing, strict=True))
    return Trees(len(trees), len(trees) - len(parsed), sum(roots), sum(cycles), sum(crossing), illegal)
