"""Text in which some parts stay unchanged, such as file names, code and web addresses."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from treeglot._core import Tokens
from treeglot.base.errors import UsageError
from treeglot.text.side import TextSide

Place = tuple[int, int]

_MARKED = re.compile(r"""<(\w+)\s+(?:translation="([^"<>]*)"|translate="no")\s*>([^<>]*)</\1\s*>""")
_TAG = re.compile(r"<(?=[\w/])")
# A page's address ends before marks of Chinese and Japanese, which have no blank before them. A mailbox begins where no
# letter is before it, so that each place is tried once.
_LETTER = r"0-9A-Za-z\u00c0-\u052f"
ADDRESS = re.compile(
    r"(?:https?://|ftp://|www\.)[^\s<>\"\u3000-\u303f\uff00-\uff65]*[^\s<>\".,;:!?)\]}'’”»\u3000-\u303f\uff00-\uff65]"
    rf"|(?<![{_LETTER}._%+-])[{_LETTER}._%+-]+@[{_LETTER}-]+(?:\.[{_LETTER}-]+)+",
    re.IGNORECASE,
)
# `code`, {{name}}, {name}, {0:.2f}, ${name}, %(name)s, %1$s, %s, %.2f; "5 %s" is no place of a format.
PLACEHOLDER = re.compile(
    r"`[^`\n]+`|\{\{[^{}\n]+\}\}|\$?\{[\w.\[\]]*(?:![rsa])?(?::[^{}\s]*)?\}"
    r"|%\([\w.]+\)[-+#0]{0,5}\d{0,9}(?:\.\d+)?[a-zA-Z]|(?<![\d%])%(?:\d+\$)?[-+#0]{0,5}\d{0,9}(?:\.\d+)?l{0,2}[sdifuxXeEgGc@](?![\w%])"
)


@dataclass(frozen=True)
class Protected:
    """A text with protected spans. Each span becomes one word. The spans are sorted and do not overlap.

    `given` contains possible translations for each span, and the model chooses one of them. A span without translations
    stays unchanged.
    """

    text: str
    places: tuple[Place, ...] = ()
    given: Mapping[Place, tuple[str, ...]] = field(default_factory=dict)


def read_markup(line: str) -> Protected:
    """Parse text in which `<x translation="the house||house">das Haus</x>` gives the translations of a part.

    Text in `<x translate="no">…</x>` stays unchanged, like the protected parts of any text.

    >>> read_markup('Siehe <x translation="Berne||Bern">Bern</x> &amp; 1 < 2').given
    {(6, 10): ('Berne', 'Bern')}
    >>> read_markup('Siehe <x translate="no">Das Haus</x> {0}').places
    ((6, 14), (15, 18))
    >>> read_markup("a <b>c</b>")
    Traceback (most recent call last):
    treeglot.base.errors.UsageError: '<b>c</b>' is not markup; expected <x translation="…"> or <x translate="no">
    """
    from html import unescape

    text, at = "", 0
    marked: list[Place] = []
    given: dict[Place, tuple[str, ...]] = {}
    for match in (*_MARKED.finditer(line), None):
        between = line[at : len(line) if match is None else match.start()]
        if odd := _TAG.search(between):
            found = between[odd.start() :][:40]
            raise UsageError(f'{found!r} is not markup; expected <x translation="…"> or <x translate="no">')
        text += unescape(between)
        if match is not None:
            inside = unescape(match[3])
            place = len(text) + len(inside) - len(inside.lstrip()), len(text) + len(inside.rstrip())
            if place[0] < place[1]:
                marked.append(place)
                if match[2] is not None:
                    given[place] = tuple(" ".join(unescape(one).split()) for one in match[2].split("||"))
            text += inside
            at = match.end()
    ends = [end for _, end in marked]
    begins = [*(begin for begin, _ in marked), len(text)]
    others = [place for place in stays(text) if place[1] <= begins[bisect_right(ends, place[0])]]
    return Protected(text, tuple(sorted([*marked, *others])), given)


def addresses(text: str) -> list[Place]:
    """Return the spans of web addresses and mail addresses.

    >>> addresses("See https://a.org/b?c=1, or write to me@a.org.")
    [(4, 23), (37, 45)]
    """
    return [match.span() for match in ADDRESS.finditer(text)]


def stays(text: str) -> list[Place]:
    """Return the spans that stay unchanged in any text: addresses, placeholders and code between backquotes.

    >>> stays("Hello {name}, %d of `a = b` at www.a.org")
    [(6, 12), (14, 16), (20, 27), (31, 40)]
    """
    found: list[Place] = []
    for place in sorted([*addresses(text), *(match.span() for match in PLACEHOLDER.finditer(text))]):
        if not found or place[0] >= found[-1][1]:
            found.append(place)
    return found


def split_protected(side: TextSide, given: Protected) -> list[Place]:
    """Split a text into sentences. No sentence ends inside a protected part."""
    pieces, last = [], 0
    for begin, end in given.places:
        pieces += [given.text[last:begin], "x" * (end - begin)]
        last = end
    return side.split("".join([*pieces, given.text[last:]]))


def tokenise_protected(side: TextSide, sentences: Sequence[tuple[Protected, Place]], threads: int = 1) -> list[Tokens]:
    """Split sentences of a text into words. Each protected part is one word."""
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
