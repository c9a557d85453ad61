"""Splits a text into sentences, with the rules of its language."""

from __future__ import annotations

import re
from collections.abc import Iterator

from treeglot.text.languages import Language
from treeglot.text.words import without_surrogates

LINE_END = re.compile("[\n\r\v\f\x85\u2028\u2029]")
AT_ONCE = 10_000  # characters, or more for longer sentences: many quotes that do not end take quadratic time


def split_sentences(text: str, language: Language) -> list[tuple[int, int]]:
    """Return where sentences begin and end, without the spaces around them. Each line end also ends a sentence.

    >>> split_sentences("One. Two?\\n\\nThree", Language("en"))
    [(0, 4), (5, 9), (11, 16)]
    """
    spans: list[tuple[int, int]] = []
    begin = 0
    for line in LINE_END.split(without_surrogates(text)):
        for first, last in _of_line(line, language):
            sentence = line[first:last]
            start = begin + first + len(sentence) - len(sentence.lstrip())
            end = begin + first + len(sentence.rstrip())
            if start < end:
                spans.append((start, end))
        begin += len(line) + 1
    return spans


def _of_line(line: str, language: Language) -> Iterator[tuple[int, int]]:
    from sentencex import get_sentence_boundaries

    begin, size = 0, AT_ONCE
    while begin < len(line):
        found = get_sentence_boundaries(language.primary, line[begin : begin + size])
        places = [(begin + one["start_index"], begin + one["end_index"]) for one in found]
        if begin + size >= len(line):
            yield from places
            return
        if len(places) < 2:
            size *= 2
            continue
        yield from places[:-1]  # the last may go on
        begin, size = places[-1][0], AT_ONCE
