"""Tree, Dependency and Alignment: what they hold, refuse, and how they look from Python."""

import pickle

import numpy as np
import pytest

from treeglot import Alignment, Dependency, Tree

SENTENCE = "(S (NP (PRP I)) (VP (VBP see) (NP (DT the) (NN bank))))"
DEEP = 50_000


def test_tree_nodes_are_in_preorder() -> None:
    tree = Tree.parse(SENTENCE)
    assert str(tree) == SENTENCE
    assert (tree.size, len(tree), bool(tree)) == (12, 12, True)
    assert tree.labels == ["S", "NP", "PRP", "I", "VP", "VBP", "see", "NP", "DT", "the", "NN", "bank"]
    assert tree.words == ["I", "see", "the", "bank"]
    assert tree.tags == ["PRP", "VBP", "DT", "NN"]
    assert [tree.children(n) for n in (0, 4, 7, 3)] == [[1, 4], [5, 7], [8, 10], []]
    assert [tree.parent(n) for n in (0, 4, 11)] == [None, 0, 10]
    assert [tree.span(n) for n in (0, 4, 9)] == [(0, 4), (1, 4), (2, 3)]
    assert [tree.is_word(n) for n in (0, 3)] == [False, True]
    assert tree.label(-1) == "bank"
    np.testing.assert_array_equal(tree.sizes, [12, 3, 2, 1, 8, 2, 1, 5, 2, 1, 2, 1])


def test_tree_handles() -> None:
    tree = Tree.parse(SENTENCE)
    vp = tree.root.children[1]
    assert (vp.label, vp.index, vp.span, vp.is_word) == ("VP", 4, (1, 4), False)
    assert (vp.words, vp.tags) == (["see", "the", "bank"], ["VBP", "DT", "NN"])
    assert vp.parent == tree.root
    assert tree.root.parent is None
    assert vp == tree[4] != tree[5]
    assert len({vp, tree[4], tree[5]}) == 2
    assert str(vp.subtree()) == "(VP (VBP see) (NP (DT the) (NN bank)))"
    assert [node.label for node in tree if node.is_word] == tree.words
    with pytest.raises(ValueError, match=r"^a word has no subtree"):
        tree[3].subtree()
    assert repr(vp) == "<TreeNode 4 VP [1, 4)>"
    del tree
    assert vp.tree.words[0] == "I"


def test_tree_values() -> None:
    tree = Tree.parse(SENTENCE)
    nested = ("S", ("NP", ("PRP", "I")), ("VP", ("VBP", "see"), ["NP", ("DT", "the"), ("NN", "bank")]))
    assert Tree.from_nested(nested) == tree
    assert Tree.from_nested(tree.to_nested()) == tree
    assert Tree(tree.labels, tree.sizes.tolist()) == tree
    assert hash(Tree.from_nested(nested)) == hash(tree)
    assert tree != Tree.parse("(S (NP I))")
    assert tree != "tree"
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert repr(tree) == f"Tree.parse('{SENTENCE}')"
    assert repr(Tree.parse(f"(S {'a ' * 100})")) == "<Tree S of 101 nodes, 100 words>"


def test_empty_tree() -> None:
    for empty in (Tree(), Tree.parse("(())"), Tree.parse("()"), Tree.parse(""), Tree.parse("( ( ) )")):
        assert not empty
        assert empty == Tree()
        assert (str(empty), empty.words, empty.to_nested()) == ("(())", [], ())
    assert Tree.from_nested([]) == Tree()
    assert pickle.loads(pickle.dumps(Tree())) == Tree()
    with pytest.raises(IndexError, match=r"^node 0 of a tree with 0 nodes$"):
        _ = Tree().root


