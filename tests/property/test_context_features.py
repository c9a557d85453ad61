"""Context features in the search, compared with their definition on all derivations, in all matchers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import pytest
import slow_chart
import slow_dependents
import slow_forest
from forest_rules import ForestRule, forest_table
from hypothesis import given, settings
from slow_chart import NT
from small_lm import LM

from treeglot import ParseForest
from treeglot._core import (
    ChartMatcher,
    Decoder,
    FeatureSet,
    ForestMatcher,
    HeadDependentsMatcher,
    Hypothesis,
    JointMatcher,
    Matcher,
    RuleTable,
    Step,
)
from treeglot.decode import SearchOptions

MOST = 3000  # derivations of a case
SOURCE, TARGET = ["a"], ["u", "v"]  # the grammars have other words, too
Make = Callable[[FeatureSet, SearchOptions], Matcher]


def weight_of(name: str) -> float:
    """Some weight, that of a feature and of nothing else; every third is 0."""
    number = sum(ord(letter) * 7**place for place, letter in enumerate(name))
    return 0.0 if number % 3 == 0 else number % 41 / 20 - 1


def all_weights() -> dict[str, float]:
    classes = ["<unk>", *SOURCE]
    triples = [(f, e, c) for f in classes for e in ("<unk>", *TARGET) for c in (*classes, "<s>", "</s>")]
    names = [name for f, e, c in triples for name in (f"left={c}|{f}→{e}", f"right={f}→{e}|{c}")]
    return {name: weight_of(name) for name in names}


def decoder(table: RuleTable, weights: Mapping[str, float], make: Make, **search: Any) -> Decoder:
    features = FeatureSet(table)
    features.add_ngram(LM)
    features.add_context(SOURCE, TARGET)
    options = SearchOptions(pop_limit=0, per_source=0, **search)
    return Decoder(features, make(features, options), list(weights.items()), options)


def own_words(hypothesis: Hypothesis, number: int) -> list[int]:
    """The source words of a step that are in none of the steps below it."""
    steps, depths = hypothesis.derivation.steps, hypothesis.derivation.depths()
    below = set[int]()
    for later in range(number + 1, len(steps)):
        if depths[later] <= depths[number]:
            break
        below.update(range(*steps[later].span))
    return [at for at in range(*steps[number].span) if at not in below]


def links(source: list[int], target: list[int]) -> list[tuple[int, int]]:
    """Some links of a rule's words, and of the brackets that patterns of forests have among them."""
    words = product([i for i, f in enumerate(source) if f < NT], [j for j, e in enumerate(target) if e >= 0])
    return [(i, j) for i, j in words if (source[i] + 2 * target[j] + i + j) % 3 != 0]


def phrase_of(table: RuleTable, step: Step) -> int | None:
    """The phrase of a local step: on a structure of a dependency tree, a phrase of the table is a local rule."""
    if step.children > 0 or step.span[1] - step.span[0] < 2:
        return None  # glue, a pseudo rule, or a word that passes through
    for number in range(table.own_rules):
        _, source, target, _, _ = table.rule(number)
        if not any(f >= NT for f in source) and not any(e < 0 for e in target):
            words = " ".join(table.source_words[f] for f in source), " ".join(table.target_words[e] for e in target)
            if words == (step.source, step.target):
                return number
    return None


def expected(tables: Mapping[str, RuleTable], hypothesis: Hypothesis, sentence: Sequence[str]) -> Counter[str]:
    """The features of a derivation, by the definition: for each link of each rule of the table, its two neighbours."""

    def known(word: str, words: Sequence[str]) -> str:
        return word if word in words else "<unk>"

    around = ["<s>", *(known(word, SOURCE) for word in sentence), "</s>"]
    found: Counter[str] = Counter()
    for number, step in enumerate(hypothesis.derivation.steps):
        table = tables[step.grammar]
        rule = phrase_of(table, step) if step.rule is None else step.rule
        if rule is None:
            continue
        _, source, target, _, links = table.rule(rule)
        brackets = [not word.startswith(" ") for word in table.source_words]
        places = [i for i, symbol in enumerate(source) if symbol < len(brackets) and brackets[symbol]]
        own = own_words(hypothesis, number)
        assert len(own) == len(places)
        for f, e in links:
            if f not in places or target[e] < 0:
                continue
            at = own[places.index(f)]
            pair = f"{around[at + 1]}→{known(table.target_words[target[e]], TARGET)}"
            found[f"left={around[at]}|{pair}"] += 1
            found[f"right={pair}|{around[at + 2]}"] += 1
    return found


