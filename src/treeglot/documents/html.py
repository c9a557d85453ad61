"""Translates HTML: tags, comments and scripts stay unchanged, byte for byte.

A block of text is a segment, and its inline elements move with their words. Some parts stay untouched: elements with
translate="no" or the class `notranslate`, `<code>` and similar elements, `<script>`, `<style>`, and addresses of pages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape, unescape

from treeglot.documents.html_tokens import Token, html_tokens
from treeglot.documents.inline import Begin, End, Item, Object, Translates, pairs, translate_segments

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
_XHTML = re.compile(r"\s*<\?xml\s|<html[^>]*\sxmlns\s*=", re.IGNORECASE)


def translate_html(model: Translates, text: str, *, threads: int = 1) -> str:
    """Return a page or a fragment of HTML in the target language of a model that takes text.

    Inline elements surround the translations of their words, which the alignments of the rules determine.
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
    """A tag as it is written, and the places of attributes that contain text."""

    raw: str
    name: str = ""
    places: tuple[tuple[int, int], ...] = ()  # of the values in `raw`
    values: tuple[list[Item], ...] = ()
    end: str = ""  # how the element's end is written
    formula: bool = False  # a word with parts below or above the line, which may go on


def _written(item: Item, made: dict[int, list[Item]]) -> str:
    if isinstance(item, str):
        return escape(item, quote=False).replace("\u00a0", "&#160;")  # XHTML has no &nbsp;
    if isinstance(item, End):
        return str(item.tag.end)
    tag: _Tag = item.tag
    out, at = "", 0
    for (begin, end), value in zip(tag.places, tag.values, strict=True):
        out += tag.raw[at:begin] + '"' + escape("".join(map(str, made[id(value)]))) + '"'
        at = end
    return out + tag.raw[at:]


class _Reader:
    """Splits a page into markup between blocks, and blocks of text as segments."""

    def __init__(self, text: str) -> None:
        self.source = text
        self.tokens = list(html_tokens(text))
        self.parts: list[_Tag | list[Item]] = []
        self._block: list[Item] = []
        self._preformatted = 0
        self._xhtml = _XHTML.match(text) is not None or _XHTML.search(text[:2048]) is not None
        number = 0
        while number < len(self.tokens):
            token = self.tokens[number]
            stays = token.kind == "begin" and _stays(token)
            last = self._last(number) if stays else number
            raw = text[token.begin : self.tokens[last].end]
            if stays:
                self._object(token.name, raw)
            else:
                self._take(token, raw)
            number = last + 1
        self._break()

    def _take(self, token: Token, raw: str) -> None:
        """Add a token to the current block, or end the block."""
        kind, name = token.kind, token.name
        if kind == "text":
            self._block.append(unescape(raw) if self._preformatted > 0 else _Flowing(unescape(raw)))
        elif kind == "cdata" and self._xhtml:  # text, whose < and & are characters
            shown = raw.removeprefix("<![CDATA[").removesuffix("]]>")
            self._block.append(shown if self._preformatted > 0 else _Flowing(shown))
        elif kind == "comment" or (kind in ("begin", "empty") and name in VOID) or (kind == "empty" and name in INLINE):
            self._block.append(Object(_tag(token, raw)))
        elif kind == "begin" and name in INLINE:
            self._block.append(Begin(_tag(token, raw), whole="id" in token.attributes))
        elif kind == "end" and name in INLINE:
            self._block.append(End(_Tag(raw, name, end=raw)))
        else:
            self._preformatted += (name == "pre") * ((kind == "begin") - (kind == "end"))
            self._break(_tag(token, raw))

    def _last(self, number: int) -> int:
        """Return the token that ends the current element, or the last token of the page."""
        name, depth = self.tokens[number].name, 0
        if name in _EMPTY:
            return number
        for place in range(number, len(self.tokens)):
            token = self.tokens[place]
            if token.name == name and token.kind in ("begin", "end"):
                depth += 1 if token.kind == "begin" else -1
                if depth == 0:
                    return place
        return len(self.tokens) - 1

    def _object(self, name: str, raw: str) -> None:
        """Take an untranslated element. An inline one with text is a word of its sentence; others separate blocks."""
        if name in SKIPPED or not (name in STAYS or name in INLINE or name in VOID):
            self._break(_Tag(raw, name))
            return
        shown = " ".join(unescape(re.sub(r"<[^>]*>", "", raw)).split())
        self._block.append(Object(_Tag(raw, name), shown if name not in ("svg", "math", "object") else ""))

    def _break(self, tag: _Tag | None = None) -> None:
        """End the current block. Elements that cross its border are split."""
        block, self._block = self._block, []
        block = _with_notes(block)
        partner = pairs(block, lambda begin, end: begin.tag.name == end.tag.name)
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
    """Text in which line ends are replaced by blanks."""


