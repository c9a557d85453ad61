"""ParseForest: what it holds and refuses."""

import pickle

import numpy as np
import pytest

from treeglot import ParseForest, Tree
from treeglot._core import ScoreKind
from treeglot.graph import Builder, Hypergraph

Edge = tuple[int, list[int], float]


def forest(
    words: list[str],
    nodes: list[tuple[str, int, int]],
    edges: list[Edge],
    goal: int | None,
    kind: ScoreKind = ScoreKind.posterior,
) -> ParseForest:
    """Words first, then nodes; edges (head, tails, score) in any order."""
    builder = Builder()
    builder.add_nodes(len(words) + len(nodes))
    scores = [0.0] * len(words)
    for word in range(len(words)):
        builder.add_edge(word, [])
    for head, tails, score in edges:
        builder.add_edge(head, tails)
        scores.append(score)
    mapped = builder.freeze(goal)
    labels = words + [label for label, _, _ in nodes]
    spans = [(i, i + 1) for i in range(len(words))] + [(begin, end) for _, begin, end in nodes]
    return ParseForest(mapped.graph, labels, spans, [scores[e] for e in mapped.edge_map], kind)


WORDS = ["time", "flies"]
NODES = [("NN", 0, 1), ("NNS", 1, 2), ("VBZ", 1, 2), ("S", 0, 2)]
EDGES: list[Edge] = [(2, [0], -0.1), (3, [1], -1.2), (4, [1], -0.4), (5, [2, 3], -1.5), (5, [2, 4], -0.25)]


def test_forest() -> None:
    value = forest(WORDS, NODES, EDGES, 5)
    assert value
    assert value.parsed
    assert value.kind == ScoreKind.posterior
    assert value.words == WORDS
    assert value.labels == ["time", "flies", "NN", "NNS", "VBZ", "S"]
    assert [value.label(n) for n in (0, 5)] == ["time", "S"]
    assert [value.span(n) for n in (1, 5)] == [(1, 2), (0, 2)]
    assert [value.is_word(n) for n in (1, 2)] == [True, False]
    assert (value.graph.nodes, value.graph.edges, value.graph.goal) == (6, 7, 5)
    np.testing.assert_array_equal(value.scores, [0, 0, -0.1, -1.2, -0.4, -1.5, -0.25])
    np.testing.assert_array_equal(value.spans, [(0, 1), (1, 2), (0, 1), (1, 2), (1, 2), (0, 2)])
    assert not value.scores.flags.writeable
    assert repr(value) == "<ParseForest of 2 words, 6 nodes, 7 edges>"
    with pytest.raises(IndexError, match=r"^node 6 of a forest with 6 nodes$"):
        value.label(6)


def test_views_outlive_the_forest() -> None:
    value = forest(WORDS, NODES, EDGES, 5)
    scores, graph = value.scores, value.graph
    del value
    assert scores[3] == -1.2
    assert graph.goal == 5


def test_forests_are_values() -> None:
    value = forest(WORDS, NODES, EDGES, 5)
    same = pickle.loads(pickle.dumps(value))
    assert same == value
    assert hash(same) == hash(value)
    assert value != forest(WORDS, NODES, EDGES, 5, ScoreKind.arbitrary)
    assert value != forest(WORDS, NODES, EDGES[:-1], 5)


def test_unparsed() -> None:
    value = forest(WORDS, [], [], None)
    assert not value
    assert not value.parsed
    assert value.words == WORDS
    assert repr(value) == "<ParseForest of 2 words, 2 nodes, 2 edges, no parse>"
    assert pickle.loads(pickle.dumps(value)) == value
    assert forest([], [], [], None).words == []


