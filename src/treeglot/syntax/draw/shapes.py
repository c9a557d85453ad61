"""The shapes of a drawing. A layout places shapes once, and the terminal and SVG draw the same shapes.

The unit of x is that of the layout's `Metric`: columns of a terminal, or pixels of a picture. y counts rows from the
top.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

Role: TypeAlias = Literal["label", "tag", "word", "relation", "score", "faint", "strong"]


@dataclass(frozen=True)
class Text:
    """A piece of text. `x` is its middle, or its left or right end."""

    x: float
    y: float
    text: str
    role: Role
    anchor: Literal["middle", "start", "end"] = "middle"
    turned: bool = False  # a picture turns it upwards; a terminal cannot
    group: int | None = None  # in a picture, what belongs together has one colour and lights up together
    node: tuple[int, int] | None = None  # of a forest: its number, and how many edges build it


@dataclass(frozen=True)
class Branch:
    """Lines from a node at (x, y) down to several others."""

    x: float
    y: float
    ends: tuple[tuple[float, float], ...]
    role: Role = "faint"
    group: int | None = None


@dataclass(frozen=True)
class Arc:
    """An arrow above words, from the word at `head` to the word at `dependent`.

    `y` is its top, and `foot` the row of words.
    """

    head: float
    dependent: float
    y: float
    foot: float
    text: str
    role: Role = "faint"


@dataclass(frozen=True)
class Fan:
    """A hyperedge: lines that start `shift` beside the middle of a node at (x, y), and end at others.

    For pictures only.
    """

    x: float
    shift: float
    y: float
    ends: tuple[tuple[float, float], ...]
    role: Role
    name: str
    head: int  # the nodes that it joins, by number
    tails: tuple[int, ...]


@dataclass(frozen=True)
class Square:
    """A cell of a matrix, which can be filled."""

    x: float
    y: float
    filled: bool


@dataclass(frozen=True)
class Band:
    """A line below neighbouring words that belong together. It appears only in pictures."""

    left: float
    right: float
    y: float
    group: int
    bold: bool = False


Shape: TypeAlias = "Text | Branch | Arc | Fan | Square | Band"


@dataclass
class Drawing:
    """A list of shapes, and the room that they take."""

    width: float
    height: float
    shapes: list[Shape] = field(default_factory=list)


def stacked(drawings: Sequence[Drawing], gap: float) -> Drawing:
    """Put drawings below each other, `gap` rows apart.

    >>> both = stacked([Drawing(5, 1, [Text(0, 0, "a", "word")]), Drawing(9, 1, [Text(0, 0, "b", "word")])], 2)
    >>> both.width, both.height, [shape.y for shape in both.shapes]
    (9, 4.0, [0.0, 3.0])
    """
    found = Drawing(0, 0)
    for drawing in drawings:
        top = found.height + gap if found.shapes else 0.0
        found.shapes += [_lower(shape, top) for shape in drawing.shapes]
        found.width, found.height = max(found.width, drawing.width), top + drawing.height
    return found


def _lower(shape: Shape, rows: float) -> Shape:
    match shape:
        case Branch() | Fan():
            return replace(shape, y=shape.y + rows, ends=tuple((x, y + rows) for x, y in shape.ends))
        case Arc():
            return replace(shape, y=shape.y + rows, foot=shape.foot + rows)
        case Text() | Square() | Band():
            return replace(shape, y=shape.y + rows)


@dataclass(frozen=True)
class Metric:
    """The medium of a drawing: it defines the width of text and the distance between neighbours."""

    measure: Callable[[str], float]
    gap: float
    whole: bool  # positions are whole numbers: columns

    def before(self, width: float) -> float:
        """Return how far an item of this width extends to the left of its middle."""
        return float((width - 1) // 2) if self.whole else width / 2

    def snap(self, x: float) -> float:
        """Return the nearest position at or to the left of `x` at which something can be drawn."""
        return float(x // 1) if self.whole else x


def columns(text: str) -> int:
    """Return the columns that `text` takes in a terminal: two for a wide character, none for a combining one.

    >>> columns("会谈 e\\u0301")
    6
    """
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def printable(text: str) -> str:
    """Return `text` with control characters escaped, so that words cannot control the terminal.

    >>> printable("a\\x1b[31m")
    'a\\\\x1b[31m'
    """
    return "".join(c.encode("unicode_escape").decode() if _commands(c) else c for c in text)


BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def _commands(character: str) -> bool:
    """Return whether a character is a control character. XML forbids U+FFFE and U+FFFF, too."""
    return (
        unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
        or unicodedata.bidirectional(character) in BIDI
        or character in "\ufffe\uffff"
    )


def pixels(text: str) -> float:
    """Return the approximate width of `text` in a sans-serif font of 15 pixels."""
    return sum(_pixels(character) for character in text)


def _pixels(character: str) -> float:
    wide = _columns(character)
    if wide != 1:
        return 15.0 if wide else 0.0
    if character in "iljtfr.,:;'|!()[]I ":
        return 5.0
    return 13.0 if character in "mwMW@%—" else 10.3 if character.isupper() else 8.4
