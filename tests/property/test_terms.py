"""Given translations and forbidden phrases, in all three matchers, against enumerations of all derivations."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, TypeAlias

import pytest
import slow_chart
import slow_dependents
import slow_forest
from forest_rules import ForestRule
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from treeglot import ParseForest, Tree
from treeglot._core import Decoder, Mark, Terms, Translation

MOST = 3000  # derivations
TERM = "v t"  # t is in no rule
Case: TypeAlias = tuple[Decoder, Any, int]  # a decoder, its input, and how many words that has


@st.composite
def strings(draw: st.DrawFn) -> Case:
    sentence = draw(slow_chart.sentences)
    return slow_chart.decoder(draw(slow_chart.grammars)), sentence, len(sentence)


@st.composite
def forests(draw: st.DrawFn) -> Case:
    forest, rules = draw(slow_forest.cases(most_variables=draw(st.integers(0, 2))))
    return slow_forest.decoder(rules, crossing=draw(st.booleans())), forest, len(forest.words)


@st.composite
def trees(draw: st.DrawFn) -> Case:
    case = draw(slow_dependents.cases())
    return slow_dependents.decoder(case, draw(st.booleans())), case.tree, len(case.tree)


CASES = pytest.mark.parametrize("cases", [strings(), forests(), trees()], ids=["chart", "forest", "dependents"])


def everything(decoder: Decoder, source: Any, terms: Terms) -> Translation:
    """All derivations, unless there are too many."""
    [found] = decoder.translate_batch([source], MOST, False, 1, terms=[terms])
    assume(len(found.hypotheses) < MOST)
    return found


def keeps_away(source: Any, hypothesis: Any, spans: list[tuple[int, int]]) -> bool:
    """Whether no hierarchical phrase or glue on a forest covers words of a span, as none covers a forced term."""
    glued = [s for s in hypothesis.derivation.steps if s.local and s.children > 1 and not s.parse_edges]
    phrases = [s for s in hypothesis.derivation.steps if not s.local and "(" not in s.source]
    steps = glued + [s for s in phrases if "[" in s.source]
    apart = all(step.span[1] <= begin or end <= step.span[0] for step in steps for begin, end in spans)
    return apart or not isinstance(source, ParseForest)


@CASES
@settings(max_examples=50)
@given(data=st.data())
def test_a_forced_term_has_the_derivations_that_use_a_preferred_one(
    cases: st.SearchStrategy[Case], data: st.DataObject
) -> None:
    decoder, source, length = data.draw(cases)
    begin = data.draw(st.integers(0, length - 1))
    span = begin, data.draw(st.integers(begin + 1, length))
    plain = everything(decoder, source, Terms())
    forced = everything(decoder, source, Terms([Mark(span, [TERM])]))
    preferred = everything(decoder, source, Terms([Mark(span, [TERM], False)]))

    def uses(hypothesis: Any) -> bool:
        return any(step.local and (step.span, step.target) == (span, TERM) for step in hypothesis.derivation.steps)

    assert forced.problem == preferred.problem == ""
    assert all(uses(hypothesis) for hypothesis in forced.hypotheses)
    assert all(h.text.split().count("t") == uses(h) for h in (*forced.hypotheses, *preferred.hypotheses))
    with_term = [h.score for h in preferred.hypotheses if uses(h) and keeps_away(source, h, [span])]
    without = [h.score for h in preferred.hypotheses if not uses(h)]
    assert [h.score for h in forced.hypotheses] == pytest.approx(with_term, abs=1e-4)
    # Parses inside the span are one with the term, and several without it.
    assert without == pytest.approx([h.score for h in plain.hypotheses], abs=1e-4)
    bonus = everything(decoder, source, Terms([Mark(span, [TERM], False, 1000.0)]))
    assert uses(bonus.hypotheses[0]) and bonus.hypotheses[0].features["preferred"] == 1000.0


@CASES
@settings(max_examples=50)
@given(data=st.data())
def test_all_of_several_forced_terms_are_used(cases: st.SearchStrategy[Case], data: st.DataObject) -> None:
    decoder, source, length = data.draw(cases)
    cuts = sorted(data.draw(st.sets(st.integers(0, length), min_size=2)))
    spans = [span for span in pairwise(cuts) if data.draw(st.integers(0, 3))]
    marks = [Mark(span, [f"t{number}"]) for number, span in enumerate(spans)]
    found = everything(decoder, source, Terms(marks))
    assert found.problem == ""
    for hypothesis in found.hypotheses:
        words = hypothesis.text.split()
        assert all(words.count(f"t{number}") == 1 for number in range(len(spans)))


@settings(max_examples=100)
@given(slow_forest.cases(most_variables=1), st.data())
def test_hierarchical_phrases_on_forests_keep_away_from_forced_terms(
    case: tuple[ParseForest, list[Any]], data: st.DataObject
) -> None:
    forest, rules = case
    begin = data.draw(st.integers(0, len(forest.words) - 1))
    span = begin, data.draw(st.integers(begin + 1, len(forest.words)))
    found = everything(slow_forest.decoder(rules), forest, Terms([Mark(span, [TERM])]))
    assert found.problem == ""
    for hypothesis in found.hypotheses:
        assert hypothesis.text.split().count("t") == 1
        assert keeps_away(forest, hypothesis, [span])


def test_hierarchical_phrases_on_forests_cover_preferred_terms() -> None:
    forest = ParseForest.from_tree(Tree.parse("(S (V a) (NP b))"))
    rules = [ForestRule(("a", ("X",)), ("1", "u"), 0.0, True, (0, 1), ("N",))]
    terms = Terms([Mark((1, 2), ["t"], False, 9.0)])
    [found] = slow_forest.decoder(rules).translate_batch([forest], 9, False, 1, terms=[terms])
    assert "t u" in [hypothesis.text for hypothesis in found.hypotheses]


@CASES
@settings(max_examples=50)
@given(data=st.data())
def test_preferred_terms_leave_the_derivations_with_none_and_with_all(
    cases: st.SearchStrategy[Case], data: st.DataObject
) -> None:
    decoder, source, length = data.draw(cases)
    cuts = sorted(data.draw(st.sets(st.integers(0, length), min_size=2)))
    drawn = [(span, data.draw(st.integers(0, 3))) for span in pairwise(cuts)]
    required = [Mark(span, [f"r{span[0]}"]) for span, mode in drawn if mode == 1]
    preferred = [Mark(span, [f"p{span[0]}"], False) for span, mode in drawn if mode > 1]
    as_forced = [Mark(mark.span, mark.translations) for mark in preferred]

    def sort(marks: list[Mark]) -> list[Mark]:
        return sorted(marks, key=lambda mark: mark.span)

    none = everything(decoder, source, Terms(required))
    every = everything(decoder, source, Terms(sort(required + as_forced)))
    found = everything(decoder, source, Terms(sort(required + preferred)))
    used = [sum(mark.translations[0] in h.text.split() for mark in preferred) for h in found.hypotheses]
    for number, expected in ((0, none), (len(preferred), every)):
        away = [mark.span for mark in preferred] if number else []
        these = [h for h, uses in zip(found.hypotheses, used, strict=True) if uses == number]
        scores = [h.score for h in these if keeps_away(source, h, away)]
        assert scores == pytest.approx([h.score for h in expected.hypotheses], abs=1e-4)


def test_nothing_is_left_of_a_constituent_that_two_terms_share() -> None:
    forest = ParseForest.from_tree(Tree.parse("(S (A a) (B (C (A b) (A c)) (A e)) (A f))"))
    for spans in ([(0, 2), (2, 5)], [(0, 2), (2, 3), (3, 5)], [(1, 2), (2, 4)]):
        terms = Terms([Mark(span, [f"t{number}"]) for number, span in enumerate(spans)])
        [found] = slow_forest.decoder([]).translate_batch([forest], 1, False, 1, terms=[terms])
        assert found.problem == ""
        assert [step.span for step in found.hypotheses[0].derivation.steps if step.target[:1] == "t"] == spans


@settings(max_examples=50)
@given(slow_chart.grammars, slow_chart.sentences, st.data())
def test_a_forced_word_is_a_word_with_one_translation(
    grammar: list[slow_chart.Rule], sentence: list[str], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(sentence) - 1))
    score = -slow_chart.WEIGHTS["rule_penalty"]  # given translations are no rules of the table
    other = [*grammar, slow_chart.Rule("X", ("e",), ("v", "w"), score)]
    labels = {rule.lhs for rule in grammar if rule.source == (sentence[place],)} - {"X"}
    other += [slow_chart.Rule(label, ("e",), ("v", "w"), score) for label in labels]
    expected = slow_chart.enumerate_all(other, [*sentence[:place], "e", *sentence[place + 1 :]])
    assume(len(expected) < MOST)
    found = everything(slow_chart.decoder(grammar), sentence, Terms([Mark((place, place + 1), ["v w"])]))
    scores = sorted((made.score for made in expected), reverse=True)
    assert [h.score for h in found.hypotheses] == pytest.approx(scores, abs=1e-4)


@CASES
@settings(max_examples=50)
@given(data=st.data())
def test_forbidden_phrases_leave_the_other_derivations(cases: st.SearchStrategy[Case], data: st.DataObject) -> None:
    decoder, source, _ = data.draw(cases)
    plain = everything(decoder, source, Terms())
    words = sorted({word for hypothesis in plain.hypotheses for word in hypothesis.text.split()} | {"u"})
    phrase = st.lists(st.sampled_from([*words, "nowhere"]), min_size=1, max_size=3).map(" ".join)
    forbidden = data.draw(st.lists(phrase, min_size=1, max_size=3))

    def has(text: str) -> bool:
        return any(f" {one} " in f" {text} " for one in forbidden)

    expected = [hypothesis.score for hypothesis in plain.hypotheses if not has(hypothesis.text)]
    found = everything(decoder, source, Terms(forbidden=forbidden))
    if expected:
        assert [hypothesis.score for hypothesis in found.hypotheses] == pytest.approx(expected, abs=1e-4)
        assert found.notes == plain.notes
    elif found.hypotheses:
        assert "every translation has a forbidden phrase; source words pass through" in found.notes
    else:
        assert found.problem == "no derivation is without a forbidden phrase"
    assert not any(has(hypothesis.text) for hypothesis in found.hypotheses)
