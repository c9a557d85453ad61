"""Draws a packed forest: as a table of nodes and edges for the terminal, or as a picture of a hypergraph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from treeglot.syntax.draw.shapes import Drawing, Fan, Metric, Role, Text, columns
from treeglot.syntax.draw.terminal import Piece


@dataclass(frozen=True)
class Packed:
    """The drawn parts of a forest: nodes bottom-up (including words), and edges grouped by head."""

    labels: Sequence[str]
    spans: Sequence[tuple[int, int]]
    words: int  # the first nodes are the words
    heads: Sequence[int]
    tails: Sequence[Sequence[int]]
    scores: Sequence[float]
    best: frozenset[int]  # the edges of the best tree

    @cached_property
    def names(self) -> list[str]:
        """Return the names of nodes, such as `NP[0,2)`, or the words themselves. Equal names get a number."""
        names = [
            label if node < self.words else f"{label}[{begin},{end})"
            for node, (label, (begin, end)) in enumerate(zip(self.labels, self.spans, strict=True))
        ]
        seen: dict[str, int] = {}
        for node, name in enumerate(names):
            if node >= self.words:
                seen[name] = seen.get(name, 0) + 1
        return [f"{name}#{node}" if seen.get(name, 0) > 1 else name for node, name in enumerate(names)]

    @cached_property
    def edges_into(self) -> list[list[int]]:
        """Return the edges into each node, best first."""
        into: list[list[int]] = [[] for _ in self.labels]
        for edge, head in enumerate(self.heads):
            into[head].append(edge)
        return [sorted(edges, key=lambda e: (-self.scores[e], e)) for edges in into]


def table(packed: Packed, limit: int) -> list[list[Piece]]:
    """List the nodes from the top down, each with its edges and their scores. A mark shows the edges of the best tree.

    The list stops after `limit` edges. Then its last line tells how many are not shown.
    """
    nodes = [node for node in reversed(range(packed.words, len(packed.labels))) if packed.edges_into[node]]
    shown = nodes[:limit]
    width = max((columns(packed.names[node]) for node in shown), default=0)
    numbers = [f"{packed.scores[e]:.3f}" for node in shown for e in packed.edges_into[node]]
    digits = max((len(number) for number in numbers), default=0)
    lines: list[list[Piece]] = []
    total = sum(len(packed.edges_into[node]) for node in nodes)
    for node in nodes:
        for i, edge in enumerate(packed.edges_into[node]):
            if len(lines) == limit:
                lines.append([Piece(f"... and {total - limit:,} more edges", "faint")])
                return lines
            name = packed.names[node] if i == 0 else ""
            best = edge in packed.best
            line = [
                Piece(name, "label"),
                Piece(" " * (width - columns(name) + 2), "faint"),
                Piece(f"{packed.scores[edge]:{digits}.3f}", "score"),
                Piece(" ■ " if best else "   ", "strong"),
            ]
            for tail in packed.tails[edge]:
                role: Role = "word" if tail < packed.words else "strong" if best else "label"
                line += [Piece(" ", "faint"), Piece(packed.names[tail], role)]
            lines.append(line)
    return lines


def picture(packed: Packed, metric: Metric) -> Drawing:
    """Draw words in a row, and each node above the middle of its words and above all nodes below it."""
    n = len(packed.labels)
    levels = [0] * n
    for node in range(n):
        for edge in packed.edges_into[node]:
            preterminal = all(tail < packed.words for tail in packed.tails[edge])
            above = 1 + max((levels[tail] for tail in packed.tails[edge]), default=-1)
            levels[node] = max(levels[node], above if preterminal else max(2, above))
    x = [0.0] * n
    tags: list[list[int]] = [[] for _ in range(packed.words)]
    for node in range(packed.words, n):
        if levels[node] == 1:
            tags[packed.spans[node][0]].append(node)
    right = 0.0
    for node in range(packed.words):
        width = _word_width(packed, node, tags[node], metric)
        x[node] = right + width / 2
        right += width + 1.5 * metric.gap
    rows: dict[int, list[int]] = {}
    for node in range(packed.words, n):
        begin, end = packed.spans[node]
        x[node] = (x[begin] + x[end - 1]) / 2
        rows.setdefault(levels[node], []).append(node)
    for nodes in rows.values():
        nodes.sort(key=lambda node: (x[node], packed.spans[node], node))
        placed = spread([x[v] for v in nodes], [metric.measure(packed.labels[v]) + metric.gap for v in nodes])
        for node, position in zip(nodes, placed, strict=True):
            x[node] = position
    half = [metric.measure(label) / 2 for label in packed.labels]
    left = min(x[v] - half[v] for v in range(n))
    bottom = 3.0 * max(levels, default=0)
    drawing = Drawing(max(x[v] + half[v] for v in range(n)) - left, bottom + 1)
    on_best_tree = {packed.heads[edge] for edge in packed.best}
    for edge, head in enumerate(packed.heads):
        tails = packed.tails[edge]
        if not tails:
            continue
        siblings = [e for e in packed.edges_into[head] if packed.tails[e]]
        shift = (siblings.index(edge) - (len(siblings) - 1) / 2) * 9
        ends = tuple((x[t] - left, bottom - 3.0 * levels[t]) for t in tails)
        role: Role = "strong" if edge in packed.best else "faint"
        name = f"{packed.names[head]} → {' '.join(packed.names[t] for t in tails)}: {packed.scores[edge]:.3f}"
        drawing.shapes.append(
            Fan(x[head] - left, shift, bottom - 3.0 * levels[head], ends, role, name, head, tuple(tails))
        )
    for node in range(n):
        node_role: Role = "word" if node < packed.words else "strong" if node in on_best_tree else "label"
        built = (node, len(packed.edges_into[node])) if node >= packed.words else None
        y = bottom - 3.0 * levels[node]
        drawing.shapes.append(Text(x[node] - left, y, packed.labels[node], node_role, node=built))
    return drawing


def _word_width(packed: Packed, word: int, tags: Sequence[int], metric: Metric) -> float:
    """Return the width of a word, or of its tags side by side if they are wider."""
    above = [metric.measure(packed.labels[v]) for v in tags]
    return max(metric.measure(packed.labels[word]), sum(above) + metric.gap * (len(above) - 1))


def spread(wished: Sequence[float], widths: Sequence[float]) -> list[float]:
    """Spread positions so that each has its width, as near to the preferred ones as possible (least squares).

    >>> spread([10, 10, 40], [4, 4, 4])
    [8.0, 12.0, 40.0]
    """
    # Subtracting the room on the left makes this isotonic regression: pool what is out of order, take the mean.
    offsets, room = [], 0.0
    for i, width in enumerate(widths):
        room += (widths[i - 1] + width) / 2 if i else 0.0
        offsets.append(room)
    pools: list[tuple[float, int]] = []  # sum, count
    for wish, offset in zip(wished, offsets, strict=True):
        total, count = wish - offset, 1
        while pools and pools[-1][0] / pools[-1][1] > total / count:
            before = pools.pop()
            total, count = total + before[0], count + before[1]
        pools.append((total, count))
    means = [total / count for total, count in pools for _ in range(count)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]
