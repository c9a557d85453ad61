"""Replaces rare numbers by the variables ⟨1⟩, ⟨2⟩ … in the model's words, and restores the numbers in its output.

A sentence pair teaches a variable if the number is on both sides. Numbers that are frequent in the corpus stay words,
so that their own rules apply. In an input, all other numbers become variables.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from treeglot.syntax import Alignment
from treeglot.text.languages import Language
from treeglot.text.numbers import convert_number

VARIABLES = ("⟨1⟩", "⟨2⟩", "⟨3⟩")
RARE = 3  # times that a number is in the corpus; those that are there less often are variables
_COMPOUND = re.compile(r"[0-9]+(?:[:/.-][0-9]+)+")
_PLAIN = Language("", group="", decimal=".")
_PLACES = {variable: place for place, variable in enumerate(VARIABLES)}


def number_value(word: str, language: Language) -> str:
    """Return the value of a number of at least two digits, for comparisons. The result is empty for other words.

    The value of a time or a date is the word itself.

    >>> german = Language("de", decimal=",", group=".")
    >>> [number_value(word, german) for word in ("1.234,5", "7", "14:30", "A4")]
    ['1234.5', '', '14:30', '']
    """
    if word.isascii() and not any(map(str.isdigit, word)):  # most words
        return ""
    value = convert_number(word, language, _PLAIN)
    if len(value) > 1 and value.replace(".", "", 1).isdecimal():
        return value
    return word if _COMPOUND.fullmatch(word) else ""


@dataclass(frozen=True)
class NumberVariables:
    """The languages of both sides, and the source numbers that stay words."""

    source: Language
    target: Language
    words: frozenset[str] = frozenset()

    @staticmethod
    def learn(source: Language, target: Language, sentences: Iterable[Sequence[str]]) -> NumberVariables:
        """Learn from source sentences which frequent numbers stay words."""
        counts = Counter(word for words in sentences for word in words if number_value(word, source))
        kept = frozenset(word for word, count in counts.items() if count >= RARE)
        return NumberVariables(source, target, kept)

    def values(self, words: Sequence[str]) -> dict[str, int]:
        """Assign variables to the numbers of a source sentence, in order, up to the maximum. Return them by value."""
        out: dict[str, int] = {}
        for word in words:
            value = "" if word in self.words else number_value(word, self.source)
            if value and len(out) < len(VARIABLES):
                out.setdefault(value, len(out))
        return out

    def fold(self, words: Sequence[str], values: Mapping[str, int], language: Language) -> list[str]:
        """Replace numbers with these values by their variables, in words of either language."""
        if not values:
            return list(words)
        places = (values.get(number_value(word, language)) for word in words)
        return [word if place is None else VARIABLES[place] for word, place in zip(words, places, strict=True)]

    def fold_source(self, words: Sequence[str]) -> list[str]:
        """Replace the numbers of a sentence to translate by variables."""
        return self.fold(words, self.values(words), self.source)

    def fold_pair(self, source: Sequence[str], target: Sequence[str]) -> tuple[list[str], list[str]]:
        """Prepare a sentence pair for training. A number that occurs on only one side stays a word."""
        values = self.values(source)
        if not values:
            return list(source), list(target)
        there = {number_value(word, self.target) for word in target}
        shared = [value for value in values if value in there]
        both = {value: place for place, value in enumerate(shared)}
        return self.fold(source, both, self.source), self.fold(target, both, self.target)

    def unfold(self, words: Sequence[str], source: Sequence[str]) -> list[str]:
        """Replace the variables of an output by numbers in the form of the target language.

        If rules of other origin produce more variables than the sentence has numbers, the last number or a mark is
        used.
        """
        if not any(word in _PLACES for word in words):
            return list(words)
        values = self.values(source)
        given = {values[v]: w for w in reversed(source) if (v := number_value(w, self.source)) in values}
        numbers = [convert_number(given[place], self.source, self.target) for place in range(len(given))]
        out = list(words)
        for place, word in enumerate(words):
            if word in _PLACES:
                out[place] = numbers[min(_PLACES[word], len(numbers) - 1)] if numbers else "…"
        return out


def link_variables(source: Sequence[str], target: Sequence[str], links: Alignment) -> Alignment:
    """Let variables have links only to equal variables.

    Then every variable of a rule's target side is on its source side.

    >>> str(link_variables(["im", "Jahr", "⟨1⟩"], ["in", "⟨1⟩"], Alignment.parse("0-0 1-1 2-0")))
    '0-0 2-1'
    """
    if not any(word in _PLACES for word in source):
        return links
    rest = [(i, j) for i, j in links if source[i] not in _PLACES and target[j] not in _PLACES]
    for variable in VARIABLES:
        left, right = ([i for i, word in enumerate(words) if word == variable] for words in (source, target))
        if left and right:
            several = max(len(left), len(right))  # one with many if a side repeats it
            rest += {(left[min(k, len(left) - 1)], right[min(k, len(right) - 1)]) for k in range(several)}
    return Alignment(sorted(rest))