def check(tables: Mapping[str, RuleTable], decoders: Sequence[Decoder], source: Any, words: Sequence[str]) -> None:
    """The features of all derivations, and the order of an exact search, are as the definition has them."""
    plain, weighted = (one.translate_batch([source], MOST, False, 1)[0] for one in decoders)
    assert plain.problem == weighted.problem == ""
    if len(plain.hypotheses) == MOST:
        return
    whole = []
    for hypothesis in (*plain.hypotheses, *weighted.hypotheses):
        found = {name: value for name, value in hypothesis.features.items() if name.startswith(("left=", "right="))}
        wanted = expected(tables, hypothesis, words)
        assert found == wanted
        whole.append(hypothesis.score + sum(weight_of(name) * value for name, value in wanted.items()))
    by_definition = sorted(whole[: len(plain.hypotheses)], reverse=True)
    assert [h.score for h in weighted.hypotheses] == pytest.approx(by_definition, abs=1e-3)


def both(table: RuleTable, weights: Mapping[str, float], make: Make, **search: Any) -> list[Decoder]:
    """One without weights of the features, and one with them."""
    return [decoder(table, {**weights, **more}, make, **search) for more in ({}, all_weights())]


@settings(max_examples=60)
@given(slow_chart.grammars, slow_chart.sentences)
def test_strings(grammar: list[slow_chart.Rule], sentence: list[str]) -> None:
    table = slow_chart.compiled(grammar, links)
    made = both(table, slow_chart.WEIGHTS, ChartMatcher, span_limit=slow_chart.LIMIT)
    check({"": table}, made, sentence, sentence)


@settings(max_examples=60)
@given(slow_forest.cases())
def test_forests(case: tuple[ParseForest, list[ForestRule]]) -> None:
    forest, rules = case
    table = forest_table(rules, slow_forest.LABELS, links)
    weights = {name: weight for name, weight in slow_forest.WEIGHTS.items() if "dlm" not in name}

    def make(features: FeatureSet, search: SearchOptions) -> Matcher:
        return ForestMatcher(features, slow_forest.HEADS, search)

    check({"": table}, both(table, weights, make, forest_margin=float("inf"), step_limit=0), forest, forest.words)


@settings(max_examples=60)
@given(slow_dependents.cases())
def test_dependency_trees(case: slow_dependents.Case) -> None:
    table = slow_dependents.compiled(case.rules, links)

    def make(features: FeatureSet, search: SearchOptions) -> Matcher:
        return HeadDependentsMatcher(features, None, search, True)

    check({"": table}, both(table, slow_dependents.WEIGHTS, make), case.tree, case.tree.words)


@settings(max_examples=60)
@given(slow_chart.grammars, slow_chart.grammars, slow_chart.sentences)
def test_several_grammars(one: list[slow_chart.Rule], other: list[slow_chart.Rule], sentence: list[str]) -> None:
    """The features are common to all grammars, whose tables number the words in different ways."""
    tables = {"g": slow_chart.compiled(one, links), "h": slow_chart.compiled(other[::-1], links)}
    search = SearchOptions(pop_limit=0, per_source=0, span_limit=slow_chart.LIMIT)
    common = ("word_penalty", "unknown", "glue", "lm", "lm_unknown")
    weights = {
        name if name in common else f"{grammar}.{name}": weight
        for grammar in tables
        for name, weight in slow_chart.WEIGHTS.items()
    }
    made = []
    for more in ({}, all_weights()):
        features = FeatureSet(list(tables.items()))
        features.add_ngram(LM)
        features.add_context(SOURCE, TARGET)
        matchers = [ChartMatcher(part, search) for part in features.parts]
        made.append(Decoder(features, JointMatcher(features, matchers), [*weights.items(), *more.items()], search))
        assert not made[-1].unknown_weights
    check(tables, made, sentence, sentence)
