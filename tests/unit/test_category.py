"""Categories of odd trees: bad labels, great depth, spans that are none."""

import pytest
from categories import category

from treeglot import _core
from treeglot.syntax import Tree


def test_labels_never_look_like_parts_of_a_category():
    tree = Tree.from_nested(
        ("S", ("NP/VP", "a"), ("A·B", "b"), ("x ||| [y]", "c"), ("X", "d"), (",", "e"), ("a,b", "f"))
    )
    found = [category(tree, i, i + 1) for i in range(6)]
    assert found == ["NP%2FVP", "A%C2%B7B", "x%20%7C%7C%7C%20%5By%5D", "%58", ",", "a%2Cb"]
    assert category(tree, 0, 2) == "NP%2FVP·A%C2%B7B"


@pytest.mark.parametrize("label", ["a\u3000b", "a\u00a0b", "a\u2003b", "a\tb", "a→b", "a~b", "a%b", "a\\b"])
def test_escaped_labels_can_stand_in_names(label):
    escaped = _core.escaped_label(label)
    assert not any(c.isspace() or c in "→~\\" for c in escaped)
    assert escaped != label


def test_different_labels_stay_different():
    labels = ["a%2Fb", "a/b", "a%b", "a%25b", "X", "%58", ",", "%2C", "中/文", "中文"]
    assert len({_core.escaped_label(label) for label in labels}) == len(labels)


def test_a_word_without_a_tag_is_a_constituent_of_its_own():
    tree = Tree.parse("(S (NP I) run (ADVP fast))")
    assert [category(tree, i, j) for i, j in [(1, 2), (0, 2), (1, 3)]] == ["run", "NP·run", "run·ADVP"]


def test_fifty_thousand_levels():
    depth = 50_000
    tree = Tree.parse("(A " * depth + "x" + ")" * depth)
    assert category(tree, 0, 1) == "A"
    right = Tree.parse("(B (C w) " * depth + "(D v)" + ")" * depth)
    assert category(right, 1, 4) == "B/B"
    assert category(right, depth - 2, depth + 1) == "B"


def test_refusals():
    tree = Tree.parse("(S (NP I) (VP run))")
    for begin, end in [(0, 3), (1, 1), (2, 1)]:
        with pytest.raises(ValueError, match=rf"the span \[{begin}, {end}\) of a tree with 2 words"):
            category(tree, begin, end)
    batch = _core.TreeBatch()
    with pytest.raises(ValueError, match="word 2 of the tree is 'run'; expected 'ran', as the text has"):
        batch.append(tree, ["I", "ran"], tree.words)
    with pytest.raises(ValueError, match="the tree has 2 words; expected 3, as the text has"):
        batch.append(tree, ["I", "run", "fast"], tree.words)
    batch.append(Tree(), ["no", "parse"], [])
    batch.append(tree, ["i", "run"], ["i", "run"])
    assert len(batch) == 2
