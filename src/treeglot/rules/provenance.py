"""Finds the sentence pairs that rules come from, and marks their words (docs/why.md)."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from treeglot import _core
from treeglot.base.errors import FormatError, UsageError

PROVENANCE = "provenance.bin"


@dataclass(frozen=True)
class Example:
    """A sentence pair of the training text, with the words that were searched for."""

    pair: int  # its number in the training text, from 1
    source: tuple[str, ...]
    target: tuple[str, ...]
    source_marks: tuple[int, ...]  # places of words
    target_marks: tuple[int, ...]

    def lines(self, mark: str = "*") -> tuple[str, str]:
        """Return both sides as text. `mark` surrounds the words that were found.

        >>> Example(1, ("das", "Haus"), ("the", "house"), (1,), (1,)).lines()
        ('das *Haus*', 'the *house*')
        """
        return _line(self.source, self.source_marks, mark), _line(self.target, self.target_marks, mark)


@dataclass(frozen=True)
class Concordance:
    """The sentence pairs found for a phrase or a rule."""

    pairs: int  # how many sentence pairs have it
    examples: tuple[Example, ...]  # the first of them


class Provenance:
    """The index of sentence pairs that training with the option `provenance` writes. It fits only one rule table."""

    def __init__(self, path: Path, table: _core.RuleTable) -> None:
        self.table = table
        self._path = path
        if self.core.rules != table.own_rules:
            problem = f"is of a table with {self.core.rules:,} rules; expected {table.own_rules:,}, as the model's"
            raise FormatError(os.fspath(path), 0, problem)

    @cached_property
    def core(self) -> _core.Provenance:
        """The object of the core that reads the index."""
        return _core.Provenance.open(os.fspath(self._path))

    def count(self, rule: int) -> int:
        """Return the number of sentence pairs that a rule comes from."""
        return self.examples(rule, 0).pairs

    def examples(self, rule: int, most: int = 3) -> Concordance:
        """Return the first pairs that a rule comes from, with its words marked.

        Rules that corrections add have no pairs.
        """
        origin, _ = self.table.origin(rule)
        if origin is None:
            return Concordance(0, ())
        number, pairs = self.core.pairs_of(origin, most)
        return Concordance(number, tuple(self._example(pair, *self._marks(origin, pair)) for pair in pairs))

    def find(self, source: Sequence[str] = (), target: Sequence[str] = (), most: int = 10) -> Concordance:
        """Return the pairs that contain these words side by side. An empty side matches any sentence."""
        if not source and not target:
            raise UsageError("no words to look for; expected some of the source or the target side")
        number, hits = self.core.find(list(source), list(target), most)
        found = (self._example(pair, range(f, f + len(source)), range(e, e + len(target))) for pair, f, e in hits)
        return Concordance(number, tuple(found))

    def find_rule(self, source: str, target: str, most: int = 10) -> Iterator[tuple[int, Concordance]]:
        """Yield the rules with these sides, written as `das [X,1]` and `the [X,1]`, with their examples."""
        for rule in _core.find_rules(self.table, source, target):
            yield rule, self.examples(rule, most)

    def _marks(self, rule: int, pair: int) -> tuple[Collection[int], Collection[int]]:
        return self.core.mark(self.table, rule, pair) or ((), ())

    def _example(self, pair: int, source_marks: Collection[int], target_marks: Collection[int]) -> Example:
        source, target, _ = self.core.pair(pair)
        return Example(pair + 1, tuple(source), tuple(target), tuple(source_marks), tuple(target_marks))


def _line(words: Sequence[str], marks: Collection[int], mark: str) -> str:
    return " ".join(f"{mark}{word}{mark}" if place in marks else word for place, word in enumerate(words))
