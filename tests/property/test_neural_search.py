"""Neural models in the search, compared with NumPy on all derivations that there are, in all three matchers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import slow_chart
import slow_dependents
import slow_forest
from dependency_pieces import WORDS_MODEL
from forest_rules import ForestRule, forest_table
from hypothesis import given, settings
from neural_models import CONSTITUENTS, DEPENDENCIES, Reference, random_model
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
# Networks that see what the parses of the grammars say. They do not know some labels.
LABELS = [f"label {label}" for label in ("S", "NP", "P")]
PARSED = {
    kind: random_model(["a", "b", *LABELS], ["u", "v", "a"], seed=kind, history=2, before=1, after=1, parse=kind)
    for kind in (CONSTITUENTS, DEPENDENCIES)
}
PARSED_WEIGHT = 0.6
# A network over the heads of the output's trees.
HEADS = random_model(["a", "b"], ["u", "v", "a"], seed=5, history=4, before=1, after=1, heads=True)
HEADS_WEIGHT = 0.5
Make = Callable[[FeatureSet, SearchOptions], Matcher]


def decoders(
    table: Any, weights: dict[str, float], make: Make, history: int, parse: int = 0, trees: bool = False, **search: Any
) -> list[Decoder]:
    """One that does not heed the models' scores, and one that does. With `parse`, a model sees such parses.

    With `trees`, hypotheses have trees, and a model scores them.
    """
    made = []
    for weight in (0.0, WEIGHT):
        features = FeatureSet(table)
        features.add_ngram(LM)
        features.add_joint(MODELS[history - 1])
        features.add_joint(LEXICAL, "neural_lexical")
        if parse:
            features.add_joint(PARSED[parse], "neural_parse")
        if trees:
            features.add_dependency(WORDS_MODEL.core)
            features.add_joint(HEADS, "neural_heads")
        options = SearchOptions(pop_limit=0, per_source=0, **search)
        lexical = LEXICAL_WEIGHT if weight else 0.0
        own = [("neural", weight), ("neural_lexical", lexical)]
        own += [("neural_parse", PARSED_WEIGHT if weight else 0.0)] * bool(parse)
        own += [("neural_heads", HEADS_WEIGHT if weight else 0.0)] * trees
        made.append(Decoder(features, make(features, options), [*weights.items(), *own], options))
    return made


def check(decoders: Sequence[Decoder], source: Any, words: Sequence[str], history: int, parse: int = 0) -> None:
    """Derivations, their values and the order of an exact search are those that NumPy's scores give."""
    reference, lexical = Reference(MODELS[history - 1]), Reference(LEXICAL)
    parsed = Reference(PARSED[parse]) if parse else None
    plain, neural = (decoder.translate_batch([source], MOST, False, 1)[0] for decoder in decoders)
    assert plain.problem == neural.problem == ""
    if len(plain.hypotheses) == MOST:
        return
    known: dict[Any, tuple[float, float, float, float]] = {}
    heads = Reference(HEADS)

    def expected(hypothesis: Any) -> tuple[float, float, float, float]:
        tree = hypothesis.dependency
        key = hypothesis.text, hypothesis.affiliations, hypothesis.links, tree and tuple(tree.heads.tolist())
        if key not in known:
            target = hypothesis.text.split()
            links = Alignment([(at, i) for i, at in enumerate(hypothesis.affiliations)])
            known[key] = (
                sum(reference.score(words, target, links)),
                sum(lexical.score(words, target, Alignment(hypothesis.links))),
                sum(parsed.score(words, target, links, source)) if parsed else 0.0,
                sum(heads.score(words, target, links, tree=tree)) if tree else 0.0,
            )
        return known[key]

    def whole(hypothesis: Any) -> float:
        weights = (WEIGHT, LEXICAL_WEIGHT, PARSED_WEIGHT, HEADS_WEIGHT)
        values = zip(weights, expected(hypothesis), strict=True)
        return float(hypothesis.score + sum(weight * value for weight, value in values))

    for hypothesis in (*plain.hypotheses[:60], *neural.hypotheses[:60]):
        joint, by_source, by_parse, by_heads = expected(hypothesis)
        assert hypothesis.features.get("neural_heads", 0.0) == pytest.approx(by_heads, abs=1e-4)
        assert hypothesis.features.get("neural_parse", 0.0) == pytest.approx(by_parse, abs=1e-4)
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

    made = decoders(table, weights, make, history, CONSTITUENTS, True, forest_margin=float("inf"), step_limit=0)
    check(made, forest, forest.words, history, CONSTITUENTS)


@settings(max_examples=60)
@given(slow_dependents.cases())
def test_dependency_trees(case: slow_dependents.Case) -> None:
    history = len(case.rules) % 3 + 1

    def make(features: FeatureSet, search: SearchOptions) -> Matcher:
        return HeadDependentsMatcher(features, None, search, True)

    table = slow_dependents.compiled(case.rules)
    made = decoders(table, slow_dependents.WEIGHTS, make, history, DEPENDENCIES)
    check(made, case.tree, case.tree.words, history, DEPENDENCIES)