@pytest.mark.parametrize(
    ("words", "nodes", "edges", "goal", "message"),
    [
        (
            ["a"],
            [("X", 0, 1)],
            [(1, [0], 0.0)],
            None,
            "node 1 'X' over [0,1) in an unparsed forest: expected words alone",
        ),
        (["a"], [("X", 0, 1)], [(1, [0], 0.0)], 0, "the goal, node 0 'a' over [0,1), is a word"),
        (["a"], [("X", 0, 1)], [], 1, "node 1 'X' over [0,1) has no edges"),
        (["a"], [("", 0, 1)], [(1, [0], 0.0)], 1, "node 1 has an empty label"),
        (["a"], [("X", 0, 1)], [(1, [0], float("nan"))], 1, "an edge into node 1 'X' over [0,1) has no finite score"),
        (["a"], [("X", 0, 2)], [(1, [0], 0.0)], 1, "the tails of an edge into node 1 'X' over [0,2) end at 1"),
        (
            ["a", "b"],
            [("X", 0, 2)],
            [(2, [1, 0], 0.0)],
            2,
            "an edge into node 2 'X' over [0,2) has the tail node 1 'b' over [1,2); expected one that begins at 0",
        ),
        (
            ["a", "b"],
            [("X", 0, 1)],
            [(2, [0], 0.0)],
            2,
            "the goal, node 2 'X' over [0,1), does not cover the 2 words",
        ),
        (
            ["a"],
            [("X", 0, 1)],
            [(1, [], 0.0)],
            1,
            "node 1 'X' over [0,1) has an edge without tails; expected word 1",
        ),
        (
            ["a"],
            [("X", 0, 1), ("Y", 0, 1)],
            [(1, [0], 0.0), (2, [], 0.0)],
            1,
            "node 2 'Y' over [0,1) has an edge without tails; expected words before all other nodes",
        ),
    ],
)
def test_what_is_not_a_forest(
    words: list[str], nodes: list[tuple[str, int, int]], edges: list[Edge], goal: int | None, message: str
) -> None:
    with pytest.raises(ValueError) as caught:
        forest(words, nodes, edges, goal)
    assert str(caught.value) == message


def test_counts_must_agree() -> None:
    graph = Hypergraph.from_arrays([0, 1], [0, 0], [], None)
    kind = ScoreKind.arbitrary
    for labels, spans, scores, message in [
        ([], [(0, 1)], [0.0], "a forest with 1 nodes has 0 labels"),
        (["a"], [], [0.0], "a forest with 1 nodes has 0 spans"),
        (["a"], [(0, 1)], [], "a forest with 1 edges has 0 scores"),
        (["a"], [(0, 1)], [-1.0], "node 0 'a' over [0,1) is a word: expected one edge, without tails, that scores 0"),
    ]:
        with pytest.raises(ValueError) as caught:
            ParseForest(graph, labels, spans, scores, kind)
        assert str(caught.value) == message


def test_the_best_trees() -> None:
    value = forest(WORDS, NODES, EDGES, 5)
    assert str(value.viterbi()) == "(S (NN time) (VBZ flies))"
    assert [(round(s, 9), str(t)) for s, t in value.kbest(5)] == [
        (-0.75, "(S (NN time) (VBZ flies))"),
        (-2.8, "(S (NN time) (NNS flies))"),
    ]
    assert value.count() == 2
    assert {str(t) for t in value.sample(50, seed=1)} == {str(t) for _, t in value.kbest(2)}


def test_pruning() -> None:
    value = forest(WORDS, NODES, EDGES, 5)
    assert value.prune(2.1) == value
    assert value.prune(2.0).labels == ["time", "flies", "NN", "VBZ", "S"]
    assert (ParseForest.TRAINING_MARGIN, ParseForest.DECODING_MARGIN) == (3.0, 10.0)
    for bad in (-1.0, float("nan")):
        with pytest.raises(ValueError):
            value.prune(bad)


def test_conditional_scores() -> None:
    value = forest(WORDS, NODES, EDGES, 5).conditional()
    assert value.kind == ScoreKind.conditional
    total = np.exp(-1.5) + np.exp(-0.25)
    np.testing.assert_allclose(np.exp(value.scores), [1, 1, 1, 1, 1, np.exp(-1.5) / total, np.exp(-0.25) / total])


