"""The notation that the sample's grammar and lexicon share: tree fragments, values and conditions.

A fragment is a row of items, written as bracketed trees::

    (VP prep:<place> *(VP *<v> asp:(AS 了~1) dobj:<object>))

`*` marks the head of its row, `relation:` what another item is to that head; `<name>` is a site and `<name.form>` a
word form of a lexicon entry, `{name.attribute}` a word that an entry holds in an attribute, and words with the same
`~number` on both sides of a rule are linked. `<name/TAG>` gives an entry's word another tag, and
`<name!>` an entry that stands on this side only. `-` is the empty row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from treeglot.base.errors import FormatError

Links: TypeAlias = "tuple[int, ...]"


@dataclass(frozen=True)
class Place:
    """A line of a file, for messages."""

    file: str
    line: int

    def error(self, problem: str) -> FormatError:
        """The error to raise for `problem` at this place."""
        return FormatError(self.file, self.line, problem)


@dataclass(frozen=True)
class Reference:
    """`$name` or `$name.attribute`: a value that the rule has bound."""

    name: str
    attribute: str = ""

    def __str__(self) -> str:
        return f"${self.name}.{self.attribute}" if self.attribute else f"${self.name}"


Value: TypeAlias = "tuple[str, ...] | Reference"


@dataclass(frozen=True)
class Branch:
    """A labelled node over a row of items."""

    label: str
    row: Row


@dataclass(frozen=True)
class Word:
    """A tag over a word; `word` is a reference where the word stands in an entry's attribute."""

    tag: str
    word: str | Reference
    links: Links


@dataclass(frozen=True)
class Site:
    """A place that is filled by another rule, or (with a form on the target side) by a lexicon entry."""

    name: str
    form: str | Reference
    tag: str
    alone: bool
    links: Links


Part: TypeAlias = "Branch | Word | Site"


@dataclass(frozen=True)
class Row:
    """Items side by side: one is the head, each other one has a relation to it."""

    items: tuple[Part, ...] = ()
    relations: tuple[str, ...] = ()
    head: int = 0

    def parts(self) -> Iterator[Part]:
        """All parts, at any depth, from left to right."""
        for item in self.items:
            yield item
            if isinstance(item, Branch):
                yield from item.row.parts()

    def sites(self) -> Iterator[Site]:
        """The sites, at any depth, from left to right."""
        return (part for part in self.parts() if isinstance(part, Site))

    def links(self) -> set[int]:
        """The link numbers of words and sites."""
        return {link for part in self.parts() if not isinstance(part, Branch) for link in part.links}


_NAME = r"[a-z][a-z0-9-]*"
_LINKS = r"(?:~(?P<links>\d+(?:,\d+)*))?"
_TOKEN = re.compile(
    rf"""\s*(?:
      (?P<mark>\*|[a-z]+:)?\((?P<label>[^\s(){{}}<>~]+)
    | (?P<site_mark>\*|[a-z]+:)?<(?P<site>{_NAME})(?:\.(?P<form>\$?{_NAME})|/(?P<tag>[A-Z]+))?(?P<alone>!)?>{_LINKS}
    | (?P<close>\))
    | {{(?P<entry>{_NAME})\.(?P<attribute>{_NAME})}}{_LINKS.replace("links", "attribute_links")}
    | (?P<word>[^\s(){{}}<>~]+){_LINKS.replace("links", "word_links")}
    )""",
    re.VERBOSE,
)
_WORD = "#"  # stands where a mark does: the item is the word of the tag that is open
_CONDITION = re.compile(rf"(?P<key>{_NAME}(?:\.{_NAME})?)(?P<sign>!?=)(?P<value>\S+)")
_VALUE = re.compile(rf"\$(?P<name>{_NAME})(?:\.(?P<attribute>{_NAME}))?|(?P<atoms>[^\s$|]+(?:\|[^\s$|]+)*)")


def statements(file: str, text: str) -> Iterator[tuple[Place, str]]:
    """The lines of a file that are not empty, without comments, each with its place.

    >>> list(statements("words.txt", "# nouns\\n苹果 = apple  # fruit\\n"))
    [(Place(file='words.txt', line=2), '苹果 = apple')]
    """
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.partition("#")[0].rstrip()
        if line:
            yield Place(file, number), line


def parse_value(text: str, place: Place) -> Value:
    """A set of atoms `a|b`, or a reference.

    >>> parse_value("food|drink", Place("grammar.txt", 1))
    ('food', 'drink')
    >>> parse_value("$v.object", Place("grammar.txt", 1))
    Reference(name='v', attribute='object')
    """
    match = _VALUE.fullmatch(text)
    if match is None:
        raise place.error(f"'{text}' is not a value; expected atoms such as food|drink, or $name or $name.attribute")
    if match["atoms"] is not None:
        return tuple(match["atoms"].split("|"))
    return Reference(match["name"], match["attribute"] or "")


