"""Draws the shapes of a drawing with characters, for terminals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from treeglot.syntax.draw.shapes import Arc, Branch, Drawing, Metric, Role, Square, Text, columns, printable

TERMINAL = Metric(columns, 2, True)

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
BOX = " ╵╷│╴┘┐┤╶└┌├─┴┬┼"  # by the sum of the directions that meet

ANSI: dict[Role, str] = {
    "label": "36",
    "tag": "32",
    "word": "1",
    "relation": "33",
    "score": "35",
    "faint": "2",
    "strong": "1;36",
}

# Replacements for characters that the terminal's encoding lacks.
PLAIN = str.maketrans(
    {**dict.fromkeys("╵╷│", "|"), **dict.fromkeys("╴╶─", "-"), **dict.fromkeys("┘┐┤└┌├┴┬┼", "+")}
    | {"▼": "v", "■": "#", "·": ".", "←": "<"}
)


@dataclass(frozen=True)
class Piece:
    """A part of a line that has one role, and so one colour."""

    text: str
    role: Role


@dataclass(frozen=True)
class Screen:
    """What a terminal can display: its width, its colours and its characters."""

    width: int = 80
    colour: bool = False
    encoding: str = "utf-8"

    def readable(self, text: str) -> str:
        """Return `text` with control characters, and characters that the encoding lacks, escaped."""
        return printable(text).encode(self.encoding, "backslashreplace").decode(self.encoding)

    def glyphs(self, text: str) -> str:
        """Replace lines and marks by plain characters if the encoding of the terminal lacks them."""
        try:
            text.encode(self.encoding)
        except UnicodeEncodeError:
            return text.translate(PLAIN)
        return text

    def line(self, pieces: Iterable[Piece]) -> str:
        """Join the pieces of a line. If the terminal has colours, use them."""
        parts = []
        for piece in pieces:
            text = self.glyphs(piece.text)
            parts.append(f"\x1b[{ANSI[piece.role]}m{text}\x1b[0m" if self.colour and text.strip() else text)
        return "".join(parts).rstrip(" ")


class Canvas:
    """A grid of characters, on which lines join where they meet."""

    def __init__(self) -> None:
        """Create an empty canvas, which grows on demand."""
        self._joints: dict[int, dict[int, int]] = {}  # row → column → directions
        self._texts: dict[int, dict[int, Piece]] = {}  # row → first column → text

    def horizontal(self, row: int, first: int, last: int) -> None:
        """Draw a line along a row, including both ends."""
        joints = self._joints.setdefault(row, {})
        for column in range(first, last + 1):
            bits = (RIGHT if column < last else 0) | (LEFT if column > first else 0)
            joints[column] = joints.get(column, 0) | bits

    def vertical(self, column: int, first: int, last: int) -> None:
        """Draw a line along a column, including both ends."""
        for row in range(first, last + 1):
            joints = self._joints.setdefault(row, {})
            bits = (DOWN if row < last else 0) | (UP if row > first else 0)
            joints[column] = joints.get(column, 0) | bits

    def join(self, row: int, column: int, directions: int) -> None:
        """Draw the part of a line that leaves a cell on one side."""
        joints = self._joints.setdefault(row, {})
        joints[column] = joints.get(column, 0) | directions

    def text(self, row: int, column: int, text: str, role: Role) -> None:
        """Write text from `column` on. It replaces lines in these cells."""
        self._texts.setdefault(row, {})[column] = Piece(text, role)

    def lines(self) -> list[list[Piece]]:
        """Return the rows of the canvas, each as a list of pieces."""
        last = max([*self._joints, *self._texts], default=-1)
        return [self._row(row) for row in range(last + 1)]

    def _row(self, row: int) -> list[Piece]:
        joints, texts = self._joints.get(row, {}), self._texts.get(row, {})
        pieces: list[Piece] = []
        column = 0
        for start in sorted({*joints, *texts}):
            if start < column:
                continue  # below a text
            if start > column:
                pieces.append(Piece(" " * (start - column), "faint"))
            piece = texts.get(start) or Piece(BOX[joints[start]], "faint")
            pieces.append(piece)
            column = start + columns(piece.text)
        return pieces


def paint(drawing: Drawing) -> list[list[Piece]]:
    """Draw all shapes, and return the lines of characters."""
    canvas = Canvas()
    for shape in drawing.shapes:
        match shape:
            case Text():
                width = columns(shape.text)
                shift = {"start": 0, "middle": int(TERMINAL.before(width)), "end": width - 1}[shape.anchor]
                canvas.text(int(shape.y), max(0, int(shape.x) - shift), shape.text, shape.role)
            case Branch():
                _branch(canvas, shape)
            case Arc():
                _arc(canvas, shape)
            case Square():
                canvas.text(
                    int(shape.y), int(shape.x), "■" if shape.filled else "·", "strong" if shape.filled else "faint"
                )
    return canvas.lines()


def _branch(canvas: Canvas, branch: Branch) -> None:
    row, stem = int(branch.y) + 1, int(branch.x)
    feet = [int(x) for x, _ in branch.ends]
    canvas.join(row, stem, UP)
    canvas.horizontal(row, min(stem, *feet), max(stem, *feet))
    for (_, y), foot in zip(branch.ends, feet, strict=True):
        canvas.vertical(foot, row, int(y) - 1)
        canvas.join(int(y) - 1, foot, DOWN)


def _arc(canvas: Canvas, arc: Arc) -> None:
    top, foot = int(arc.y), int(arc.foot) - 1
    head, dependent = int(arc.head), int(arc.dependent)
    left, right = min(head, dependent), max(head, dependent)
    canvas.horizontal(top, left, right)
    canvas.vertical(head, top, foot)
    canvas.join(foot, head, DOWN)
    canvas.vertical(dependent, top, foot)
    canvas.text(foot, dependent, "▼", "faint")
    if arc.text:
        width = columns(arc.text)
        start = left - int(TERMINAL.before(width)) if left == right else left + 1 + (right - left - 1 - width) // 2
        canvas.text(top, max(0, start), arc.text, "relation")
