"""The words of context features. Such a feature names two linked words and a neighbouring source word.

The features are `left=c|f→e` and `right=f→e|c` (Chiang, Knight and Wang 2009). Only frequent words have their own
names. All other words are `<unk>`, and the borders of a sentence are `<s>` and `</s>`.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import PathLike, read_json, write_binary

MOST_WORDS = 2**20 - 4  # of a side, in the core
FAMILIES = ("left=", "right=")  # how the names of the features begin
_MARKS = ("|", "→")  # what names are made with
_SPECIAL = ("", "<unk>", "<s>", "</s>")


@dataclass(frozen=True)
class ContextWords:
    """The words of both sides that have their own names in features, the most frequent first."""

    source: tuple[str, ...]
    target: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse words that would make the names of features ambiguous."""
        for words in (self.source, self.target):
            seen = set[str]()
            for word in words:
                if not _can_be_named(word) or word in seen:
                    expected = "expected different words without blanks, | and →, and none of <unk>, <s> and </s>"
                    raise UsageError(f"found {word!r} among the words of context features; {expected}")
                seen.add(word)

    @staticmethod
    def read(path: PathLike) -> ContextWords:
        """Read the words from a model's file."""
        found = read_json(path, source=list, target=list)
        for side in ("source", "target"):
            for word in found[side]:
                if not isinstance(word, str):
                    raise FormatError(os.fspath(path), 0, f"{side} has {word!r}; expected words")
        try:
            return ContextWords(tuple(found["source"]), tuple(found["target"]))
        except UsageError as error:
            raise FormatError(os.fspath(path), 0, str(error)) from error

    def write(self, path: PathLike) -> None:
        """Write the words to a model's file. The same words produce the same bytes."""
        with write_binary(path) as stream:
            stream.write(json.dumps(asdict(self), ensure_ascii=False, indent=1).encode() + b"\n")


def _can_be_named(word: str) -> bool:
    """Return whether a word can be part of a feature's name."""
    return word not in _SPECIAL and not any(letter in _MARKS or letter.isspace() for letter in word)


class ContextCounts:
    """Counts the words of sentence pairs, to find the most frequent ones.

    >>> counts = ContextCounts()
    >>> counts.add(["das", "Haus", "|"], ["the", "house", "|"])
    >>> counts.add(["das", "Buch"], ["the", "book"])
    >>> counts.most_frequent(2)
    ContextWords(source=('das', 'Buch'), target=('the', 'book'))
    """

    def __init__(self) -> None:
        self._counts: tuple[Counter[str], Counter[str]] = Counter(), Counter()

    def add(self, source: Sequence[str], target: Sequence[str]) -> None:
        """Count the words of one more sentence pair."""
        self._counts[0].update(source)
        self._counts[1].update(target)

    def most_frequent(self, number: int) -> ContextWords:
        """Return the most frequent words of each side that keep names unambiguous. Ties are sorted by text."""

        def best(counts: Counter[str]) -> tuple[str, ...]:
            named = filter(_can_be_named, counts)
            return tuple(sorted(named, key=lambda word: (-counts[word], word))[:number])

        return ContextWords(*map(best, self._counts))
