"""What is refused, escaped and cut in drawings; the drawings themselves are in tests/golden."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

from treeglot._core import ScoreKind
from treeglot.base.errors import TreeglotError
from treeglot.graph import Builder
from treeglot.syntax import Alignment, Dependency, ParseForest, Tree
from treeglot.syntax.draw import Screen, to_html, to_svg, to_text
from treeglot.syntax.draw.shapes import columns


def chain(levels: int) -> Tree:
    return Tree(["X"] * (levels - 1) + ["w"], list(range(levels, 0, -1)))


def flat_forest(edges: int) -> ParseForest:
    """One word, and that many unary edges above it."""
    builder = Builder()
    builder.add_nodes(edges + 1)
    for node in range(edges + 1):
        builder.add_edge(node, [node - 1] if node else [])
    graph = builder.freeze(edges).graph
    return ParseForest(graph, ["w"] + ["X"] * edges, [(0, 1)] * (edges + 1), [0.0] * (edges + 1), ScoreKind.arbitrary)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: to_text(chain(50_000)), "a tree of 50,000 nodes is not drawn: the limit is 2,000"),
        (lambda: to_svg(chain(11), limit=10), "a tree of 11 nodes is not drawn: the limit is 10"),
        (
            lambda: to_text(chain(50_000), limit=50_000, layout="down"),
            "a tree of 50,000 levels is not drawn: the limit is 500",
        ),
        (
            lambda: to_text(Dependency(["w"] * 501, [-1] * 501)),
            "a dependency tree of 501 words is not drawn: the limit is 500",
        ),
        (lambda: to_text(Alignment([(0, 700)])), "an alignment of 701 words is not drawn: the limit is 500"),
        (
            lambda: to_svg(Alignment([(2**32 - 1, 0)])),
            "an alignment of 4,294,967,296 words is not drawn: the limit is 500",
        ),
        (lambda: to_svg(flat_forest(500)), "a forest of 501 edges is not drawn: the limit is 400"),
    ],
)
def test_too_large(draw, message: str) -> None:
    with pytest.raises(TreeglotError, match=f"^{re.escape(message)}$"):
        draw()


def test_deep_trees_are_drawn_without_recursion() -> None:
    lines = to_text(chain(20_000), limit=20_000).splitlines()
    assert (len(lines), lines[0], lines[-1]) == (2 * 20_000 - 2, "X", "w")


def test_the_table_of_a_forest_is_cut_and_says_so() -> None:
    lines = to_text(flat_forest(10), limit=4).splitlines()
    assert lines[0] == "1 words, 11 nodes, 11 edges, 1 tree; arbitrary scores; ■ best tree"
    assert lines[2] == "X[0,1)#10  0.000 ■  X[0,1)#9"
    assert lines[6] == "... and 6 more edges"


def test_words_cannot_command_the_terminal() -> None:
    assert "\x1b" not in to_text(Tree(["S", "\x1b[31mred\n"], [2, 1]))
    assert "\\x1b[31mred\\n" in to_text(Tree(["S", "\x1b[31mred\n"], [2, 1]))


@pytest.mark.parametrize("word", ["\x0b", "\x7f", "\u2028", "\ufffe", "\uffff", "\U0001fffe", "\u202e"])
def test_any_word_makes_xml(word: str) -> None:
    ElementTree.fromstring(to_svg(Tree(["S", word], [2, 1])))


def test_words_cannot_leave_their_element() -> None:
    picture = to_svg(Tree(["<S>", "</svg><script>&"], [2, 1]))
    assert "&lt;/svg&gt;&lt;script&gt;&amp;" in picture
    assert picture.count("<svg") == picture.count("</svg>") == 1


@pytest.mark.parametrize("width", [1, 10, 40, 60, 80, 200])
def test_auto_stays_within_the_screen_by_going_down(width: int) -> None:
    tree = Tree.parse("(IP (NP (NR 布什)) (VP (PP (P 与) (NP (NR 沙龙))) (VP (VV 举行) (NP (NN 会谈)))))")
    across = to_text(tree, layout="across")
    fits = max(columns(line) for line in across.splitlines()) <= width
    assert to_text(tree, Screen(width=width)) == (across if fits else to_text(tree, layout="down"))


def test_a_link_outside_the_words_is_refused() -> None:
    with pytest.raises(ValueError, match="link 0-3"):
        to_text(Alignment([(0, 3)]), source=["a"], target=["b"])


def test_values_show_themselves_in_notebooks() -> None:
    tree = Tree.parse("(S (X a))")
    assert tree._repr_svg_() == to_svg(tree)
    assert tree._repr_html_() == to_html(tree)
    assert "a tree of 50,000 nodes is not drawn" in chain(50_000)._repr_html_()
    assert chain(50_000)._repr_svg_() is None


def test_empty_values() -> None:
    assert to_text(Dependency([], [])) == ""
    assert to_text(Alignment([])) == ""
    for value in (Tree(), Dependency([], []), Alignment([])):
        assert to_svg(value).startswith("<svg")
