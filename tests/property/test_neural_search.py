"""Neural models in the search, compared with NumPy on all derivations that there are, in all three matchers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import slow_chart
import slow_dependents
import slow_forest
from forest_rules import ForestRule, forest_table
from hypothesis import given, settings
from neural_models import Reference, random_model
from small_lm import LM

from treeglot import ParseForest
from treeglot._core import ChartMatcher, Decoder, FeatureSet, ForestMatcher, HeadDependentsMatcher, Matcher
from treeglot.decode import SearchOptions
from treeglot.syntax import Alignment

MOST = 3000  # derivations of a case
WEIGHT = 0.7
# Some words of the grammars are unknown to it, others share a fallback.
MODELS = [
    random_model(["a", "b"], ["u", "v", "a"], seed=history, history=history, before=1, after=2, hidden=16)
    for history in (1, 2, 3)
]
# Translations of several words; the grammars have the words u, v and a.
LEXICAL = random_model(["a", "b"], ["u", "v", "u v", "v u", "u u"], seed=9, history=0, before=1, after=2, hidden=16)
LEXICAL_WEIGHT = 0.9
Make = Callable[[FeatureSet, SearchOptions], Matcher]


def decoders(table: Any, weights: dict[str, float], make: Make, history: int, **search: Any) -> list[Decoder]:
    """One that does not heed the model's score, and one that does."""
    made = []
    for weight in (0.0, WEIGHT):
        features = FeatureSet(table)
        features.add_ngram(LM)
        features.add_joint(MODELS[history - 1])
        features.add_joint(LEXICAL, "neural_lexical")
        options = SearchOptions(pop_limit=0, per_source=0, **search)
        lexical = LEXICAL_WEIGHT if weight else 0.0
        own = [("neural", weight), ("neural_lexical", lexical)]
        made.append(Decoder(features, make(features, options), [*weights.items(), *own], options))
    return made


def check(decoders: Sequence[Decoder], source: Any, words: Sequence[str], history: int) -> None:
    """Derivations, their values and the order of an exact search are those that NumPy's scores give."""
    reference, lexical = Reference(MODELS[history - 1]), Reference(LEXICAL)
    plain, neural = (decoder.translate_batch([source], MOST, False, 1)[0] for decoder in decoders)
    assert plain.problem == neural.problem == ""
    if len(plain.hypotheses) == MOST:
        return
    known: dict[Any, tuple[float, float]] = {}

    def expected(hypothesis: Any) -> tuple[float, float]:
        key = hypothesis.text, hypothesis.affiliations, hypothesis.links
        if key not in known:
            target = hypothesis.text.split()
            links = Alignment([(at, i) for i, at in enumerate(hypothesis.affiliations)])
            known[key] = (
                sum(reference.score(words, target, links)),
                sum(lexical.score(words, target, Alignment(hypothesis.links))),
            )
        return known[key]

    def whole(hypothesis: Any) -> float:
        joint, by_source = expected(hypothesis)
        return float(hypothesis.score + WEIGHT * joint + LEXICAL_WEIGHT * by_source)

    for hypothesis in (*plain.hypotheses[:60], *neural.hypotheses[:60]):
        joint, by_source = expected(hypothesis)
        assert hypothesis.features["neural"] == pytest.approx(joint, abs=1e-4)
        assert hypothesis.features["neural_lexical"] == pytest.approx(by_source, abs=1e-4)
    assert len(neural.hypotheses) == len(plain.hypotheses)
    wanted = sorted(map(whole, plain.hypotheses), reverse=True)
    assert [h.score for h in neural.hypotheses] == pytest.approx(wanted, abs=1e-3)


@settings(max_examples=60)
@given(slow_chart.grammars, slow_chart.sentences)
def test_strings(grammar: list[slow_chart.Rule], sentence: list[str]) -> None:
    history = len(grammar) % 3 + 1
    table, limit = slow_chart.compiled(grammar), slow_chart.LIMIT
    made = decoders(table, slow_chart.WEIGHTS, ChartMatcher, history, span_limit=limit)
    check(made, sentence, sentence, history)


@settings(max_examples=60)
@given(slow_forest.cases())
def test_forests(case: tuple[ParseForest, list[ForestRule]]) -> None:
    forest, rules = case
    history = len(rules) % 3 + 1
    table = forest_table(rules, slow_forest.LABELS)
    weights = {name: weight for name, weight in slow_forest.WEIGHTS.items() if "dlm" not in name}

    def make(features: FeatureSet, search: SearchOptions) -> Matcher:
        return ForestMatcher(features, slow_forest.HEADS, search)

    made = decoders(table, weights, make, history, forest_margin=float("inf"), step_limit=0)
    check(made, forest, forest.words, history)


@settings(max_examples=60)
@given(slow_dependents.cases())
def test_dependency_trees(case: slow_dependents.Case) -> None:
    history = len(case.rules) % 3 + 1

    def make(features: FeatureSet, search: SearchOptions) -> Matcher:
        return HeadDependentsMatcher(features, None, search, True)

    made = decoders(slow_dependents.compiled(case.rules), slow_dependents.WEIGHTS, make, history)
    check(made, case.tree, case.tree.words, history)
