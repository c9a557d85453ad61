"""Operations on forests against an enumeration of all trees."""

import math
from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest
from enumeration import derivations, edges_into, score, tails_of
from hypothesis import given
from hypothesis import strategies as st
from syntax_strategies import few_labels, forests, mild_scores, trees

from treeglot import ParseForest, Tree
from treeglot._core import ScoreKind

small_forests = forests(labels=few_labels, scores=mild_scores)


def slow_tree(forest: ParseForest, derivation: tuple[int, ...]) -> Tree:
    edges = iter(derivation)

    def nested() -> tuple[object, ...] | str:
        edge = next(edges)
        head = int(forest.graph.heads[edge])
        if forest.is_word(head):
            return forest.label(head)
        return (forest.label(head), *(nested() for _ in tails_of(forest.graph, edge)))

    found = nested()
    assert isinstance(found, tuple)
    return Tree.from_nested(found)


def all_trees(forest: ParseForest) -> list[tuple[float, Tree]]:
    graph = forest.graph
    return [(score(graph, forest.scores, d), slow_tree(forest, d)) for d in derivations(graph, graph.goal)]


@given(small_forests)
def test_kbest_viterbi_and_count(forest: ParseForest) -> None:
    every = all_trees(forest)
    best = forest.kbest(1000)
    assert forest.count() == len(every) == len(best)
    assert sorted(s for s, _ in best) == sorted(s for s, _ in every)
    assert all(a >= b for (a, _), (b, _) in pairwise(best))
    assert sorted((s, str(t)) for s, t in best) == sorted((s, str(t)) for s, t in every)
    assert forest.kbest(2) == best[:2]
    assert forest.viterbi() == (best[0][1] if best else Tree())
    assert forest.parsed == bool(every)


@given(small_forests, st.integers(0, 5))
def test_samples_are_trees_of_the_forest(forest: ParseForest, seed: int) -> None:
    drawn = forest.sample(5, seed)
    assert drawn == forest.sample(5, seed)
    assert set(drawn) <= ({tree for _, tree in all_trees(forest)} or {Tree()})
    assert len(drawn) == 5


@given(small_forests, st.sampled_from([0.0, 0.5, 1.0, 3.0, 100.0]))
def test_prune_keeps_the_edges_of_trees_within_the_margin(forest: ParseForest, margin: float) -> None:
    pruned = forest.prune(margin)
    assert (pruned.words, pruned.kind, pruned.parsed) == (forest.words, forest.kind, forest.parsed)
    graph = forest.graph
    scored = [(score(graph, forest.scores, d), d) for d in derivations(graph, graph.goal)]
    best = max((s for s, _ in scored), default=0.0)
    # Sums of the same numbers in another order may differ in the last bits at the very margin.
    surely = {e for s, d in scored if best - s <= margin - 1e-9 for e in d}
    maybe = {e for s, d in scored if best - s <= margin + 1e-9 for e in d}
    if forest.parsed:
        assert len(surely) <= pruned.graph.edges <= len(maybe)
        assert forest.viterbi() == pruned.viterbi()
        assert pruned.kbest(1)[0][0] == forest.kbest(1)[0][0]
        assert {str(t) for s, t in all_trees(forest) if best - s <= margin - 1e-9} <= {
            str(t) for _, t in all_trees(pruned)
        }
    else:
        assert pruned == forest


@given(small_forests)
def test_conditional(forest: ParseForest) -> None:
    normal = forest.conditional()
    assert normal.kind == ScoreKind.conditional
    assert normal.conditional() == normal
    if forest.kind == ScoreKind.conditional:
        assert normal == forest
        return
    assert (normal.graph, normal.labels) == (forest.graph, forest.labels)
    for node in range(forest.graph.nodes):
        edges = list(edges_into(forest.graph, node))
        total = sum(math.exp(forest.scores[e]) for e in edges)
        wanted = [math.exp(forest.scores[e]) / total for e in edges]
        np.testing.assert_allclose(np.exp(normal.scores[edges]), wanted, rtol=1e-9)


