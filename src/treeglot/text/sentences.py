"""Sentences of a text."""

from __future__ import annotations

from treeglot.text.languages import Language


def split_sentences(text: str, language: Language) -> list[tuple[int, int]]:
    """Where the sentences of a text begin and end, without the spaces around them; a line never runs on.

    >>> split_sentences("One. Two?\\n\\nThree", Language("en"))
    [(0, 4), (5, 9), (11, 16)]
    """
    from sentencex import get_sentence_boundaries

    spans: list[tuple[int, int]] = []
    begin = 0
    for line in text.split("\n"):
        for found in get_sentence_boundaries(language.primary, line.encode("utf-8", "replace").decode()):
            sentence = line[found["start_index"] : found["end_index"]]
            start = begin + found["start_index"] + len(sentence) - len(sentence.lstrip())
            end = begin + found["start_index"] + len(sentence.rstrip())
            if start < end:
                spans.append((start, end))
        begin += len(line) + 1
    return spans
