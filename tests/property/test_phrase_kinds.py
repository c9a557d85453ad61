"""Phrase pairs by kind, against their definitions."""

from itertools import combinations

from extraction import pairs_of
from hypothesis import given, settings
from hypothesis import strategies as st
from syntax_strategies import trees
from taiwan import ALIGNMENT, SOURCE, SOURCE_TREE, TARGET, TARGET_TREE

from treeglot.analyse import phrase_kinds
from treeglot.syntax import Alignment, Tree


def crosses(a, b):
    return a[0] < b[0] < a[1] < b[1] or b[0] < a[0] < b[1] < a[1]


def tight_pairs(pair, longest):
    source, target, links, *_ = pair
    spans = [[(i, j) for i in range(len(side)) for j in range(i + 1, len(side) + 1)] for side in (source, target)]
    for i, j in spans[0]:
        for k, m in spans[1]:
            inside = [(s, t) for s, t in links if i <= s < j and k <= t < m]
            leaving = [1 for s, t in links if (i <= s < j) != (k <= t < m)]
            ends = {i, j - 1} <= {s for s, _ in inside} and {k, m - 1} <= {t for _, t in inside}
            if inside and not leaving and ends and j - i <= longest:
                yield (i, j), (k, m)


def most_nested(phrases):
    """By trying all sets, the largest first."""
    for size in range(len(phrases), 0, -1):
        for chosen in combinations(phrases, size):
            if not any(crosses(p[side], q[side]) for p, q in combinations(chosen, 2) for side in (0, 1)):
                return size
    return 0


@st.composite
def pairs(draw):
    source, target = ([f"{side}{n}" for n in range(draw(st.integers(1, 5)))] for side in "fe")
    cells = [(s, t) for s in range(len(source)) for t in range(len(target))]
    links = sorted(draw(st.lists(st.sampled_from(cells), max_size=5, unique=True)))
    both = [draw(trees(words=st.just(side))) if draw(st.integers(0, 6)) else Tree() for side in (source, target)]
    return source, target, links, *both


@settings(max_examples=60)
@given(st.lists(pairs(), min_size=1, max_size=3), st.sampled_from([2, 9]), st.integers(1, 2))
def test_kinds(corpus, longest, threads):
    trees = {"source_tree": [f for *_, f, _ in corpus], "target_tree": [e for *_, e in corpus]}
    found = phrase_kinds(pairs_of(((s, t, Alignment(a)) for s, t, a, _, _ in corpus), **trees), longest, threads)
    expected = [0] * 5
    for pair in corpus:
        phrases = list(tight_pairs(pair, longest))
        nodes = [{tree[n].span for n in range(len(tree))} for tree in pair[3:]]
        expected[0] += len(phrases)
        expected[1] += most_nested(phrases)
        expected[2] += sum(f in nodes[0] for f, _ in phrases)
        expected[3] += sum(e in nodes[1] for _, e in phrases)
        expected[4] += sum(f in nodes[0] and e in nodes[1] for f, e in phrases)
    counted = (
        found.string_to_string, found.nested, found.tree_to_string, found.string_to_tree, found.tree_to_tree
    )  # fmt: skip
    assert list(counted) == expected


def test_the_example_of_the_paper():
    found = phrase_kinds(pairs_of([(SOURCE, TARGET, ALIGNMENT)], source_tree=[SOURCE_TREE], target_tree=[TARGET_TREE]))
    assert found.tree_to_tree < found.nested < found.string_to_string
    assert found.as_json()["percent_of_nested"]["nested"] == 100
    assert "<svg" in found.plot()
