"""Detects signs that a text is wrong as a whole, although each line can be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

FEWEST = 20  # lines that say something
LONG = 40  # characters of a line that is one token


@dataclass
class Doubts:
    """Counts, over the lines of a text, the signs that something is wrong.

    >>> doubts = Doubts("train.zh")
    >>> for _ in range(30):
    ...     doubts.add(["这是一个没有分词的句子" * 4])
    >>> doubts.found()
    ['train.zh: 30 of 30 lines are long and have no blanks; expected tokens separated by blanks']
    """

    name: str
    lines: int = 0
    single: int = 0
    long: int = 0
    same: int = 0
    words: int = 0
    unknown: int = 0

    def add(self, words: Sequence[str], other: Sequence[str] | None = None, unknown: int = 0) -> None:
        """Add a line, its translation if any, and its number of unknown words."""
        if not words:
            return
        self.lines += 1
        self.words += len(words)
        self.unknown += unknown
        self.single += len(words) == 1
        self.long += len(words) == 1 and len(words[0]) > LONG
        self.same += other is not None and list(other) == list(words)

    def found(self) -> list[str]:
        """Describe the problems that affect most lines of the text."""
        if self.lines < FEWEST:
            return []
        of = f"of {self.lines:,} lines"
        out = []
        if 2 * self.long > self.lines:
            out.append(f"{self.long:,} {of} are long and have no blanks; expected tokens separated by blanks")
        elif 10 * self.single > 9 * self.lines:
            out.append(f"{self.single:,} {of} are a single token; expected sentences, tokens separated by blanks")
        if 2 * self.same > self.lines:
            out.append(f"{self.same:,} {of} are the same in both languages; are the files the right ones?")
        if 2 * self.unknown > self.words:
            out.append(f"the model does not know {self.unknown:,} of {self.words:,} words; is it the right language?")
        return [f"{self.name}: {problem}" for problem in out]