def test_operations_without_a_parse() -> None:
    value = forest(WORDS, [], [], None)
    assert value.viterbi() == Tree()
    assert value.kbest(3) == []
    assert value.sample(2, seed=0) == [Tree(), Tree()]
    assert value.count() == 0
    assert value.prune(1.0) == value
    assert value.conditional().words == WORDS


def test_a_forest_of_the_k_best() -> None:
    best = [
        (np.log(0.6), Tree.parse("(S (NP (NN time)) (VP (VBZ flies)))")),
        (np.log(0.2), Tree.parse("(S (NN time) (VP (VBZ flies)))")),
    ]
    value = ParseForest.from_kbest(best)
    found = {
        (value.label(int(h)), round(float(np.exp(s)), 9)) for h, s in zip(value.graph.heads, value.scores, strict=True)
    }
    assert found == {
        ("time", 1.0), ("flies", 1.0), ("NN", 1.0), ("VBZ", 1.0), ("VP", 1.0), ("NP", 0.75), ("S", 0.75), ("S", 0.25)
    }  # fmt: skip
    assert value.kind == ScoreKind.posterior
    assert value.viterbi() == best[0][1]


def test_chains_that_come_back_become_a_ladder() -> None:
    value = ParseForest.from_kbest([(0.0, Tree.parse("(X (Y (X a)))")), (0.0, Tree.parse("(Y (X (X a)))"))])
    assert {str(tree) for _, tree in value.kbest(10)} == {"(TOP (X (Y (X a))))", "(TOP (Y (X (X a))))"}
    other = ParseForest.from_kbest([(0.0, Tree.parse("(S (X (Y a)))")), (0.0, Tree.parse("(S (Y (X a)))"))])
    assert {str(tree) for _, tree in other.kbest(10)} == {"(S (X (Y a)))", "(S (Y (X a)))"}


@pytest.mark.parametrize(
    ("best", "message"),
    [
        ([], "an empty k-best list; expected at least one tree"),
        ([(0.0, "(S a)"), (0.0, "(())")], "tree 1 of a k-best list is empty"),
        ([(0.0, "(S a)"), (0.0, "(S b)")], "tree 1 of a k-best list has other words than the first"),
        ([(float("-inf"), "(S a)")], "tree 0 of a k-best list has no finite log probability"),
    ],
)
def test_lists_that_make_no_forest(best: list[tuple[float, str]], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        ParseForest.from_kbest([(score, Tree.parse(text)) for score, text in best])
    assert str(caught.value) == message


def test_the_empty_tree_makes_no_forest() -> None:
    with pytest.raises(ValueError, match=r"^the empty tree has no words: there is no forest of it$"):
        ParseForest.from_tree(Tree())


def test_deep_and_large_forests_do_not_overflow_the_stack() -> None:
    deep = Tree.parse("(X " * 50_000 + "a" + ")" * 50_000)
    value = ParseForest.from_tree(deep)
    assert value.viterbi() == deep
    assert value.kbest(1) == [(0.0, deep)]
    assert value.sample(1, seed=1) == [deep]
    assert value.count() == 1
    assert value.prune(1.0) == value
    assert pickle.loads(pickle.dumps(value)) == value
    packed = ParseForest.from_kbest([(-1.0, deep), (-2.0, Tree.parse("(Y a)"))])
    assert packed.viterbi() == Tree.from_nested(("TOP", ("Y", "a")))  # two edges against 50,001 of a posterior below 1

    n = 250_000
    wide = ParseForest.from_tree(Tree(["S"] + ["A", "B", "C", "w"] * n, [4 * n + 1] + [4, 3, 2, 1] * n))
    assert wide.graph.nodes == 4 * n + 1
    assert wide.viterbi().size == 4 * n + 1
    assert wide.prune(3.0).count() == 1
    assert repr(wide) == f"<ParseForest of {n} words, {4 * n + 1} nodes, {4 * n + 1} edges>"
    assert pickle.loads(pickle.dumps(wide)) == wide
