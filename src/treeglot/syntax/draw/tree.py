"""Draws a tree: across with its words in one row, or down with one line per node if that is too wide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treeglot.syntax.draw.shapes import Branch, Drawing, Metric, Role, Text
from treeglot.syntax.draw.terminal import Piece


@dataclass(frozen=True)
class Outline:
    """The shape of a tree: its nodes in preorder, with the sizes of their subtrees."""

    labels: Sequence[str]
    sizes: Sequence[int]
    groups: Sequence[int] = ()  # by node: the number of its group, if groups are shown

    def group(self, node: int) -> int | None:
        """Return the group of a node. All nodes of a group have one colour."""
        return self.groups[node] if self.groups else None

    def children(self, node: int) -> list[int]:
        """Return the children of `node`, from left to right."""
        found = []
        child, end = node + 1, node + self.sizes[node]
        while child < end:
            found.append(child)
            child += self.sizes[child]
        return found

    def is_leaf(self, node: int) -> bool:
        """Return whether nothing is below `node`."""
        return self.sizes[node] == 1

    def is_tag(self, node: int) -> bool:
        """Return whether exactly one word is below `node`."""
        return self.sizes[node] == 2

    def role(self, node: int) -> Role:
        """Return the role of a node, which determines how its label is drawn."""
        return "word" if self.is_leaf(node) else "tag" if self.is_tag(node) else "label"


def depth(outline: Outline) -> int:
    """Return the number of levels, including the words."""
    deepest, ends = 0, list[int]()  # where the subtrees end that are open
    for node, size in enumerate(outline.sizes):
        while ends and ends[-1] <= node:
            ends.pop()
        ends.append(node + size)
        deepest = max(deepest, len(ends))
    return deepest


def across(outline: Outline, metric: Metric) -> Drawing:
    """Draw words in a row and tags in the row above. Every other node is above its highest child.

    Subtrees side by side share no position x, so nothing overlaps. A line to a low child passes only above this child.
    """
    n = len(outline.labels)
    if n == 0:
        return Drawing(0, 0)
    children = [outline.children(node) for node in range(n)]
    widths = [metric.measure(label) for label in outline.labels]
    block = [0.0] * n  # the width of the children side by side
    levels = [0] * n
    for node in reversed(range(n)):
        if not children[node]:
            continue
        block[node] = sum(max(block[c], widths[c]) for c in children[node]) + metric.gap * (len(children[node]) - 1)
        levels[node] = 1 if outline.is_tag(node) else max(2, 1 + max(levels[c] for c in children[node]))

    lefts = [0.0] * n
    for node in range(n):
        x = lefts[node] + max(0.0, metric.before(widths[node]) - metric.before(block[node]))
        for child in children[node]:
            lefts[child] = x
            x += max(block[child], widths[child]) + metric.gap
    middles = [0.0] * n
    for node in reversed(range(n)):
        left, right = lefts[node], lefts[node] + max(block[node], widths[node])
        below = children[node]
        middle = (middles[below[0]] + middles[below[-1]]) / 2 if below else left
        reach = metric.before(widths[node])
        middles[node] = metric.snap(min(max(middle, left + reach), right - widths[node] + reach))

    # A level takes two rows, its label and the lines below it; a tag stands right above its word.
    rows = [0.0, 1.0] + [2.0 * level - 1 for level in range(2, levels[0] + 1)]
    bottom = rows[levels[0]]
    drawing = Drawing(max(block[0], widths[0]), bottom + 1)
    for node in range(n):
        y = bottom - rows[levels[node]]
        group = outline.group(node)
        drawing.shapes.append(Text(middles[node], y, outline.labels[node], outline.role(node), group=group))
        if children[node] and not outline.is_tag(node):
            ends = tuple((middles[c], bottom - rows[levels[c]]) for c in children[node])
            drawing.shapes.append(Branch(middles[node], y, ends, group=group))
    return drawing


def down(outline: Outline) -> list[list[Piece]]:
    """Draw one line per node, with children indented below. An only child shares its parent's line."""
    lines: list[list[Piece]] = []
    stack = [(0, "", "")] if outline.labels else []
    while stack:
        node, lead, below = stack.pop()
        line = [Piece(lead, "faint"), Piece(outline.labels[node], outline.role(node))]
        while len(children := outline.children(node)) == 1:
            line += [Piece(" " if outline.is_tag(node) else " ─ ", "faint")]
            node = children[0]
            line += [Piece(outline.labels[node], outline.role(node))]
        lines.append(line)
        for i, child in reversed(list(enumerate(children))):
            last = i + 1 == len(children)
            stack.append((child, below + ("└─ " if last else "├─ "), below + ("   " if last else "│  ")))
    return lines