def test_brackets_in_words_are_escaped() -> None:
    tree = Tree.parse("( (NP (-LRB- -LRB-) (NN a-RSB-b) (-RRB- -RRB-)))")
    assert tree.words == ["(", "a]b", ")"]
    assert tree.tags == ["-LRB-", "NN", "-RRB-"]
    assert str(tree) == "(NP (-LRB- -LRB-) (NN a-RSB-b) (-RRB- -RRB-))"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S (NP I)", "the tree that begins here is not closed at the end of the file"),
        ("(S (NP I)))", "')' after the end of a tree; expected a new line"),
        ("(S a) (S b)", "'(S b)' after the end of a tree; expected a new line"),
        ("I see", "'I' outside a tree; expected a bracket"),
        (")", "a closing bracket where a tree should begin"),
        ("(S)", "the node 'S' has no children"),
        ("(S ())", "an empty bracket inside a tree"),
        ("(S ((NP I)))", "a bracket without a label inside a tree"),
        ("((S a) (S b))", "a second tree in one outer bracket"),
        ("(((S a)))", "more than one outer bracket without a label"),
        ("((S a) b)", "'b' outside a tree; expected a bracket"),
    ],
)
def test_what_is_not_a_tree(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        Tree.parse(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("labels", "sizes", "message"),
    [
        (["S", "a"], [2], "a tree with 2 labels and 1 sizes: expected one size for each label"),
        (["S", "a"], [3, 1], "node 0 has subtree size 3; expected 1 to 2"),
        (["S", "a"], [2, 0], "node 1 has subtree size 0; expected 1 to 1"),
        (["S", "a", "b"], [2, 1, 1], "the word 'b' outside brackets"),
        (["S", "a", "T", "b"], [2, 1, 2, 1], "a second root 'T' in one tree"),
        (["", "a"], [2, 1], "a node without a label"),
        (["S", ""], [2, 1], "an empty word"),
    ],
)
def test_arrays_that_are_not_a_tree(labels: list[str], sizes: list[int], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        Tree(labels, sizes)
    assert str(caught.value) == message


@pytest.mark.parametrize("nested", [("S",), (1, "a"), ("S", 1), "S", ("S", ("NP",)), ("S", "")])
def test_what_is_not_nested(nested: object) -> None:
    with pytest.raises(ValueError):
        Tree.from_nested(nested)  # type: ignore[arg-type]


def test_a_deep_tree_does_not_overflow_the_stack() -> None:
    text = "(X " * DEEP + "a" + ")" * DEEP
    tree = Tree.parse(text)
    assert str(tree) == text
    assert tree.size == DEEP + 1
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert hash(tree) == hash(Tree.parse(text))
    assert Tree.from_nested(tree.to_nested()) == tree
    assert repr(tree) == f"<Tree X of {DEEP + 1} nodes, 1 words>"
    assert tree[DEEP - 1].subtree() == Tree.parse("(X a)")


def test_dependency() -> None:
    dependency = Dependency(["I", "see", "banks"], [1, -1, 1], tags=["PRP", "VBP", "NNS"])
    assert len(dependency) == 3
    assert dependency.words == ["I", "see", "banks"]
    assert dependency.tags == ["PRP", "VBP", "NNS"]
    assert dependency.relations is None
    np.testing.assert_array_equal(dependency.heads, [1, -1, 1])
    assert not dependency.heads.flags.writeable
    assert (Dependency.ROOT, Dependency.NO_HEAD) == (-1, -2)
    assert repr(dependency) == "Dependency(['I', 'see', 'banks'], [1, -1, 1], tags=['PRP', 'VBP', 'NNS'])"
    same = pickle.loads(pickle.dumps(dependency))
    assert same == dependency
    assert hash(same) == hash(dependency)
    assert dependency != Dependency(["I", "see", "banks"], [1, -1, 1])
    heads = dependency.heads
    del dependency
    assert heads[1] == -1


@pytest.mark.parametrize(
    ("words", "heads", "tags", "message"),
    [
        (["a"], [], None, "0 heads for 1 words"),
        (["a"], [0], None, "word 0 is its own head"),
        (["a"], [1], None, "word 0 has head 1; expected a position below 1, -1 (root) or -2 (none)"),
        (["a"], [-3], None, "word 0 has head -3; expected a position below 1, -1 (root) or -2 (none)"),
        (["a"], [-1], ["X", "Y"], "2 tags for 1 words"),
        ([""], [-1], None, "word 0 is empty"),
    ],
)
def test_what_is_not_a_dependency(words: list[str], heads: list[int], tags: list[str] | None, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        Dependency(words, heads, tags)
    assert str(caught.value) == message


def test_alignment() -> None:
    alignment = Alignment([(2, 1), (0, 0), (0, 0), (2, 0)])
    assert list(alignment) == [(0, 0), (2, 0), (2, 1)]
    assert len(alignment) == 3
    assert (2, 1) in alignment
    assert (1, 2) not in alignment
    assert (-1, 2) not in alignment
    assert str(alignment) == "0-0 2-0 2-1"
    assert Alignment.parse("2-1 0-0 2-0") == alignment
    assert Alignment(alignment.links) == alignment
    assert repr(alignment) == "Alignment.parse('0-0 2-0 2-1')"
    assert list(alignment.transpose()) == [(0, 0), (0, 2), (1, 2)]
    np.testing.assert_array_equal(alignment.links, [[0, 0], [2, 0], [2, 1]])
    assert not alignment.links.flags.writeable
    assert pickle.loads(pickle.dumps(alignment)) == alignment
    assert hash(alignment.transpose().transpose()) == hash(alignment)
    alignment.check(3, 2)
    assert Alignment.parse("") == Alignment()
    assert not Alignment()


@pytest.mark.parametrize("link", [(0, -1), (0, 2**32), (0, 1, 2), (0,), "ab", 3])
def test_what_is_not_a_link(link: object) -> None:
    with pytest.raises(ValueError, match=r"^a link must be a pair of positions from 0$"):
        Alignment([link])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (2, 2, "link 2-0: the source sentence has 2 words"),
        (3, 1, "link 2-1: the target sentence has 1 word"),
    ],
)
def test_links_outside_the_sentences(source: int, target: int, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        Alignment.parse("0-0 2-0 2-1").check(source, target)
    assert str(caught.value) == message
