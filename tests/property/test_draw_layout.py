"""Layouts: nothing overlaps, nothing is outside, everything can be drawn, whatever the words are."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syntax_strategies import dependencies, forests, trees

from treeglot.syntax import Alignment, Dependency, ParseForest, Tree
from treeglot.syntax.draw import Screen, to_html, to_svg, to_text
from treeglot.syntax.draw import dependency as dependency_drawing
from treeglot.syntax.draw import tree as tree_drawing
from treeglot.syntax.draw.forest import spread
from treeglot.syntax.draw.shapes import Arc, Drawing, Metric, Text, columns
from treeglot.syntax.draw.svg import PICTURE
from treeglot.syntax.draw.terminal import TERMINAL

METRICS = pytest.mark.parametrize("metric", [TERMINAL, PICTURE], ids=["terminal", "picture"])

small_alignments = st.builds(Alignment, st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=8))
readable = st.text("ab布什é", min_size=1, max_size=5)


def extents(drawing: Drawing, metric: Metric) -> dict[float, list[tuple[float, float]]]:
    """The stretches of x that texts take, by row."""
    rows: dict[float, list[tuple[float, float]]] = {}
    for shape in drawing.shapes:
        if isinstance(shape, Text):
            width = metric.measure(shape.text)
            left = shape.x - metric.before(width)
            rows.setdefault(shape.y, []).append((left, left + width))
    return rows


def check_texts(drawing: Drawing, metric: Metric) -> None:
    for row in extents(drawing, metric).values():
        for (_, right), (left, _) in pairwise(sorted(row)):
            assert right < left + 1e-6
        assert min(left for left, _ in row) >= -1e-6
        assert max(right for _, right in row) <= drawing.width + 1e-6


@METRICS
@given(tree=trees(st.lists(readable, min_size=1, max_size=8), st.sampled_from(["S", "NP", "VERYLONG", "句"])))
def test_tree_across(metric: Metric, tree: Tree) -> None:
    outline = tree_drawing.Outline(tree.labels, tree.sizes.tolist())
    drawing = tree_drawing.across(outline, metric)
    check_texts(drawing, metric)
    texts = [shape for shape in drawing.shapes if isinstance(shape, Text)]
    assert [text.text for text in texts] == tree.labels
    for node, text in enumerate(texts):
        for child in tree.children(node):
            assert text.y < texts[child].y
        if tree.is_word(node):
            assert text.y == drawing.height - 1
    assert tree_drawing.depth(outline) == depth(tree)


def depth(tree: Tree) -> int:
    return max(1 + sum(1 for _ in ancestors(tree, node)) for node in range(len(tree)))


def ancestors(tree: Tree, node: int | None):
    while (node := tree.parent(node)) is not None:
        yield node


@given(tree=trees(st.lists(readable, min_size=1, max_size=8)))
def test_the_words_are_the_last_line(tree: Tree) -> None:
    assert to_text(tree, layout="across").splitlines()[-1].split() == tree.words


@METRICS
@given(words=st.lists(readable, min_size=1, max_size=8), data=st.data())
def test_dependency_across(metric: Metric, words: list[str], data: st.DataObject) -> None:
    n = len(words)
    heads = [data.draw(st.sampled_from([h for h in range(-2, n) if h != i])) for i in range(n)]
    relations = data.draw(st.lists(st.sampled_from(["det", "nsubj:pass", ""]), min_size=n, max_size=n))
    drawing = dependency_drawing.across(dependency_drawing.Arcs(words, heads, [], relations), metric)
    check_texts(drawing, metric)
    arcs = [shape for shape in drawing.shapes if isinstance(shape, Arc) and shape.head != shape.dependent]
    assert len(arcs) == sum(head >= 0 for head in heads)
    for a, b in combinations(arcs, 2):
        if a.y == b.y:
            assert max(a.head, a.dependent) < min(b.head, b.dependent) or max(b.head, b.dependent) < min(
                a.head, a.dependent
            )
    for arc in arcs:
        assert abs(arc.head - arc.dependent) > metric.measure(arc.text)


@settings(max_examples=150)
@given(value=st.one_of(trees(), dependencies(), forests(), small_alignments))
def test_everything_can_be_drawn(value: Tree | Dependency | ParseForest | Alignment) -> None:
    """Whatever the words: pictures are XML, lines are as many as they seem, and an ASCII terminal can show them."""
    ElementTree.fromstring(to_svg(value))
    ElementTree.fromstring(f"<body>{to_html(value)}</body>")
    for layout in ("across", "down"):
        text = to_text(value, Screen(encoding="ascii"), layout=layout)
        assert text.isascii()
        assert text.split("\n") == text.splitlines() or not text
        assert all(character.isprintable() for line in text.split("\n") for character in line)


wishes = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 8)), min_size=1, max_size=6)


@given(wishes)
def test_spread_is_the_least_squares_solution(wishes: list[tuple[int, int]]) -> None:
    """The twin: in the best solution neighbours touch or not, so try all ways to tie them into blocks."""
    wished = sorted(float(wish) for wish, _ in wishes)
    widths = [float(width) for _, width in wishes]
    offsets = [0.0]
    for a, b in pairwise(widths):
        offsets.append(offsets[-1] + (a + b) / 2)
    best = min(
        (
            sum((x - w) ** 2 for x, w in zip(positions, wished, strict=True)),
            positions,
        )
        for ties in range(1 << (len(widths) - 1))
        if feasible(positions := blocks(wished, offsets, ties), offsets)
    )
    assert spread(wished, widths) == pytest.approx(best[1])


def blocks(wished: list[float], offsets: list[float], ties: int) -> list[float]:
    groups = [[0]]
    for i in range(1, len(wished)):
        if ties >> (i - 1) & 1:
            groups[-1].append(i)
        else:
            groups.append([i])
    shifts = [sum(wished[i] - offsets[i] for i in group) / len(group) for group in groups]
    return [shift + offsets[i] for shift, group in zip(shifts, groups, strict=True) for i in group]


def feasible(positions: list[float], offsets: list[float]) -> bool:
    return all(b - a >= d - c - 1e-9 for (a, b), (c, d) in zip(pairwise(positions), pairwise(offsets), strict=True))


@given(st.text(st.characters(codec="utf-8"), max_size=20))
def test_columns_add_up(text: str) -> None:
    assert columns(text) == sum(columns(character) for character in text)
    assert 0 <= columns(text) <= 2 * len(text)
