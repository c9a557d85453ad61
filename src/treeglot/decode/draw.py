"""Pictures of translations: which parse was used, which rule gave which words, the tree of the output."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from html import escape

from treeglot.decode.draw_dependents import dependents
from treeglot.decode.translation import Derivation, Hypothesis, Step, Translation, tokens
from treeglot.decode.translator import Source
from treeglot.syntax import ParseForest
from treeglot.syntax.draw import dependency, forest, svg, tree
from treeglot.syntax.draw.shapes import Drawing, Text, printable
from treeglot.syntax.draw.values import PICTURE_EDGES, packed_forest

SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def to_html(translation: Translation, source: Source) -> str:
    """A translation as a piece of HTML, for `treeglot.syntax.draw.page`; `source` is what was translated.

    The parse that was used (of a line: its words), with every rule in a colour of its own, below a dependency tree (the
    one that the model made of its input) as a bracket; the output, its words in the colours of the rules that gave
    them, with its dependency tree if the model has one; the rules; the forest.
    """
    best = translation.best
    words = tokens(translation.source) if isinstance(source, str) else source.words
    parts = [f'<p class="output">{_text(" ".join(words))}<br><b>{_text(best.text)}</b></p>']
    if translation.problem:
        return f"{parts[0]}<p>{_text(translation.problem)}</p>"
    if not best.derivation.steps:
        return parts[0]
    numbers = _numbers(best.derivation)
    parsed = isinstance(source, ParseForest) and source.parsed and bool(_parse_edges(best.derivation))
    if translation.tree is not None:
        drawing = dependents(translation.tree, best.derivation, numbers)
    elif isinstance(source, ParseForest) and parsed:
        drawing = tree.across(used_tree(best.derivation, source), svg.PICTURE)
    else:
        drawing = _row(words, [numbers[step] for step in word_steps(best.derivation, len(words))])
    parts.append(_drawn(drawing, " ".join(words)))
    parts.append(_drawn(_output(best, numbers), best.text))
    parts.append(_rules(best, numbers))
    if isinstance(source, ParseForest) and parsed and source.graph.edges <= PICTURE_EDGES:
        used = frozenset(source.edges_with(_parse_edges(best.derivation)))
        drawing = forest.picture(dataclasses.replace(packed_forest(source), best=used), svg.PICTURE)
        trees = f"{source.count():,.0f} trees" if source.count() > 1 else "one tree"
        parts.append(f"<details><summary>The forest, {trees}</summary>{_drawn(drawing, 'the forest')}</details>")
    parts.append(f"<details><summary>Features, score {best.score:.3f}</summary>{_features(best)}</details>")
    return "\n".join(parts)


def used_tree(derivation: Derivation, source: ParseForest) -> tree.Outline:
    """The tree of a forest that a derivation used; nodes belong to the rules' numbers, which their roots show.

    >>> from treeglot.syntax import Tree
    >>> one = ParseForest.from_tree(Tree.parse("(NP (NN w))"))
    >>> steps = [Step("S", "[NP,1]", "[NP,1]", (0, 1), 1, True), Step("NP", "w", "v", (0, 1), 0, False)]
    >>> used_tree(Derivation(tuple(steps)), one)
    Outline(labels=['NP₁', 'NN', 'w'], sizes=[3, 2, 1], groups=[1, 1, 1])
    """
    numbers = _numbers(derivation)
    graph = source.graph
    owner = {edge: number for number, step in enumerate(derivation.steps) for edge in step.parse_edges}
    below = _children(derivation)
    preorder = source.edges_with(_parse_edges(derivation))
    labels, sizes, groups = [], [1] * len(preorder), []
    open_nodes: list[tuple[int, int, int]] = []  # place in preorder, children still to come, step
    for place, edge in enumerate(preorder):
        arity = int(graph.first_tail[edge + 1] - graph.first_tail[edge])
        parent = open_nodes[-1][2] if open_nodes else 0
        step = _step_of(derivation.steps[parent], parent, owner.get(edge), arity == 0, below[parent])
        node = int(graph.heads[edge])
        root = step != parent and step in numbers
        number = str(numbers.get(step, 0)).translate(SUBSCRIPTS)
        labels.append(source.label(node) + (number if root and arity > 0 else ""))
        groups.append(numbers.get(step, 0))
        if open_nodes:
            above, missing, whose = open_nodes.pop()
            open_nodes.append((above, missing - 1, whose))
        open_nodes.append((place, arity, step))
        while open_nodes and open_nodes[-1][1] == 0:
            done, _, _ = open_nodes.pop()
            sizes[done] = place + 1 - done
    return tree.Outline([printable(label) for label in labels], sizes, groups)


def _step_of(above: Step, parent: int, owner: int | None, word: bool, below: list[int]) -> int:
    """The step that a node of the tree belongs to, given that of its parent; a new one is taken off `below`."""
    if owner is not None:
        if owner != parent:
            below.pop(0)
        return owner
    # A word is part of its parent's rule, but a pseudo rule's words are variables; a phrase has all that is below it.
    part_of_parent = not below if word else not below and not above.parse_edges
    return parent if part_of_parent or (word and not above.local) else below.pop(0)


def word_steps(derivation: Derivation, length: int) -> list[int]:
    """For each source word the innermost step that covers it.

    >>> steps = [Step("S", "[X,1] b", "[X,1] b", (0, 2), 1, False), Step("X", "a", "a", (0, 1), 0, False)]
    >>> word_steps(Derivation(tuple(steps)), 2)
    [1, 0]
    """
    found = [0] * length
    for number, step in enumerate(derivation.steps):  # those below come later
        found[step.span[0] : step.span[1]] = [number] * (step.span[1] - step.span[0])
    return found


def bracketed(step: Step) -> str:
    """The target side of a rule with its dependency structure: what hangs on a symbol is in brackets beside it.

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