def parse_conditions(text: str, place: Place, signs: str = "= or !=") -> dict[str, tuple[bool, Value]]:
    """Conditions `key=value` (true) and `key!=value` (false), separated by blanks; each key once.

    >>> parse_conditions("class=person agr!=i", Place("grammar.txt", 1))
    {'class': (True, ('person',)), 'agr': (False, ('i',))}
    """
    conditions: dict[str, tuple[bool, Value]] = {}
    for word in text.split():
        match = _CONDITION.fullmatch(word)
        if match is None or (match["sign"] == "!=" and signs == "="):
            raise place.error(f"'{word}' is not understood here; expected NAME=VALUE (signs: {signs})")
        if match["key"] in conditions:
            raise place.error(f"'{match['key']}' is given twice")
        conditions[match["key"]] = (match["sign"] == "=", parse_value(match["value"], place))
    return conditions


def parse_row(text: str, place: Place) -> Row:
    """A fragment.

    >>> row = parse_row("(PP *(P 在~1) pobj:<where>)", Place("grammar.txt", 1))
    >>> [site.name for site in row.sites()]
    ['where']
    """
    if text.strip() == "-":
        return Row()
    return _Parser(text, place).parse()


class _Parser:
    """Keeps the rows that are open, the outermost first."""

    def __init__(self, text: str, place: Place) -> None:
        self.text, self.place = text, place
        self.open: list[tuple[str, str, list[tuple[str, Part]]]] = [("", "", [])]

    def parse(self) -> Row:
        position = 0
        while self.text[position:].strip():
            match = _TOKEN.match(self.text, position)
            if match is None:
                raise self.place.error(f"'{self.text[position:].strip()}' is not part of a fragment")
            self._token(match)
            position = match.end()
        if len(self.open) > 1:
            raise self.place.error(f"the bracket of '({self.open[-1][1]}' is not closed")
        return self._row("the fragment", self.open[0][2])

    def _token(self, match: re.Match[str]) -> None:
        items = self.open[-1][2]
        if match["label"]:
            self.open.append((match["mark"] or "", match["label"], []))
        elif match["site"]:
            form = match["form"] or ""
            value = Reference(form[1:]) if form.startswith("$") else form
            items.append(
                (
                    match["site_mark"] or "",
                    Site(match["site"], value, match["tag"] or "", bool(match["alone"]), _links(match["links"])),
                )
            )
        elif match["close"]:
            self._close()
        else:
            word = match["word"] or Reference(match["entry"], match["attribute"])
            if len(self.open) == 1 or items:
                raise self.place.error(
                    f"'{match[0].strip()}' is a word without a tag; expected (TAG {match[0].strip()})"
                )
            links = _links(match["word_links"] if match["word"] else match["attribute_links"])
            items.append((_WORD, Word(self.open[-1][1], word, links)))

    def _close(self) -> None:
        if len(self.open) == 1:
            raise self.place.error("')' closes nothing")
        mark, label, items = self.open.pop()
        if not items:
            raise self.place.error(f"'({label})' has neither word nor items")
        part: Part
        if items[0][0] == _WORD:
            if len(items) > 1:
                raise self.place.error(f"'({label}' has a word and something beside it")
            part = items[0][1]
        else:
            part = Branch(label, self._row(f"'({label}'", items))
        self.open[-1][2].append((mark, part))

    def _row(self, name: str, items: list[tuple[str, Part]]) -> Row:
        if not items:
            raise self.place.error(f"{name} is empty; expected items, or '-' for none")
        heads = [i for i, (mark, _) in enumerate(items) if mark == "*"]
        if len(items) == 1:
            if items[0][0] not in ("", "*"):
                raise self.place.error(f"{name} has one item, its head; it takes no relation '{items[0][0]}'")
            return Row((items[0][1],), ("",), 0)
        if len(heads) != 1:
            raise self.place.error(f"{name} has {len(items)} items and {len(heads)} heads; expected one marked '*'")
        if "" in (mark for mark, _ in items):
            raise self.place.error(f"{name} has an item that is neither its head nor in a relation to it")
        relations = tuple(mark.rstrip(":") if mark != "*" else "" for mark, _ in items)
        return Row(tuple(part for _, part in items), relations, heads[0])


def _links(text: str | None) -> Links:
    return tuple(int(number) for number in text.split(",")) if text else ()
