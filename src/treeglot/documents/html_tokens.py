"""Splits HTML into tokens in one pass, in linear time for any text. The tokens in a row are the whole text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape

RAW = frozenset(("iframe", "noframes", "noscript", "script", "style", "textarea", "title", "xmp"))  # no tags in these

_NAME = re.compile(r"[a-zA-Z][^\s/>]*")
_ATTRIBUTE = re.compile(r"""[\s/]*([^\s=/>]*)(?:\s*=\s*("[^"]*"|'[^']*'|(?!["'])[^\s>]*))?""")


@dataclass
class Token:
    """A tag, text, or another item, with its place in the text."""

    kind: str  # begin, empty, end, text, comment, cdata, other
    begin: int
    end: int
    name: str = ""
    attributes: dict[str, tuple[str, int, int]] = field(default_factory=dict)  # values, with their places


def html_tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a page or a fragment of HTML. Text that a browser would ignore, such as half a tag, is
    `other`.

    >>> [(token.kind, token.name) for token in html_tokens("<p class=x>1 < 2<br/><!-- > --></p>")]
    [('begin', 'p'), ('text', ''), ('empty', 'br'), ('comment', ''), ('end', 'p')]
    """
    at = begun = 0  # `begun`: where text that is not yet a token begins
    while (at := text.find("<", at)) >= 0:
        found = _markup(text, at)
        if found is None:
            at += 1
            continue
        if begun < at:
            yield Token("text", begun, at)
        yield found
        at = begun = found.end
        if found.kind == "begin" and found.name in RAW:
            end = re.compile(rf"</{re.escape(found.name)}(?=[\s/>])", re.IGNORECASE).search(text, at)
            at = end.start() if end else len(text)
            if begun < at:
                yield Token("text", begun, at)
            begun = at
    if begun < len(text):
        yield Token("text", begun, len(text))


def _markup(text: str, at: int) -> Token | None:
    """Return the markup that begins with the `<` at this place, or None if the `<` is text."""
    if text.startswith("<!--", at):
        return Token("comment", at, _after(text, "-->", at + len("<!")))  # <!--> is one, too
    for start, end, kind in (("<![CDATA[", "]]>", "cdata"), ("<!", ">", "other")):
        if text.startswith(start, at):
            return Token(kind, at, _after(text, end, at + len(start)))
    if text.startswith("<?", at):
        return Token("other", at, _after(text, ">", at))
    closes = text.startswith("</", at)
    name = _NAME.match(text, at + 1 + closes)
    if name is None:
        return None
    if closes:
        return Token("end", at, _after(text, ">", name.end()), name[0].lower())
    token = Token("begin", at, at, name[0].lower())
    place = name.end()
    while place < len(text):
        found = _ATTRIBUTE.match(text, place)
        assert found is not None  # it matches nothing, too
        if found[2] is not None:
            quoted = found[2][:1] in ('"', "'")
            value = found[2][1:-1] if quoted else found[2]
            token.attributes.setdefault(found[1].lower(), (unescape(value), *found.span(2)))
        elif found[1]:
            token.attributes.setdefault(found[1].lower(), ("", found.end(1), found.end(1)))
        place = found.end()
        if text.startswith(">", place):
            token.kind = "empty" if text.startswith("/", place - 1) and not (found[2] or "").endswith("/") else "begin"
            token.end = place + 1
            return token
        if not found[0]:
            place = (
                place + 1
                if text.startswith("=", place) and text[place + 1 : place + 2] not in ('"', "'")
                else len(text)
            )
    return Token("other", at, len(text))


def _after(text: str, mark: str, at: int) -> int:
    """Return the place after the next `mark`, or the end of the text."""
    found = text.find(mark, at)
    return len(text) if found < 0 else found + len(mark)
