"""Draws translations: the parse that was used, the rule behind each word, and the dependency tree of the output."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from html import escape
from typing import TypeGuard

from treeglot._core import Derivation, Hypothesis
from treeglot.decode.draw_dependents import dependents
from treeglot.decode.draw_derivation import boxes, bracketed
from treeglot.decode.translation import SearchForest, Translation, tokens
from treeglot.decode.translator import Source
from treeglot.graph import count
from treeglot.syntax import ParseForest
from treeglot.syntax.draw import dependency, forest, svg, tree
from treeglot.syntax.draw.shapes import Drawing, Text, printable, stacked
from treeglot.syntax.draw.values import PICTURE_EDGES, TABLE_EDGES, packed_forest
from treeglot.syntax.lattice import LatticeForest

SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


STEPS = 300  # of a derivation that is drawn


def to_html(translation: Translation, source: Source | None = None) -> str:
    """Return a translation as a piece of HTML, for `treeglot.syntax.draw.page` and for notebooks.

    The page has four parts:

    - the parse that was used, or the words of a plain line, with a colour for each rule. For a dependency tree, rules
      are brackets below the tree that the model made of its input;
    - the output in the colours of its rules, with its dependency tree if the model makes one;
    - the rules;
    - the forest.

    `source` is the input, if the caller still has it.
    """
    best = translation.best
    source = translation.given if source is None else source
    if isinstance(source, LatticeForest):
        source = source.forest
    if translation.problem:
        return f'<p class="output">{_text(translation.source)}</p><p>{_text(translation.problem)}</p>'
    words = translation.words
    parts = [f'<p class="output">{_text(" ".join(words))}<br><b>{_text(best.text)}</b></p>']
    if not best.derivation.steps:
        return parts[0]
    numbers = step_numbers(best.derivation)
    parts.append(_drawn(_input(translation, source, numbers), " ".join(words)))
    parts.append(_drawn(_output(best, numbers), best.text))
    parts.append(_rules(best, numbers))
    if _used(source, best.derivation) and source.graph.edges <= PICTURE_EDGES:
        used = frozenset(source.edges_with(best.derivation.parse_edges()))
        drawing = forest.picture(dataclasses.replace(packed_forest(source), best=used), svg.PICTURE)
        trees = f"{source.count():,.0f} trees" if source.count() > 1 else "one tree"
        parts.append(f"<details><summary>The forest, {trees}</summary>{_drawn(drawing, 'the forest')}</details>")
    parts.append(f"<details><summary>Features, score {best.score:.3f}</summary>{_features(best)}</details>")
    return "\n".join(parts)


def to_svg(translation: Translation) -> str | None:
    """Draw one picture: the input, the output and the rules, each rule in its own colour.

    Without a derivation, the result is an empty text.
    """
    best = translation.best
    if not 0 < len(best.derivation.steps) <= STEPS:
        return None
    numbers = step_numbers(best.derivation)
    parts = [_input(translation, translation.given, numbers), _output(best, numbers), _listed(best.derivation, numbers)]
    return svg.render(stacked(parts, 1.5), best.text)


def hypothesis_html(hypothesis: Hypothesis) -> str:
    """Return the words of an output in the colours of their rules, followed by the rules and the features."""
    parts = [f'<p class="output"><b>{_text(hypothesis.text)}</b></p>']
    if hypothesis.derivation.steps:
        numbers = step_numbers(hypothesis.derivation)
        parts += [_drawn(_output(hypothesis, numbers), hypothesis.text), _rules(hypothesis, numbers)]
    parts.append(f"<details><summary>Features, score {hypothesis.score:.3f}</summary>{_features(hypothesis)}</details>")
    return "\n".join(parts)


def derivation_svg(derivation: Derivation) -> str | None:
    """Return a derivation as a tree of its rules. None if it is empty or has more than 300 steps."""
    if not 0 < len(derivation.steps) <= STEPS:
        return None
    return svg.render(boxes(derivation, step_numbers(derivation)), derivation.steps[0].target)


def forest_html(found: SearchForest) -> str:
    """List the first edges of a search forest with their scores and rules, from the goal downwards."""
    size = f"{found.graph.nodes:,} hypotheses, {found.graph.edges:,} edges, {count(found.graph):.4g} derivations"
    names, heads = found.names, found.graph.heads.tolist()
    rows = "".join(
        f"<tr><td>{_text(names[heads[edge]])}</td><td>{found.scores[edge]:.3f}</td><td>{_text(found.rules[edge])}</td></tr>"
        for edge in reversed(range(max(0, len(heads) - TABLE_EDGES), len(heads)))
    )
    more = f"<p>… and {len(heads) - TABLE_EDGES:,} more edges</p>" if len(heads) > TABLE_EDGES else ""
    head = "<tr><th>node</th><th>score</th><th>rule</th></tr>"
    return f'<p>{size}</p><table class="forest"><thead>{head}</thead><tbody>{rows}</tbody></table>{more}'


def used_tree(derivation: Derivation, source: ParseForest) -> tree.Outline:
    """Return the tree of a forest that a derivation used.

    Each node belongs to the rule that matched it. The roots of rules show the rules' numbers.

    >>> from treeglot._core import Step
    >>> from treeglot.syntax import Tree
    >>> one = ParseForest.from_tree(Tree.parse("(NP (NN w))"))
    >>> steps = [Step("S", "[NP,1]", "[NP,1]", (0, 1), 1, True), Step("NP", "w", "v", (0, 1), 0, False)]
    >>> used_tree(Derivation(steps), one)
    Outline(labels=['NP₁', 'NN', 'w'], sizes=[3, 2, 1], groups=[1, 1, 1])
    """
    numbers = step_numbers(derivation)
    graph = source.graph
    owner = {edge: number for number, step in enumerate(derivation.steps) for edge in step.parse_edges}
    preorder = source.edges_with(derivation.parse_edges())
    labels, sizes, groups = [], [1] * len(preorder), []
    open_nodes: list[tuple[int, int, int]] = []  # place in preorder, children still to come, step
    for place, edge in enumerate(preorder):
        arity = int(graph.first_tail[edge + 1] - graph.first_tail[edge])
        parent = open_nodes[-1][2] if open_nodes else 0
        node = int(graph.heads[edge])
        # What no fragment has is part of a phrase, or a word.
        step = owner[edge] if edge in owner else _innermost(derivation, source.span(node))
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


def _innermost(derivation: Derivation, span: tuple[int, int]) -> int:
    """Return the innermost step that covers a span, which is the last one in the derivation."""
    covering = (i for i, s in enumerate(derivation.steps) if s.span[0] <= span[0] and span[1] <= s.span[1])
    return max(covering, default=0)


def word_steps(derivation: Derivation, length: int) -> list[int]:
    """Return, for each source word, the innermost step that covers it.

    >>> from treeglot._core import Step
    >>> steps = [Step("S", "[X,1] b", "[X,1] b", (0, 2), 1, False), Step("X", "a", "a", (0, 1), 0, False)]
    >>> word_steps(Derivation(steps), 2)
    [1, 0]
    """
    found = [0] * length
    for number, step in enumerate(derivation.steps):  # those below come later
        found[step.span[0] : step.span[1]] = [number] * (step.span[1] - step.span[0])
    return found


def step_numbers(derivation: Derivation) -> dict[int, int]:
    """Number the steps from 1, without those that are only glue."""
    glue = [step.local and step.children > 0 and not step.parse_edges for step in derivation.steps]
    named = (i for i, only in enumerate(glue) if not only)
    numbers = {step: number for number, step in enumerate(named, 1)}
    return {**dict.fromkeys(range(len(derivation.steps)), 0), **numbers}


def _used(source: Source, derivation: Derivation) -> TypeGuard[ParseForest]:
    """Return whether rules matched a tree of the forest. In a joint model, another grammar may have translated it."""
    whole = not any(step.grammar for step in derivation.steps)
    return isinstance(source, ParseForest) and source.parsed and whole and bool(derivation.parse_edges())


def _input(translation: Translation, source: Source, numbers: dict[int, int]) -> Drawing:
    derivation = translation.best.derivation
    if translation.tree is not None:
        return dependents(translation.tree, derivation, numbers)
    if _used(source, derivation):
        return tree.across(used_tree(derivation, source), svg.PICTURE)
    words = translation.words
    return _row(words, [numbers[step] for step in word_steps(derivation, len(words))])


def _listed(derivation: Derivation, numbers: dict[int, int]) -> Drawing:
    """Return the rules of a derivation, one per line, indented by depth."""
    drawing = Drawing(0, 0)
    for step, depth, number in zip(derivation.steps, derivation.depths(), numbers.values(), strict=True):
        if number:
            text = printable(f"{number}  {step.source} → {bracketed(step)}")
            drawing.shapes.append(Text(18.0 * depth, drawing.height, text, "label", "start", group=number))
            drawing.width = max(drawing.width, 18.0 * depth + svg.PICTURE.measure(text))
            drawing.height += 1
    return drawing


def _output(best: Hypothesis, numbers: dict[int, int]) -> Drawing:
    words, groups = tokens(best.text), [numbers[step] for step in best.given_by]
    if best.dependency is None:
        return _row(words, groups)
    tags = [f"{tag} {number}" for tag, number in zip(best.dependency.tags or [], groups, strict=True)]
    arcs = dependency.Arcs([printable(w) for w in words], best.dependency.heads.tolist(), tags, (), groups)
    return dependency.across(arcs, svg.PICTURE)


def _row(words: Sequence[str], groups: Sequence[int]) -> Drawing:
    """Draw words side by side, with the numbers of their rules below."""
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
