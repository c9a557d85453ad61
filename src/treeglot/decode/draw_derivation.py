"""Draws a derivation as a tree of its rules."""

from __future__ import annotations

from collections.abc import Mapping

from treeglot._core import Derivation, Step
from treeglot.syntax.draw import svg
from treeglot.syntax.draw.shapes import Branch, Drawing, Text, printable

LEVEL = 3.6  # rows from a rule to those below it


def boxes(derivation: Derivation, numbers: Mapping[int, int]) -> Drawing:
    """Draw each rule above the rules that fill its variables. `numbers` selects the colours; 0 is a pale one.

    >>> steps = [Step("X", "das [X,1]", "the [X,1]", (0, 2), 1, False), Step("X", "haus", "house", (1, 2), 0, False)]
    >>> drawing = boxes(Derivation(steps), {0: 1, 1: 2})
    >>> [shape.text for shape in drawing.shapes if isinstance(shape, Text)]
    ['das [X,1]', 'the [X,1]', 'haus', 'house']
    """
    measure, gap = svg.PICTURE.measure, svg.PICTURE.gap
    texts = [(printable(step.source) or "∅", printable(bracketed(step)) or "∅") for step in derivation.steps]
    own = [max(map(measure, pair)) for pair in texts]
    depths = list(derivation.depths())
    parents: list[int] = []
    path: list[int] = []
    for number, depth in enumerate(depths):
        del path[depth:]
        parents.append(path[-1] if path else -1)
        path.append(number)
    below = [0.0] * len(texts)  # the width of what hangs below, side by side
    for number in reversed(range(1, len(texts))):
        room = max(own[number], below[number])
        below[parents[number]] += room + (gap if below[parents[number]] else 0)
    lefts, middles = [0.0] * len(texts), [0.0] * len(texts)
    free = [0.0] * len(texts)  # where the next child begins
    for number, parent in enumerate(parents):
        room = max(own[number], below[number])
        if parent >= 0:
            lefts[number] = free[parent]
            free[parent] += room + gap
        middles[number] = lefts[number] + room / 2
        free[number] = middles[number] - below[number] / 2
    drawing = Drawing(max(own[0], below[0]), LEVEL * max(depths) + 2)
    for number, (x, depth) in enumerate(zip(middles, depths, strict=True)):
        group = numbers[number] or None
        ends = tuple((middles[child], LEVEL * (depth + 1)) for child, p in enumerate(parents) if p == number)
        if ends:
            drawing.shapes.append(Branch(x, LEVEL * depth + 1, ends, group=group))
        source, target = texts[number]
        drawing.shapes.append(Text(x, LEVEL * depth, source, "label" if group else "faint", group=group))
        drawing.shapes.append(Text(x, LEVEL * depth + 1, target, "word" if group else "faint", group=group))
    return drawing


def bracketed(step: Step) -> str:
    """Return the target side of a rule with its dependency structure: dependents are in brackets beside their heads.

    >>> bracketed(Step("IP", "", "[NPB,1] [VPB,3] with [NPB,2]", (0, 6), 3, False, (), (2, 0, 2, 3)))
    '([NPB,1]) [VPB,3] (with ([NPB,2]))'
    """
    symbols = step.target.split(" ") if step.target else []
    if len(symbols) != len(step.structure):
        return step.target
    spans = [(i, i) for i in range(len(symbols))]
    for symbol in range(len(symbols)):
        head = step.structure[symbol] - 1
        while head >= 0:
            spans[head] = (min(spans[head][0], symbol), max(spans[head][1], symbol))
            head = step.structure[head] - 1
    opening, closing = [""] * len(symbols), [""] * len(symbols)
    for symbol, (first, last) in enumerate(spans):
        if step.structure[symbol] > 0:
            opening[first] += "("
            closing[last] += ")"
    return " ".join(f"{a}{symbol}{b}" for a, symbol, b in zip(opening, symbols, closing, strict=True))
