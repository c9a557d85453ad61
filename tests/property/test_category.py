"""Categories against a slow twin that lists every analysis of a span."""

from functools import cache
from itertools import pairwise

from categories import categories, category
from hypothesis import given, settings
from hypothesis import strategies as st
from taiwan import SOURCE_TREE, TARGET_TREE

from treeglot import _core
from treeglot.syntax import Tree

LABELS = ["A", "B", "C"]


@st.composite
def nested(draw, words, depth=4):
    """A tree over the words, with unary chains and flat nodes; a word may stand beside nodes without one of its own."""
    label = draw(st.sampled_from(LABELS))
    if len(words) == 1:
        if depth > 0 and draw(st.booleans()):
            return (label, draw(nested(words, depth - 1)))
        return (label, words[0])
    cuts = draw(st.lists(st.integers(1, len(words) - 1), unique=True, max_size=4).map(sorted))
    if not cuts and depth > 0:
        return (label, draw(nested(words, depth - 1)))
    ends = [0, *(cuts or range(1, len(words))), len(words)]
    parts = [words[a:b] for a, b in pairwise(ends)]
    return (label, *(draw(nested(p, depth - 1)) if len(p) > 1 or draw(st.integers(0, 4)) else p[0] for p in parts))


trees = st.integers(1, 7).flatmap(lambda n: nested([f"w{i}" for i in range(n)])).map(Tree.from_nested)


def constituents(tree: Tree) -> dict[tuple[int, int], str]:
    """The topmost label of every span that is a constituent; a word without a node of its own is its own label."""
    out: dict[tuple[int, int], str] = {}
    for node in range(len(tree)):
        out.setdefault(tree[node].span, tree[node].label)
    return out


def slow_category(tree: Tree, begin: int, end: int) -> str:
    nodes = constituents(tree)

    @cache
    def covers(i, j):
        """All ways to cover [i, j) with constituents side by side: (spans, labels)."""
        if i == j:
            return [((), ())]
        return [
            ((span, *spans), (label, *labels))
            for span, label in nodes.items()
            if span[0] == i and span[1] <= j
            for spans, labels in covers(span[1], j)
        ]

    analyses = []  # (parts, slash?, sizes negated, text)
    for spans, labels in covers(begin, end):
        analyses.append((len(labels), False, [a - b for a, b in spans], "·".join(labels)))
    for (a, b), label in nodes.items():
        if a <= begin and end <= b and (a, b) != (begin, end):
            for lefts, left in covers(a, begin):
                for rights, right in covers(end, b):
                    sizes = [i - j for i, j in (*lefts, (a, b), *rights)]
                    text = "".join(f"{y}\\" for y in left) + label + "".join(f"/{z}" for z in right)
                    analyses.append((1 + len(left) + len(right), True, sizes, text))
    return min(analyses)[3]


@settings(max_examples=150)
@given(trees)
def test_every_span_has_its_simplest_category(tree):
    found = categories(tree)
    words = len(tree.words)
    assert list(found) == [(i, j) for i in range(words) for j in range(i + 1, words + 1)]
    for (begin, end), text in found.items():
        assert text == slow_category(tree, begin, end)


@settings(max_examples=100)
@given(trees, st.data())
def test_crossed_constituents(tree, data):
    words = len(tree.words)
    begin = data.draw(st.integers(0, words - 1))
    end = data.draw(st.integers(begin + 1, words))
    crossed = [(i, j) for i, j in constituents(tree) if i < begin < j < end or begin < i < end < j]
    assert _core.crossed_constituents(tree, begin, end) == len(crossed)


def test_the_figures():
    assert category(SOURCE_TREE, 0, 7) == "IP/VP"  # (4) of the paper
    assert category(SOURCE_TREE, 1, 7) == "PP·NP"  # (3)
    assert category(SOURCE_TREE, 1, 9) == "NP\\IP"  # (5); figure 4 prints IP\NP
    assert category(TARGET_TREE, 0, 9) == "NP"
    assert category(TARGET_TREE, 2, 9) == "NN·PP"
    names = Tree.parse("(NP (NN Prime) (NN Minister) (NNP Ariel) (NNP Sharon))")
    assert category(names, 2, 4) == "NNP·NNP"  # figure 3
