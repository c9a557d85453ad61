"""Draws a dependency analysis: with arcs above the words, or with one line per word if that is too wide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treeglot.syntax.draw.shapes import Arc, Drawing, Metric, Role, Text, columns
from treeglot.syntax.draw.terminal import RIGHT, Canvas, Piece

ROOT, NO_HEAD = -1, -2


@dataclass(frozen=True)
class Arcs:
    """The drawn parts of a dependency analysis, which does not have to be a tree.

    `tags` and `relations` can be empty.
    """

    words: Sequence[str]
    heads: Sequence[int]
    tags: Sequence[str] = ()
    relations: Sequence[str] = ()
    groups: Sequence[int] = ()  # by word: the number of its group, if groups are shown

    def relation(self, word: int) -> str:
        """Return the relation of a word to its head, which is written at their arc."""
        named = self.relations[word] if self.relations else ""
        if self.heads[word] == NO_HEAD:
            return "no head"
        return named or ("root" if self.heads[word] == ROOT else "")


def across(arcs: Arcs, metric: Metric) -> Drawing:
    """Draw words in a row with their tags below. Each arc is above all arcs that it covers."""
    n = len(arcs.words)
    if n == 0:
        return Drawing(0, 0)
    # Three arcs meet at a word without touching: those to its left, the one from its head, those to its right.
    side = metric.measure("-")
    middles = _place(arcs, metric, side)
    ends = {}
    for word, head in enumerate(arcs.heads):
        if head >= 0:
            ends[word] = (middles[head] + (side if word > head else -side), middles[word])
    levels = _levels({word: (min(e), max(e)) for word, e in ends.items()})
    top = max(levels.values(), default=0) + 1
    foot = top + 1.0
    drawing = Drawing(0, foot + (2 if arcs.tags else 1))
    for word in range(n):
        group = arcs.groups[word] if arcs.groups else None
        drawing.shapes.append(Text(middles[word], foot, arcs.words[word], "word", group=group))
        if arcs.tags:
            drawing.shapes.append(Text(middles[word], foot + 1, arcs.tags[word], "tag"))
        if word in ends:
            drawing.shapes.append(Arc(*ends[word], top - levels[word], foot, arcs.relation(word)))
        else:
            # Nothing passes above the root of a projective tree, so its arrow comes from the very top.
            drawing.shapes.append(Arc(middles[word], middles[word], 0, foot, arcs.relation(word)))
    widest = max(_width(arcs, word, metric) for word in range(n))
    drawing.width = max(m + widest - metric.before(widest) for m in middles)
    return drawing


def _place(arcs: Arcs, metric: Metric, side: float) -> list[float]:
    """Choose the middle of each word, so that words, tags and the names of arcs have enough room."""
    starts: dict[int, list[tuple[int, float]]] = {}  # right end → left ends, and the distance that the arc needs
    for word, head in enumerate(arcs.heads):
        if head >= 0:
            need = metric.measure(arcs.relation(word)) + metric.gap + 2 * side
            starts.setdefault(max(word, head), []).append((min(word, head), need))
    middles: list[float] = []
    edge = 0.0
    for word in range(len(arcs.words)):
        width = max(_width(arcs, word, metric), 3 * side)
        middle = edge + metric.before(width)
        for left, need in starts.get(word, ()):
            middle = max(middle, middles[left] + need)
        middles.append(middle)
        edge = middle - metric.before(width) + width + metric.gap / 2
    return middles


def _width(arcs: Arcs, word: int, metric: Metric) -> float:
    texts = [arcs.words[word], *(arcs.tags[word : word + 1])]
    if arcs.heads[word] < 0:
        texts.append(arcs.relation(word))
    return max(metric.measure(text) for text in texts)


def _levels(spans: dict[int, tuple[float, float]]) -> dict[int, int]:
    """Assign a level to each arc. It is above all shorter arcs that overlap with it."""
    levels: dict[int, int] = {}
    for word, (left, right) in sorted(spans.items(), key=lambda item: (item[1][1] - item[1][0], item[0])):
        below = (levels[w] for w in levels if spans[w][0] <= right and left <= spans[w][1])
        levels[word] = 1 + max(below, default=0)
    return levels


def down(arcs: Arcs) -> list[list[Piece]]:
    """Draw one line per word, with its number, tag, relation and head. The tree is drawn to the left."""
    n = len(arcs.words)
    depths = _depths(arcs.heads)
    step = 2
    canvas = Canvas()
    edge = step * (max(depths, default=0) + 1)
    for word in range(n):
        # A line comes from the column of the word's head, and meets in its own column those of its dependents.
        start, head = step * depths[word] - 1, arcs.heads[word]
        if head >= 0 and depths[word] == depths[head] + 1:
            canvas.vertical(start, min(word, head), max(word, head))
        canvas.horizontal(word, max(start, 0), edge)
        canvas.join(word, edge, RIGHT)
    rows = []
    for word, head in enumerate(arcs.heads):
        parent = "" if head < 0 else f"← {head + 1} {arcs.words[head]}"
        rows.append([str(word + 1), arcs.words[word], *arcs.tags[word : word + 1], arcs.relation(word), parent])
    roles: list[Role] = ["faint", "word", *(["tag"] if arcs.tags else []), "relation", "faint"]  # type: ignore[list-item]
    widths = [max(columns(row[i]) for row in rows) for i in range(len(roles))] if rows else []
    lines = canvas.lines()
    for line, row in zip(lines, rows, strict=True):
        for text, width, role in zip(row, widths, roles, strict=True):
            line += [Piece("  ", "faint"), Piece(text, role), Piece(" " * (width - columns(text)), "faint")]
    return lines


def _depths(heads: Sequence[int]) -> list[int]:
    """Return how far each word is below its root. In a cycle of heads, one word counts as the root."""
    depths = [-1] * len(heads)
    for start in range(len(heads)):
        path = []
        word = start
        while word >= 0 and depths[word] < 0:
            depths[word] = 0  # on the path: meeting it again closes a cycle
            path.append(word)
            word = heads[word]
        depth = depths[word] + 1 if word >= 0 and word not in path else 0
        for step in reversed(path):
            depths[step] = depth
            depth += 1
    return depths
