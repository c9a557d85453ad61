"""Draws a derivation below the dependency tree that it translates."""

from __future__ import annotations

from collections.abc import Mapping

from treeglot._core import Derivation, Step
from treeglot.syntax import Dependency
from treeglot.syntax.draw import dependency, svg
from treeglot.syntax.draw.shapes import Band, Drawing, Text, printable


def dependents(tree: Dependency, derivation: Derivation, numbers: Mapping[int, int]) -> Drawing:
    """Return the input's tree, and a bracket for each rule below the words that it covers, with the rule's target side.

    `numbers` gives the colour of each step's rule. A phrase on a structure covers neighbouring parts of a relation. Its
    bracket is bold, and its words are marked with ▣.
    """
    words = [printable(word) for word in tree.words]
    arcs = dependency.Arcs(words, tree.heads.tolist(), tree.tags or (), tree.relations or ())
    drawing = dependency.across(arcs, svg.PICTURE)
    middles = [shape.x for shape in drawing.shapes if isinstance(shape, Text) and shape.role == "word"]
    half = [max(svg.PICTURE.measure(word) / 2, 6.0) for word in words]
    top = drawing.height + 0.6
    taken: list[tuple[float, float, int]] = []  # what is below the words already: from, to, row
    small_first = sorted(enumerate(derivation.steps), key=lambda s: (s[1].span[1] - s[1].span[0], s[1].children, s[0]))
    for place, step in small_first:
        if numbers[place] == 0:
            continue
        begin, end = step.span
        left, right = middles[begin] - half[begin], middles[end - 1] + half[end - 1]
        bold = on_structure(step)
        text = ("▣ " if bold else "") + (printable(step.target) or "∅")
        width = svg.PICTURE.measure(text)
        middle = max((left + right) / 2, width / 2)
        reach = min(left, middle - width / 2) - 5, max(right, middle + width / 2) + 5
        row = 1 + max((r for a, b, r in taken if a < reach[1] and reach[0] < b), default=-1)
        taken.append((*reach, row))
        y = top + 1.7 * row
        drawing.shapes.append(Band(left, right, y, numbers[place], bold))
        drawing.shapes.append(Text(middle, y + 0.5, text, "word" if bold else "label", group=numbers[place]))
        drawing.width = max(drawing.width, reach[1])
        drawing.height = max(drawing.height, y + 1.6)
    return drawing


def on_structure(step: Step) -> bool:
    """Return whether a step is a phrase on a structure: a local rule of several words in a model of dependency trees.

    >>> on_structure(Step("X", "做 饭", "makes dinner", (4, 6), 0, True))
    True
    >>> on_structure(Step("*VV", "做 饭", "makes dinner", (4, 6), 0, False))
    False
    """
    return step.local and step.children == 0 and step.span[1] - step.span[0] > 1
