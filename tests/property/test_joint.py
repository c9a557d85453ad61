"""Joint decoding against an enumeration of all derivations that the grammars have together."""

from __future__ import annotations

import pytest
import slow_chart
import slow_dependents
import slow_forest
from forest_rules import ForestRule
from hypothesis import given, settings
from slow_joint import (
    COMMON,
    MOST,
    Part,
    TooManyError,
    chart_part,
    dependents_part,
    enumerate_all,
    forest_part,
    joint_decoder,
    joint_weights,
    scales,
    sentence_of,
)
from small_lm import LM

from treeglot import ParseForest
from treeglot._core import ChartMatcher, Decoder, Dependency, FeatureSet, JointMatcher, Translation
from treeglot.decode import SearchOptions


def check(decoder: Decoder, source: ParseForest | Dependency, parts: dict[str, Part]) -> None:
    """All that an exact search finds is what the enumeration has, and its features give its score."""
    try:
        expected = enumerate_all(list(parts.values()), len(source.words))
    except TooManyError:
        return
    [found] = decoder.translate_batch([source], 8 * MOST, False, 1)
    assert not found.problem
    seen = {(h.text, round(h.score, 3)) for h in found.hypotheses}
    wanted = {(" ".join(made.words), round(made.score, 3)) for made in expected}
    assert found.hypotheses[0].score == pytest.approx(max(made.score for made in expected), abs=1e-4)
    for text, score in seen ^ wanted:  # rounding may go either way
        other = wanted if (text, score) in seen else seen
        assert any((text, round(score + by, 3)) in other for by in (-0.001, 0.001)), (text, score)
    weights = joint_weights({name: part.weights for name, part in parts.items()})
    for hypothesis in found.hypotheses[:50]:
        total = sum(weights[name] * value for name, value in hypothesis.features.items())
        assert total == pytest.approx(hypothesis.score, abs=1e-4)
        check_grammars(hypothesis, parts)


def check_grammars(hypothesis: object, parts: dict[str, Part]) -> None:
    """Each step has its grammar, whose rule penalty counts its rules."""
    steps = hypothesis.derivation.steps  # type: ignore[attr-defined]
    assert {step.grammar for step in steps} <= parts.keys()
    for name in parts:
        rules = sum(step.grammar == name and not step.local for step in steps)
        assert hypothesis.features.get(f"{name}.rule_penalty", 0) == rules  # type: ignore[attr-defined]


@settings(max_examples=100)
@given(slow_chart.grammars, slow_forest.cases(), scales, scales)
def test_strings_and_forests_share_what_covers_the_same_words(
    grammar: list[slow_chart.Rule], case: tuple[ParseForest, list[ForestRule]], of_chart: float, of_forest: float
) -> None:
    forest, rules = case
    parts = {
        "h": chart_part(grammar, sentence_of(forest), of_chart),
        "f": forest_part(forest, rules, of_forest),
    }
    check(joint_decoder(grammar, rules, scales=(of_chart, of_forest)), forest, parts)


@settings(max_examples=100)
@given(slow_chart.grammars, slow_dependents.cases(), scales, scales)
def test_strings_and_dependency_trees_share_what_covers_the_same_words(
    grammar: list[slow_chart.Rule], case: slow_dependents.Case, of_chart: float, of_tree: float
) -> None:
    parts = {
        "h": chart_part(grammar, sentence_of(case.tree), of_chart),
        "d": dependents_part(case, of_tree),
    }
    check(joint_decoder(grammar, tree=case, scales=(of_chart, of_tree)), case.tree, parts)


def best(found: Translation) -> float:
    assert not found.problem
    return found.hypotheses[0].score


@settings(max_examples=40)
@given(slow_chart.grammars, slow_dependents.cases())
def test_no_derivation_of_a_grammar_is_lost(grammar: list[slow_chart.Rule], case: slow_dependents.Case) -> None:
    """Also of structures inside relations, some of whose nodes are not for other grammars."""
    joint = joint_decoder(grammar, tree=case, augmented=True)
    alone = [
        best(slow_dependents.decoder(case, augmented=True, span_limit=slow_chart.LIMIT).translate(case.tree)),
        best(slow_chart.decoder(grammar).translate(list(case.tree.words))),
    ]
    assert best(joint.translate(case.tree)) >= max(alone) - 1e-4


@settings(max_examples=40)
@given(slow_chart.grammars, slow_chart.sentences)
def test_one_grammar_twice_is_that_grammar(grammar: list[slow_chart.Rule], sentence: list[str]) -> None:
    """Where labels do not matter; with them, what has another label may stand in the place of a variable, too."""
    one = [rule._replace(lhs="X", source=tuple("X" if s == "Y" else s for s in rule.source)) for rule in grammar]
    expected = best(slow_chart.decoder(one).translate(sentence))
    assert best(joint_decoder(one).translate(sentence)) == pytest.approx(expected, abs=1e-4)
    assert best(joint_decoder(one, again=one[::-1]).translate(sentence)) == pytest.approx(expected, abs=1e-4)


def test_what_does_not_fit_together_is_refused() -> None:
    table, search = slow_chart.compiled([]), SearchOptions()
    features = FeatureSet([("h", table), ("g", table)])
    matchers = [ChartMatcher(part, search) for part in features.parts]
    for make in (
        lambda: FeatureSet([]),
        lambda: FeatureSet([("h", None)]),
        lambda: FeatureSet([("", table)]),
        lambda: FeatureSet([("h", table), ("h", table)]),
        lambda: JointMatcher(features, matchers[:1]),
        lambda: JointMatcher(features, [matchers[0], None]),
        lambda: JointMatcher(FeatureSet(table), matchers),
        lambda: features.add_labels(),
        lambda: features.parts[0].add_ngram(LM),
        lambda: Decoder(features.parts[0], matchers[0], [], search),
    ):
        with pytest.raises((ValueError, TypeError)):
            make()
    alone = FeatureSet(table)
    found = Decoder(alone, JointMatcher(features, matchers), [], search).translate("a")
    assert found.problem == "the matcher is for other grammars than the features"


def test_common_features_have_one_name() -> None:
    names = joint_decoder([], []).features
    assert {name for name in names if "." not in name} == {*COMMON, "preferred", "lattice"}
    assert {"h.p", "f.p", "h.rule_penalty", "f.rule_penalty", "f.parse", "f.pseudo"} <= set(names)
