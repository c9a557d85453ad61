"""Text with parts that stay as they are: names of files, code, addresses of pages."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from treeglot._core import Tokens
from treeglot.text.side import TextSide

Place = tuple[int, int]

# A page's address ends before marks of Chinese and Japanese, which have no blank before them. A mailbox begins where no
# letter is before it, so that each place is tried once.
_LETTER = r"0-9A-Za-z\u00c0-\u052f"
ADDRESS = re.compile(
    r"(?:https?://|ftp://|www\.)[^\s<>\"\u3000-\u303f\uff00-\uff65]*[^\s<>\".,;:!?)\]}'’”»\u3000-\u303f\uff00-\uff65]"
    rf"|(?<![{_LETTER}._%+-])[{_LETTER}._%+-]+@[{_LETTER}-]+(?:\.[{_LETTER}-]+)+",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Protected:
    """A text, and the characters in it that pass as one word each; the places are in order and share nothing."""

    text: str
    places: tuple[Place, ...] = ()


def addresses(text: str) -> list[Place]:
    """Where pages and mailboxes are named.

    >>> addresses("See https://a.org/b?c=1, or write to me@a.org.")
    [(4, 23), (37, 45)]
    """
    return [match.span() for match in ADDRESS.finditer(text)]


def split_protected(side: TextSide, given: Protected) -> list[Place]:
    """The sentences of a text; none ends within a part that stays."""
    pieces, last = [], 0
    for begin, end in given.places:
        pieces += [given.text[last:begin], "x" * (end - begin)]
        last = end
    return side.split("".join([*pieces, given.text[last:]]))


def tokenise_protected(side: TextSide, sentences: Sequence[tuple[Protected, Place]], threads: int = 1) -> list[Tokens]:
    """The words of sentences, each a part of a text; a protected place is a word."""
    pieces: list[str] = []
    cuts: list[list[tuple[Place, bool]]] = []  # by sentence: places in the text, and whether they stay
    for given, (begin, end) in sentences:
        at, cut = begin, []
        for number in range(bisect_left(given.places, (begin, begin)), len(given.places)):
            place = given.places[number]
            if place[1] > end:
                break
            cut += [((at, place[0]), False), (place, True)]
            at = place[1]
        cuts.append([*cut, ((at, end), False)])
        pieces += [given.text[a:b] for (a, b), stays in cuts[-1] if not stays]
    found = iter(side.tokenise(pieces, threads))
    out = []
    for (given, (begin, end)), cut in zip(sentences, cuts, strict=True):
        if len(cut) == 1:
            out.append(next(found))
            continue
        words: list[str] = []
        spans: list[Place] = []
        for (a, b), stays in cut:
            if stays:
                words.append("\u00a0".join(given.text[a:b].split()) or "\u00a0")
                spans.append((a - begin, b - begin))
                continue
            piece = next(found)
            words += piece.words
            spans += [(x + a - begin, y + a - begin) for x, y in piece.spans]
        out.append(Tokens(given.text[begin:end], words, spans))
    return out
