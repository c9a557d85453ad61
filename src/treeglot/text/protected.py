"""Text with parts that stay as they are: names of files, code, addresses of pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from treeglot._core import Tokens
from treeglot.text.side import TextSide

Place = tuple[int, int]

ADDRESS = re.compile(r"(?:https?://|ftp://|www\.)[^\s<>\"]*[^\s<>\".,;:!?)\]}'’”»。，、]|[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


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
    text = given.text
    for begin, end in given.places:
        text = text[:begin] + "x" * (end - begin) + text[end:]
    return side.split(text)


def tokenise_protected(side: TextSide, sentences: Sequence[tuple[Protected, Place]], threads: int = 1) -> list[Tokens]:
    """The words of sentences, each a part of a text; a protected place is a word."""
    pieces: list[str] = []
    cuts: list[list[tuple[Place, bool]]] = []  # by sentence: places in the text, and whether they stay
    for given, (begin, end) in sentences:
        at, cut = begin, []
        for place in given.places:
            if begin <= place[0] and place[1] <= end:
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
