"""Translating forests against an enumeration of all derivations, on random small forests and rules."""

from __future__ import annotations

from collections import Counter

import pytest
from dependency_pieces import tree_of
from forest_rules import ForestRule
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from slow_forest import WEIGHTS, Twin, cases, decoder

from treeglot import ParseForest
from treeglot._core import ScoreKind


@settings(max_examples=300)
@given(cases())
def test_exact_search_finds_every_derivation_in_order(case: tuple[ParseForest, list[ForestRule]]) -> None:
    forest, rules = case
    expected = Twin(forest, rules).all()
    if len(expected) > 2000:
        return
    exact = decoder(rules)
    [found] = exact.translate_batch([forest], len(expected) + 1, False, 1)
    assert not found.problem and not found.notes
    scores = [hypothesis.score for hypothesis in found.hypotheses]
    assert scores == pytest.approx(sorted((made.score for made in expected), reverse=True), abs=1e-4)
    used = [frozenset(h.derivation.parse_edges()) for h in found.hypotheses]
    assert Counter((*tree_of(h), edges) for h, edges in zip(found.hypotheses, used, strict=True)) == Counter(
        (*made.piece[:3], made.edges) for made in expected
    )
    for hypothesis in found.hypotheses:
        total = sum(WEIGHTS[name] * value for name, value in hypothesis.features.items())
        assert total == pytest.approx(hypothesis.score, abs=1e-4)


def has_the_derivations_of_its_twin(forest: ParseForest, rules: list[ForestRule], *, crossing: bool) -> None:
    expected = Twin(forest, rules, crossing=crossing).all()
    if len(expected) > 3000:
        return
    [found] = decoder(rules, crossing=crossing).translate_batch([forest], len(expected) + 1, False, 1)
    assert not found.problem and not found.notes
    scores = [hypothesis.score for hypothesis in found.hypotheses]
    assert scores == pytest.approx(sorted((made.score for made in expected), reverse=True), abs=1e-4)
    assert Counter(tree_of(h) for h in found.hypotheses) == Counter(made.piece[:3] for made in expected)
    for hypothesis in found.hypotheses:
        total = sum(WEIGHTS[name] * value for name, value in hypothesis.features.items())
        assert total == pytest.approx(hypothesis.score, abs=1e-4)
        assert forest.tree_with(hypothesis.derivation.parse_edges()).words == forest.words


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(cases(most_variables=2))
def test_phrases_have_variables_for_nodes_and_sequences(case: tuple[ParseForest, list[ForestRule]]) -> None:
    has_the_derivations_of_its_twin(*case, crossing=False)


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(cases(most_variables=2))
def test_phrases_on_other_spans_fill_variables_and_stand_side_by_side(
    case: tuple[ParseForest, list[ForestRule]],
) -> None:
    has_the_derivations_of_its_twin(*case, crossing=True)


@settings(max_examples=150)
@given(cases())
def test_the_parse_feature_is_the_probability_of_the_tree_that_was_used(
    case: tuple[ParseForest, list[ForestRule]],
) -> None:
    forest, rules = case
    logs = forest.conditional()
    one = decoder(rules)
    [found] = one.translate_batch([forest], 20, False, 1)
    possible: dict[str, list[float]] = {}
    for score, tree in logs.kbest(1000):
        possible.setdefault(str(tree), []).append(score)
    for hypothesis in found.hypotheses:
        tree = forest.tree_with(hypothesis.derivation.parse_edges())
        assert tree.words == forest.words
        parse = hypothesis.features.get("parse", 0.0)
        assert any(parse == pytest.approx(score, abs=1e-3) for score in possible[str(tree)])


@settings(max_examples=150)
@given(cases(), st.floats(0, 8))
def test_pruning_is_that_of_the_forest(case: tuple[ParseForest, list[ForestRule]], margin: float) -> None:
    forest, rules = case
    kept = ParseForest(forest.graph, forest.labels, forest.spans.tolist(), forest.scores, ScoreKind.conditional)
    [whole] = decoder(rules, margin).translate_batch([kept], 30, False, 1)
    [pruned] = decoder(rules).translate_batch([kept.prune(margin)], 30, False, 1)
    assert [(h.text, h.score) for h in whole.hypotheses] == [(h.text, h.score) for h in pruned.hypotheses]


@settings(max_examples=100)
@given(cases(), st.integers(1, 5), st.integers(1, 12))
def test_limits_cost_score_and_are_counted(case: tuple[ParseForest, list[ForestRule]], pops: int, steps: int) -> None:
    forest, rules = case
    [exact] = decoder(rules).translate_batch([forest], 1, False, 1)
    [pruned] = decoder(rules, pop_limit=pops).translate_batch([forest], 1, False, 1)
    [limited] = decoder(rules, steps=steps).translate_batch([forest], 1, False, 1)
    assert pruned.hypotheses[0].score <= exact.hypotheses[0].score + 1e-6
    hit = ("the step limit of matching was hit",)
    assert exact.notes == ()
    assert limited.notes == hit or limited.hypotheses[0].score == exact.hypotheses[0].score
    [enough] = decoder(rules, steps=10**6).translate_batch([forest], 1, False, 1)
    assert (enough.notes, enough.hypotheses[0].score) == ((), exact.hypotheses[0].score)
    # A fragment is more than one step.
    if any(step.parse_edges and not step.local for step in exact.hypotheses[0].derivation.steps):
        [least] = decoder(rules, steps=1).translate_batch([forest], 1, False, 1)
        assert least.notes == hit


@settings(max_examples=60)
@given(st.lists(cases(), min_size=1, max_size=5))
def test_threads_do_not_matter(corpus: list[tuple[ParseForest, list[ForestRule]]]) -> None:
    inputs = [forest for forest, _ in corpus]
    shared = decoder([rule for _, rules in corpus for rule in rules], pop_limit=5)
    one, three = (
        [[(h.text, h.score, h.features) for h in t.hypotheses] for t in shared.translate_batch(inputs, 5, False, n)]
        for n in (1, 3)
    )
    assert one == three