@given(trees())
def test_a_tree_is_a_forest(tree: Tree) -> None:
    forest = ParseForest.from_tree(tree)
    assert forest.viterbi() == tree
    assert forest.count() == 1
    assert forest.words == tree.words
    assert forest.graph.nodes == tree.size
    assert not forest.scores.any()


def cfg_edges(tree: Tree) -> list[tuple[object, ...]]:
    """(label, span, children) of every constituent; a word is a child without a label."""
    return [
        (
            tree.label(v),
            tree.span(v),
            *((None if tree.is_word(c) else tree.label(c), tree.span(c)) for c in tree.children(v)),
        )
        for v in range(tree.size)
        if not tree.is_word(v)
    ]


def forest_cfg_edge(forest: ParseForest, edge: int) -> tuple[object, ...]:
    head = int(forest.graph.heads[edge])
    below = tails_of(forest.graph, edge)
    return (
        forest.label(head),
        forest.span(head),
        *((None if forest.is_word(c) else forest.label(c), forest.span(c)) for c in below),
    )


tokens = st.integers(1, 3).map(lambda n: [f"w{i}" for i in range(n)])
kbest_lists = tokens.flatmap(
    lambda words: st.lists(
        st.tuples(mild_scores, trees(words=st.just(words), labels=few_labels)), min_size=1, max_size=6
    )
)


@given(kbest_lists)
def test_kbest_lists_pack(scored: list[tuple[float, Tree]]) -> None:
    forest = ParseForest.from_kbest(scored)
    assert forest.kind == ScoreKind.posterior
    total = sum(math.exp(s) for s, _ in scored)
    wanted: dict[tuple[object, ...], float] = defaultdict(float)
    for s, tree in scored:
        for edge in cfg_edges(tree):
            wanted[edge] += math.exp(s) / total
    found: dict[tuple[object, ...], float] = defaultdict(float)
    for e in range(forest.graph.edges):
        head = int(forest.graph.heads[e])
        if not forest.is_word(head) and forest.label(head) != "TOP":
            found[forest_cfg_edge(forest, e)] += math.exp(forest.scores[e])
    assert found == pytest.approx(wanted)

    topped = forest.label(forest.graph.goal) == "TOP"
    derived = {t for _, t in forest.kbest(1000)} if forest.count() <= 1000 else None
    for _, tree in scored:
        wanted_tree = Tree.from_nested(("TOP", tree.to_nested())) if topped else tree
        assert derived is None or wanted_tree in derived
    if len({tree.label(0) for _, tree in scored}) > 1:
        assert topped


@given(kbest_lists)
def test_labelled_spans_are_shared_where_no_chain_comes_back(scored: list[tuple[float, Tree]]) -> None:
    chains: dict[tuple[int, int], set[tuple[str, str]]] = defaultdict(set)
    for _, tree in scored:
        for v in range(tree.size):
            below = tree.children(v)
            if len(below) == 1 and not tree.is_word(below[0]):
                chains[tree.span(v)].add((tree.label(v), tree.label(below[0])))

    def comes_back(steps: set[tuple[str, str]]) -> bool:
        reach = set(steps)
        while more := {(a, d) for a, b in reach for c, d in steps if b == c} - reach:
            reach |= more
        return any(a == b for a, b in reach)

    forest = ParseForest.from_kbest(scored)
    nodes = [(forest.label(v), forest.span(v)) for v in range(len(forest.words), forest.graph.nodes)]
    once = [node for node in nodes if not comes_back(chains[node[1]])]
    assert len(once) == len(set(once))
    if not any(comes_back(steps) for steps in chains.values()) and len({t.label(0) for _, t in scored}) == 1:
        assert set(nodes) == {(t.label(v), t.span(v)) for _, t in scored for v in range(t.size) if not t.is_word(v)}