def _with_notes(block: list[Item]) -> list[Item]:
    """Return the block with an object for each note at a word (`house<sup>1</sup>`).

    H<sub>2</sub>O becomes one word.
    """
    if not any(isinstance(item, Begin) and item.tag.name in ("sub", "sup") for item in block):
        return block
    partner = pairs(block, lambda begin, end: begin.tag.name == end.tag.name)
    out: list[Item] = []
    place = 0
    while place < len(block):
        item = block[place]
        inner = block[place : partner[place] + 1] if isinstance(item, Begin) and place in partner else []
        if not inner or not _is_note(inner, out[-1] if out else None):
            out.append(item)
            place += 1
            continue
        place += len(inner)
        after = block[place] if place < len(block) else None
        rest = re.match(r"\w*", after).group() if isinstance(after, str) else ""  # type: ignore[union-attr]
        _add_note(out, inner, rest)
        if isinstance(after, str):
            out += [type(after)(after[len(rest) :])] if len(after) > len(rest) else []
            place += 1
    return out


def _is_note(inner: list[Item], before: Item | None) -> bool:
    """Return whether an element is a note at a word.

    A note stands above or below the line, and contains only numbers, marks or one letter.
    """
    text = "".join(item for item in inner if isinstance(item, str)).strip()
    at_word = before[-1:].isalnum() if isinstance(before, str) else isinstance(before, Object) and before.tag.formula
    name = inner[0].tag.name  # type: ignore[union-attr]
    plain = not any(isinstance(item, Object) for item in inner)
    return name in ("sub", "sup") and at_word and plain and re.fullmatch("[^A-Za-z]+|[A-Za-z]", text) is not None


def _add_note(out: list[Item], inner: list[Item], rest: str) -> None:
    """Append a note. If letters follow it (`rest`) or it stands below the line, it joins the word before it."""
    raw = "".join(escape(item, quote=False) if isinstance(item, str) else item.tag.raw for item in inner) + rest
    before = out[-1]
    if isinstance(before, str):
        if inner[0].tag.name == "sup" and not rest:  # type: ignore[union-attr]
            out.append(Object(_Tag(raw)))
            return
        start = re.search(r"\w*\Z", before).group()  # type: ignore[union-attr]
        out[-1] = type(before)(before[: len(before) - len(start)])
        out.append(before := Object(_Tag(start, formula=True), start))
    assert isinstance(before, Object)
    shown = "".join(item for item in inner if isinstance(item, str)) + rest
    out[-1] = Object(_Tag(before.tag.raw + raw, formula=True), before.text + shown)


def _joined(segment: list[Item]) -> list[Item]:
    """Reduce spaces between words to one blank. Spaces around the block stay as they are."""
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


def _stays(token: Token) -> bool:
    """Return whether the content of an element is not translated."""
    given = {name: value for name, (value, _, _) in token.attributes.items()}
    kept = given.get("translate", "").lower() == "no" or "notranslate" in given.get("class", "").split()
    return kept or token.name in STAYS or token.name in SKIPPED


def _tag(token: Token, raw: str) -> _Tag:
    """Create a tag from its text, with the places of attributes that contain text."""
    found = [value for name, value in token.attributes.items() if name in ATTRIBUTES and value[0].strip()]
    places = tuple((begin - token.begin, end - token.begin) for _, begin, end in found)
    return _Tag(raw, token.name, places, tuple([value] for value, _, _ in found))
