"""HTML, translated in place: tags, comments and scripts stay as they are, byte for byte.

A block of text is a segment: its inline elements go with their words. These stay untouched: elements with
translate="no" or the class `notranslate`, `<code>` and its like, `<script>`, `<style>`, addresses of pages.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from html import escape, unescape
from html.parser import HTMLParser
from itertools import accumulate

from treeglot.documents.inline import Begin, End, Item, Object, Translates, translate_segments

# fmt: off
INLINE = frozenset((
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "data", "del", "dfn", "em", "font", "i", "ins", "label",
    "mark", "q", "s", "small", "span", "strike", "strong", "sub", "sup", "time", "u",
))
VOID = frozenset(("embed", "img", "input", "wbr"))  # they stand between words
STAYS = frozenset(("code", "kbd", "math", "object", "samp", "svg", "tt", "var"))  # whole, within a sentence
SKIPPED = frozenset((  # whole, between blocks
    "iframe", "noframes", "noscript", "script", "style", "template", "textarea", "xmp",
))
ATTRIBUTES = frozenset(("alt", "aria-label", "placeholder", "title"))  # whose values are text
_EMPTY = frozenset((  # they have no end
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
))
# fmt: on
_BLANKS = re.compile(r"[ \t\n\r\f]*")
_VALUE = re.compile(r"""([\w:-]+)(\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)""")


def translate_html(model: Translates, text: str, *, threads: int = 1) -> str:
    """The page or piece of HTML in the target language of a model that takes text.

    Inline elements stand around the translations of their words, by the alignments of the rules.
    """
    reader = _Reader(text)
    segments: list[list[Item]] = []
    for part in reader.parts:
        found = part.values if isinstance(part, _Tag) else [part]
        segments += found
        if not isinstance(part, _Tag):
            segments += [v for item in part if isinstance(item, Begin | Object) for v in item.tag.values]
    made = dict(zip(map(id, segments), translate_segments(model, segments, threads), strict=True))
    out: list[str] = []
    for part in reader.parts:
        items = [Object(part)] if isinstance(part, _Tag) else made[id(part)]
        out += [_written(item, made) for item in items]
    return "".join(out)


@dataclass(eq=False)
class _Tag:
    """Markup as it is written, with the attributes in it that are text."""

    raw: str
    name: str = ""
    places: tuple[tuple[int, int], ...] = ()  # of the values in `raw`
    values: tuple[list[Item], ...] = ()
    end: str = ""  # how the element's end is written


def _written(item: Item, made: dict[int, list[Item]]) -> str:
    if isinstance(item, str):
        return escape(item, quote=False).replace("\u00a0", "&nbsp;")
    if isinstance(item, End):
        return str(item.tag.end)
    tag: _Tag = item.tag
    out, at = "", 0
    for (begin, end), value in zip(tag.places, tag.values, strict=True):
        out += tag.raw[at:begin] + '"' + escape("".join(map(str, made[id(value)]))) + '"'
        at = end
    return out + tag.raw[at:]


class _Reader(HTMLParser):
    """Parts of a page: markup between blocks, and blocks of text as segments."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=False)
        self.source = text
        self.lines = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
        self.events: list[tuple[int, str, str, list[tuple[str, str | None]]]] = []  # place, kind, name, attributes
        self.feed(text)
        self.close()
        self.parts: list[_Tag | list[Item]] = []
        self._block: list[Item] = []
        self._preformatted = 0
        self._read()

    # The parser calls these; what an event is written like is found afterwards, from the next one's place.
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """`<b>`."""
        self._event("begin", tag, attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """`<br/>`."""
        self._event("empty", tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        """`</b>`."""
        self._event("end", tag)

    def handle_data(self, data: str) -> None:
        """Text."""
        self._event("text", data)

    def handle_charref(self, name: str) -> None:
        """`&#8212;`."""
        self._event("reference")

    def handle_entityref(self, name: str) -> None:
        """`&amp;`."""
        self._event("reference")

    def handle_comment(self, data: str) -> None:
        """`<!-- … -->`."""
        self._event("comment")

    def handle_decl(self, decl: str) -> None:
        """`<!DOCTYPE html>`."""
        self._event("other")

    def handle_pi(self, data: str) -> None:
        """`<?xml … ?>`."""
        self._event("other")

    def unknown_decl(self, data: str) -> None:
        """`<![CDATA[ … ]]>`."""
        self._event("other")

    def _event(self, kind: str, name: str = "", attrs: list[tuple[str, str | None]] | None = None) -> None:
        line, offset = self.getpos()
        self.events.append((self.lines[line - 1] + offset, kind, name, attrs or []))

    def _read(self) -> None:
        ends = [place for place, *_ in self.events[1:]] + [len(self.source)]
        number = 0
        if self.events and self.events[0][0] > 0:
            self.parts.append(_Tag(self.source[: self.events[0][0]]))
        while number < len(self.events):
            begin, kind, name, attrs = self.events[number]
            last = self._last(number) if kind == "begin" and _stays(name, attrs) else number
            raw = self.source[begin : ends[last]]
            if kind == "begin" and _stays(name, attrs):
                self._object(name, raw)
            elif kind == "text":
                self._text(name)
            elif kind == "reference":
                self._text(unescape(raw))
            elif kind == "comment" or (kind in ("begin", "empty") and name in VOID):
                self._block.append(Object(_tag(raw, name, attrs)))
            elif kind == "begin" and name in INLINE:
                self._block.append(Begin(_tag(raw, name, attrs), whole=any(key == "id" for key, _ in attrs)))
            elif kind == "empty" and name in INLINE:
                self._block.append(Object(_tag(raw, name, attrs)))
            elif kind == "end" and name in INLINE:
                self._block.append(End(_Tag(raw, name, end=raw)))
            else:
                self._preformatted += (name == "pre") * ((kind == "begin") - (kind == "end"))
                self._break(_tag(raw, name, attrs))
            number = last + 1
        self._break()

    def _last(self, number: int) -> int:
        """The event that ends an element; the last of all if none does."""
        name, depth = self.events[number][2], 0
        if name in _EMPTY:
            return number
        for place in range(number, len(self.events)):
            _, kind, other, _ = self.events[place]
            if other == name and kind in ("begin", "end"):
                depth += 1 if kind == "begin" else -1
                if depth == 0:
                    return place
        return len(self.events) - 1

    def _object(self, name: str, raw: str) -> None:
        """An element that stays: a word of its sentence if it is inline and has text, and between blocks if not."""
        if name in SKIPPED or not (name in STAYS or name in INLINE or name in VOID):
            self._break(_Tag(raw, name))
            return
        shown = " ".join(unescape(re.sub(r"<[^>]*>", "", raw)).split())
        self._block.append(Object(_Tag(raw, name), shown if name not in ("svg", "math", "object") else ""))

    def _text(self, text: str) -> None:
        self._block.append(text if self._preformatted > 0 else _Flowing(text))

    def _break(self, tag: _Tag | None = None) -> None:
        """Ends a block; elements that do not begin and end in it part it."""
        block, self._block = self._block, []
        partner: dict[int, int] = {}
        opened: list[int] = []
        for place, item in enumerate(block):
            if isinstance(item, Begin):
                opened.append(place)
            elif isinstance(item, End) and opened and block[opened[-1]].tag.name == item.tag.name:  # type: ignore[union-attr]
                partner[place] = opened.pop()
                partner[partner[place]] = place
        alone = [place for place, item in enumerate(block) if isinstance(item, Begin | End) and place not in partner]
        for begin, end in [(a, b) for a, b in partner.items() if a < b]:
            if bisect_left(alone, begin) < bisect_left(alone, end):  # what parts the text parts this element, too
                del partner[begin], partner[end]
        segment: list[Item] = []
        for place, item in enumerate(block):
            if isinstance(item, Begin | End) and place not in partner:
                self.parts += [_joined(segment), item.tag]
                segment = []
                continue
            if isinstance(item, Begin):
                item.tag.end = block[partner[place]].tag.raw  # type: ignore[union-attr]
            segment.append(item)
        self.parts += [_joined(segment), tag] if tag is not None else [_joined(segment)]


class _Flowing(str):
    """Text in which a line's end is a blank."""


def _joined(segment: list[Item]) -> list[Item]:
    """The segment with one blank for spaces between words; those around the block stay as they are."""
    texts = [place for place, item in enumerate(segment) if not isinstance(item, Begin | End)]
    out: list[Item] = []
    for place, item in enumerate(segment):
        if isinstance(item, _Flowing):
            before = _BLANKS.match(item).group() if place == texts[0] else ""  # type: ignore[union-attr]
            rest = item[len(before) :]
            kept = rest.rstrip(" \t\n\r\f") if place == texts[-1] else rest
            item = before + re.sub(r"[ \t\n\r\f]+", " ", kept) + rest[len(kept) :]
        out.append(item)
    return out


def _stays(name: str, attrs: list[tuple[str, str | None]]) -> bool:
    """Whether nothing in an element is translated."""
    given = dict(attrs)
    kept = (given.get("translate") or "").lower() == "no" or "notranslate" in (given.get("class") or "").split()
    return kept or name in STAYS or name in SKIPPED


def _tag(raw: str, name: str, attrs: list[tuple[str, str | None]]) -> _Tag:
    """A tag, with the places of the attributes that are text."""
    wanted = {key: value for key, value in attrs if key in ATTRIBUTES and value and value.strip()}
    found = [m for m in _VALUE.finditer(raw) if m[1].lower() in wanted] if wanted else []
    found = [m for m in found if unescape(m[3].strip("\"'")) == wanted[m[1].lower()]]
    values: tuple[list[Item], ...] = tuple([unescape(m[3].strip("\"'"))] for m in found)
    return _Tag(raw, name, tuple(m.span(3) for m in found), values)
