"""Replaces rare words by words that a corpus knows better. It splits compounds, and replaces rare endings.

`Strandbesucher` is in no corpus of captions, but `Strand` and `Besucher` are. Koehn and Knight (2003) take the split
whose parts have the highest geometric mean of counts. Linking letters between parts are dropped. If an unknown word
differs from a known word only in its ending, it becomes that word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log

from treeglot.base.options import Options, option

FREQUENT = 120  # most frequent words, which are no part if they are short
SHORT = 5  # letters; frequent words with fewer are no parts
CERTAIN = 20  # times that the corpus has a part of the least length
CHANGED = 0.5  # factor of the count of a last part whose ending is replaced
LINKING_COST = 0.7  # log of the factor that linking letters cost
LONGEST = 40  # letters of a word that is split


@dataclass(frozen=True)
class CompoundOptions(Options):
    """Options that define which words are rare, and which parts they can have. The defaults are for German."""

    most: int = option(20, "words that the corpus has more often stay as they are", least=0)
    least: int = option(2, "times that the corpus has each part", least=1)
    shortest: int = option(3, "letters of a part", least=1)
    linking: tuple[str, ...] = option(("s", "es", "n", "en", "er"), "letters between two parts that belong to none")
    endings: tuple[str, ...] = option(
        ("e", "en", "em", "er", "es", "n", "s"), "endings that can replace each other in unknown words"
    )
    lost: tuple[str, ...] = option(
        ("t", "te", "ten", "st", "nd", "nde", "nden", "nder"), "endings of unknown words that others can replace"
    )
    stem: int = option(4, "letters before an ending that is replaced", least=1)


@dataclass(frozen=True)
class CompoundSplitter:
    """Rewrites rare words with the frequent words of a corpus.

    >>> corpus = ["der strand", "viele besucher", "ruhiges wasser"] * 30
    >>> splitter = CompoundSplitter.learn(line.split() for line in corpus)
    >>> [splitter.split(word) for word in ("strandbesucher", "wasser-strand", "ruhigen", "wort")]
    [('strand', 'besucher'), ('wasser', 'strand'), ('ruhiges',), ('wort',)]
    """

    counts: Mapping[str, int]
    options: CompoundOptions = field(default_factory=CompoundOptions)
    _found: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False, compare=False)

    @staticmethod
    def learn(sentences: Iterable[Sequence[str]], options: CompoundOptions | None = None) -> CompoundSplitter:
        """Count the words of a corpus."""
        return CompoundSplitter(Counter(w for words in sentences for w in words), options or CompoundOptions())

    def split(self, word: str) -> tuple[str, ...]:
        """Return the words that replace a word. A word stays if it is not rare or has no better replacement."""
        found = self._found.get(word)
        if found is None:
            found = self._found[word] = self._analysed(word)
        return found

    def apply(self, words: Iterable[str]) -> list[str]:
        """Replace the rare words of a sentence."""
        return [part for word in words for part in self.split(word)]

    @cached_property
    def _frequent(self) -> frozenset[str]:
        short = sorted(self.counts.items(), key=lambda item: -item[1])[:FREQUENT]
        return frozenset(word for word, _ in short if len(word) < SHORT)

    def _analysed(self, word: str) -> tuple[str, ...]:
        count = self.counts.get(word, 0)
        options = self.options
        if count > options.most or not 2 * options.shortest <= len(word) <= LONGEST or not _is_word(word):
            return (word,)
        if not count and (variant := self._variant(word)):
            return self.split(variant)
        return self._best_parts(word, count) or (word,)

    def _variant(self, word: str) -> str:
        """Return the known word that has the longest common stem and another ending.

        Of several, return the most frequent.
        """
        best, found = (0, 0), ""
        for old in ("", *self.options.endings, *self.options.lost):
            stem = word.removesuffix(old)
            if len(stem) < self.options.stem or not word.endswith(old):
                continue
            for new in ("", *self.options.endings):
                key = (len(stem), self.counts.get(stem + new, 0))
                if key[1] and key > best:
                    best, found = key, stem + new
        return found

    def _best_parts(self, word: str, count: int) -> tuple[str, ...]:
        """Return the split with the highest mean log count of its parts, if it is above that of the word itself."""
        size = len(word)
        tables: list[dict[int, tuple[float, tuple[str, ...]]]] = [{} for _ in range(size + 1)]
        tables[0][0] = (0.0, ())  # by place and number of parts: the best sum of log counts
        for begin in range(size):
            if not tables[begin]:
                continue
            for end in range(begin + 1, size + 1):
                if (begin, end) == (0, size):
                    continue
                for score, part in self._parts(word[begin:end], last=end == size, known=count > 0):
                    for number, (total, parts) in tables[begin].items():
                        old = tables[end].get(number + 1)
                        if old is None or old[0] < total + score:
                            tables[end][number + 1] = (total + score, (*parts, part))
        best = log(count) if count else -1.0
        found: tuple[str, ...] = ()
        for number, (total, parts) in tables[size].items():
            if number > 1 and total / number > best + 1e-9:
                best, found = total / number, parts
        return found

    def _parts(self, letters: str, *, last: bool, known: bool) -> Iterable[tuple[float, str]]:
        """Yield the words that some letters within a compound can represent, with their log counts."""
        least = self.options.least
        if last:
            variant = "" if known or len(letters) <= self.options.stem else self._variant(letters)
            if self._usable(letters) and (count := self.counts.get(letters, 0)) >= least:
                yield log(count), letters
            elif (count := self.counts.get(variant, 0)) >= least:
                yield log(count * CHANGED), variant
            return
        for link in ("", "-", *self.options.linking, *(f"{each}-" for each in self.options.linking)):
            part = letters.removesuffix(link)
            if not letters.endswith(link) or not part:
                continue
            usable = not part.startswith("-") and not part.endswith("-") if "-" in link else self._usable(part)
            count = self.counts.get(part, 0)
            if usable and count >= least:
                yield log(count) - (LINKING_COST if link not in ("", "-") else 0.0), part

    def _usable(self, part: str) -> bool:
        long = len(part) > self.options.shortest
        certain = len(part) == self.options.shortest and self.counts.get(part, 0) >= CERTAIN
        return (long or certain) and _is_word(part) and part not in self._frequent


def _is_word(word: str) -> bool:
    return word.replace("-", "").isalpha()
