"""The tree of a forest with the fewest expected errors of spans, against an enumeration of all trees."""

import math

import pytest
from enumeration import derivations, score, tails_of
from hypothesis import given
from syntax_strategies import few_labels, forests, mild_scores

from treeglot import ParseForest, Tree

Spans = frozenset[tuple[int, int]]


def spans_of(tree: Tree) -> Spans:
    return frozenset(tree.span(node) for node in range(tree.size) if tree.span(node)[1] - tree.span(node)[0] > 1)


def all_spans(forest: ParseForest) -> list[tuple[float, Spans]]:
    """The probability of each derivation, and the spans of its nodes."""
    normal = forest.conditional()
    graph = normal.graph
    found = []
    for derivation in derivations(graph, graph.goal):
        heads = [int(graph.heads[edge]) for edge in derivation if tails_of(graph, edge)]
        spans = frozenset(normal.span(head) for head in heads if normal.span(head)[1] - normal.span(head)[0] > 1)
        found.append((math.exp(score(graph, normal.scores, derivation)), spans))
    total = sum(p for p, _ in found)
    return [(p / total, spans) for p, spans in found]


@given(forests(labels=few_labels, scores=mild_scores))
def test_no_tree_has_fewer_expected_errors(forest: ParseForest) -> None:
    tree = forest.best_spans()
    if not forest.parsed:
        assert tree == Tree()
        return
    every = all_spans(forest)
    errors = {one: sum(p * len(one ^ other) for p, other in every) for _, one in every}
    assert errors[spans_of(tree)] == pytest.approx(min(errors.values()), abs=1e-6)


@given(forests(labels=few_labels, scores=mild_scores))
def test_of_the_trees_with_these_spans_it_is_the_most_probable(forest: ParseForest) -> None:
    tree = forest.best_spans()
    alike = [(p, other) for p, other in forest.conditional().kbest(1000) if spans_of(other) == spans_of(tree)]
    best = max((p for p, _ in alike), default=0.0)
    assert any(other == tree and p == pytest.approx(best, abs=1e-9) for p, other in alike) == forest.parsed


def test_two_likely_spans_are_better_than_the_likeliest_tree() -> None:
    lists = [
        (0.4, "(S (A (B (w a) (w b)) (w c)) (w d))"),
        (0.3, "(S (w a) (C (D (w b) (w c)) (w d)))"),
        (0.3, "(S (w a) (C (w b) (D (w c) (w d))))"),
    ]
    forest = ParseForest.from_kbest([(math.log(p), Tree.parse(text)) for p, text in lists])
    assert str(forest.viterbi()) == lists[0][1]
    assert spans_of(forest.best_spans()) in ({(0, 4), (1, 4), (1, 3)}, {(0, 4), (1, 4), (2, 4)})
