"""Draws a word alignment: as a matrix of source and target words, or as a list if the matrix is too wide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treeglot.syntax.draw.shapes import Drawing, Metric, Square, Text, columns
from treeglot.syntax.draw.svg import ROW
from treeglot.syntax.draw.terminal import DOWN, RIGHT, Canvas, Piece


@dataclass(frozen=True)
class Links:
    """The drawn parts of an alignment: the words of both sides and their links."""

    source: Sequence[str]
    target: Sequence[str]
    links: Sequence[tuple[int, int]]


def matrix(links: Links) -> list[list[Piece]]:
    """Draw the matrix in characters: target words on a staircase, each above its column."""
    canvas = Canvas()
    first = max((columns(word) for word in links.source), default=0) + 2
    n, linked = len(links.target), set(links.links)
    for j, word in enumerate(links.target):
        column = first + 2 * j
        canvas.join(j, column, DOWN | RIGHT)
        canvas.vertical(column, j, n - 1)
        canvas.join(n - 1, column, DOWN)
        canvas.text(j, column + 2, word, "word")
    for i, word in enumerate(links.source):
        canvas.text(n + i, first - 2 - columns(word), word, "word")
        for j in range(n):
            there = (i, j) in linked
            canvas.text(n + i, first + 2 * j, "■" if there else "·", "strong" if there else "faint")
    return canvas.lines()


def matrix_width(links: Links) -> int:
    """Return the number of columns that `matrix` takes on a terminal."""
    first = max((columns(word) for word in links.source), default=0) + 2
    return first + max((2 * j + 2 + columns(word) for j, word in enumerate(links.target)), default=0)


def pairs(links: Links) -> list[list[Piece]]:
    """List the links: one line for each source word with its target words, and then the unlinked target words."""
    of_source: dict[int, list[int]] = {}
    for i, j in links.links:
        of_source.setdefault(i, []).append(j)
    width = max((columns(word) for word in links.source), default=0)
    lines = []
    for i, word in enumerate(links.source):
        line = [Piece(" " * (width - columns(word)), "faint"), Piece(word, "word"), Piece(" ─ ", "faint")]
        line.append(Piece("  ".join(links.target[j] for j in of_source.get(i, [])), "strong"))
        lines.append(line)
    linked = {j for _, j in links.links}
    free = [word for j, word in enumerate(links.target) if j not in linked]
    if free:
        lines.append([Piece(" " * width + " ─ ", "faint"), Piece("  ".join(free), "word")])
    return lines


def picture(links: Links, metric: Metric) -> Drawing:
    """Draw the matrix as a picture. Target words are turned upwards above their columns."""
    first = max((metric.measure(word) for word in links.source), default=0.0) + metric.gap / 2
    longest = max((metric.measure(word) for word in links.target), default=0.0)
    top = float(int(longest * 0.87 / ROW) + 2)  # the height of the longest word, turned by 60 degrees
    drawing = Drawing(first + ROW * len(links.target) + longest / 2, top + len(links.source))
    linked = set(links.links)
    for j, word in enumerate(links.target):
        drawing.shapes.append(Text(first + ROW * (j + 0.6), top - 1, word, "word", "start", turned=True))
    for i, word in enumerate(links.source):
        drawing.shapes.append(Text(first - metric.gap / 2, top + i, word, "word", "end"))
        for j in range(len(links.target)):
            drawing.shapes.append(Square(first + ROW * j, top + i, (i, j) in linked))
    return drawing
