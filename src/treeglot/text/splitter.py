"""Splits words of languages without blanks, if the corpus shows that they are several words: 我的 is 我 and 的.

A dictionary joins words that often occur together. Rules learn more from the parts, because the rules for `我` can then
also translate `我的`. A word is split if its parts occur together hardly more often than by chance, or if it occurs
only once. The parts must be words of the corpus. New words of an input are split in the same way, so fewer of them are
unknown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log

from treeglot._core import Tokens
from treeglot.base.errors import FormatError
from treeglot.base.files import read_lines, write_binary

LEAST = 2  # times that a word is in the corpus; one that is there less often is split
BY_CHANCE = 1.0  # log of how much more often parts stand together than chance would have it; below it they are split
LONGEST = 20  # characters of a word that is split
REMEMBERED = 1_000_000  # words whose parts are looked up but once
_SPLIT = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
)


@dataclass(frozen=True)
class WordSplitter:
    """The words of a corpus with their counts, and how they are split.

    >>> words = ["我的", "狗", "我", "猫", "的", "狗", "大象", "大象"] * 3 + ["狗猫"]
    >>> splitter = WordSplitter.learn([words])
    >>> [splitter.split(word) for word in ("大象", "狗猫", "大象狗", "我的", "马")]
    [('大象',), ('狗', '猫'), ('大象', '狗'), ('我', '的'), ('马',)]
    """

    counts: Mapping[str, int]
    _found: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def _total(self) -> int:
        return sum(self.counts.values())

    @staticmethod
    def learn(sentences: Iterable[Sequence[str]], keep: Iterable[str] = ()) -> WordSplitter:
        """Learn which words of a corpus stay whole. The words of `keep` always stay whole."""
        all_counts = Counter(word for words in sentences for word in words)
        total = sum(all_counts.values())
        counts = {word: count for word, count in all_counts.items() if _SPLIT.fullmatch(word)}
        held: Counter[str] = Counter()  # by word: how often it stands in the text, in other words, too
        for word, count in counts.items():
            for part in _parts(word):
                if part in counts:
                    held[part] += count
        known = {word for word, count in counts.items() if count >= LEAST}

        def by_chance(word: str) -> bool:
            halves = [(word[:i], word[i:]) for i in range(1, len(word)) if word[:i] in known and word[i:] in known]
            best = min((log(counts[word] * total / (held[a] * held[b])) for a, b in halves), default=BY_CHANCE)
            return best < BY_CHANCE

        kept = set(keep)
        doubtful = [word for word in counts if word not in kept and (word not in known or by_chance(word))]
        doubtful.sort(key=lambda word: (len(word), word))
        rest = dict(counts)
        for word in doubtful:
            del rest[word]
        out = Counter(rest)
        splitter = WordSplitter({word: count for word, count in rest.items() if count >= LEAST})
        for word in doubtful:
            for part in splitter._path(word) or (word,):
                out[part] += counts[word]
        return WordSplitter(dict(sorted(out.items())))

    def split(self, word: str) -> tuple[str, ...]:
        """Split a word into its parts. A word that stays whole is its only part."""
        found = self._found.get(word)
        if found is None:
            known = word in self.counts or not _SPLIT.fullmatch(word)
            found = (word,) if known else self._path(word) or (word,)
            if len(self._found) < REMEMBERED:
                self._found[word] = found
        return found

    def apply(self, sentences: Sequence[Tokens]) -> list[Tokens]:
        """Split the words of sentences. Each part gets its own place in the text."""
        return [self._applied(each) for each in sentences]

    def _applied(self, sentence: Tokens) -> Tokens:
        words = sentence.words
        parts = [self.split(word) for word in words]
        if all(len(part) == 1 for part in parts):
            return sentence
        out: list[str] = []
        spans: list[tuple[int, int]] = []
        for word, own, (begin, end) in zip(words, parts, sentence.spans, strict=True):
            if len(own) == 1 or len(word) != end - begin:  # the text has characters that do not show
                out.append(word)
                spans.append((begin, end))
                continue
            for part in own:
                out.append(part)
                spans.append((begin, begin + len(part)))
                begin += len(part)
        return Tokens(sentence.text, out, spans)

    def _path(self, word: str) -> tuple[str, ...]:
        """Return the most likely parts of a word, or nothing if it cannot be split."""
        if len(word) > LONGEST:
            return ()
        best: list[tuple[float, int] | None] = [(0.0, 0)]  # by end: score, and where the last word begins
        for end in range(1, len(word) + 1):
            choices = [
                (before[0] + log(self.counts[word[begin:end]] / self._total), begin)
                for begin in range(end)
                if (before := best[begin]) is not None and word[begin:end] in self.counts
            ]
            best.append(max(choices, default=None))
        out: list[str] = []
        end = len(word)
        while end > 0:
            found = best[end]
            if found is None:
                return ()
            out.append(word[found[1] : end])
            end = found[1]
        return tuple(reversed(out))

    def write(self, path: str) -> None:
        """Write the counts as lines of WORD COUNT."""
        with write_binary(path) as stream:
            stream.write("".join(f"{word} {count}\n" for word, count in self.counts.items()).encode())

    @staticmethod
    def open(path: str) -> WordSplitter:
        """Read a file that `write` has written."""
        counts: dict[str, int] = {}
        for number, line in enumerate(read_lines(path), 1):
            word, blank, count = line.partition(" ")
            if not word or not blank or not count.isdecimal() or not int(count[:19]) > 0:
                raise FormatError(path, number, f"{line[:60]!r} is not a word with its count; expected WORD COUNT")
            counts[word] = int(count[:19])
        return WordSplitter(counts)


def _parts(word: str) -> set[str]:
    """Return all substrings of a word, including the word itself."""
    size = len(word)
    return {word[i:j] for i in range(size) for j in range(i + 1, min(size, i + LONGEST) + 1)}