def _numbers(derivation: Derivation) -> dict[int, int]:
    """Numbers from 1 for the steps that are not only glue."""
    glue = [step.local and step.children > 0 and not step.parse_edges for step in derivation.steps]
    named = (i for i, only in enumerate(glue) if not only)
    numbers = {step: number for number, step in enumerate(named, 1)}
    return {**dict.fromkeys(range(len(derivation.steps)), 0), **numbers}


def _children(derivation: Derivation) -> list[list[int]]:
    """The steps directly below each step."""
    found: list[list[int]] = [[] for _ in derivation.steps]
    path: list[int] = []
    for number, depth in enumerate(derivation.depths()):
        del path[depth:]
        if path:
            found[path[-1]].append(number)
        path.append(number)
    return found


def _parse_edges(derivation: Derivation) -> list[int]:
    return [edge for step in derivation.steps for edge in step.parse_edges]


def _output(best: Hypothesis, numbers: dict[int, int]) -> Drawing:
    words, groups = tokens(best.text), [numbers[step] for step in best.given_by]
    if best.dependency is None:
        return _row(words, groups)
    tags = [f"{tag} {number}" for tag, number in zip(best.dependency.tags or [], groups, strict=True)]
    arcs = dependency.Arcs([printable(w) for w in words], best.dependency.heads.tolist(), tags, (), groups)
    return dependency.across(arcs, svg.PICTURE)


def _row(words: Sequence[str], groups: Sequence[int]) -> Drawing:
    """Words side by side, the numbers of their rules below."""
    drawing = Drawing(0, 2)
    for word, group in zip(words, groups, strict=True):
        width = svg.PICTURE.measure(printable(word))
        drawing.shapes.append(Text(drawing.width + width / 2, 0, printable(word), "word", group=group))
        drawing.shapes.append(Text(drawing.width + width / 2, 1, str(group or ""), "faint", group=group))
        drawing.width += width + svg.PICTURE.gap
    return drawing


def _rules(best: Hypothesis, numbers: dict[int, int]) -> str:
    rows = []
    for step, (number, depth) in zip(
        best.derivation.steps, zip(numbers.values(), best.derivation.depths(), strict=True), strict=True
    ):
        if number == 0:
            continue
        colour, indent = svg.group_colour(number), 1.2 * (depth - 1)
        note = " (not of the table)" if step.local else ""
        rows.append(
            f'<tr class="part" data-part="{number}" style="color: {colour}"><td>{number}</td>'
            f'<td style="padding-left: {indent:.1f}rem">{_text(step.source)}</td><td>→</td>'
            f"<td>{_text(bracketed(step))}{note}</td></tr>"
        )
    return f'<table class="rules">{"".join(rows)}</table>'


def _features(best: Hypothesis) -> str:
    rows = "".join(f"<tr><td>{_text(name)}</td><td>{value:.4g}</td></tr>" for name, value in best.features.items())
    return f'<table class="forest">{rows}</table>'


def _drawn(drawing: Drawing, title: str) -> str:
    return f'<div class="drawing">{svg.render(drawing, title)}</div>'


def _text(text: str) -> str:
    return escape(printable(text))
