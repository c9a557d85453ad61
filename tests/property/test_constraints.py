"""Constrained search against an enumeration of all derivations, for each matcher."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import slow_chart as chart
import slow_dependents as dependents
import slow_forest as forest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeglot._core import Decoder, Step, TargetConstraints

Words = tuple[str, ...]
EXAMPLES = 40  # 1,000 of each were drawn once: bench/RESULTS.md


class Problem(NamedTuple):
    decoder: Decoder
    source: Any
    expected: list[tuple[float, Words]]  # of all derivations


@st.composite
def of_strings(draw: st.DrawFn) -> Problem:
    grammar, sentence = draw(chart.grammars), draw(chart.sentences)
    found = chart.enumerate_all(grammar, sentence)
    return Problem(chart.decoder(grammar), " ".join(sentence), [(made.score, made.words) for made in found])


@st.composite
def of_forests(draw: st.DrawFn) -> Problem:
    (source, rules), crossing = draw(forest.cases(most_variables=1)), draw(st.booleans())
    found = forest.Twin(source, rules, crossing=crossing).all()
    return Problem(forest.decoder(rules, crossing=crossing), source, [(made.score, made.piece.words) for made in found])


@st.composite
def of_trees(draw: st.DrawFn) -> Problem:
    case, augmented = draw(dependents.cases()), draw(st.booleans())
    found = dependents.enumerate_all(case, augmented)
    return Problem(dependents.decoder(case, augmented), case.tree, [(made.score, made.words) for made in found])


problems = st.one_of(of_strings(), of_forests(), of_trees())
matchers = pytest.mark.parametrize("drawn", [of_strings(), of_forests(), of_trees()], ids=["chart", "forest", "trees"])


def has(words: Words, phrase: Words) -> bool:
    return any(words[i : i + len(phrase)] == phrase for i in range(len(words) - len(phrase) + 1))


def check(problem: Problem, constraints: TargetConstraints, wanted: Callable[[Words], bool]) -> None:
    """All derivations that meet the constraints are found, with their scores, and no others."""
    expected = [(score, words) for score, words in problem.expected if wanted(words)]
    most = len(problem.expected) + 1
    [found] = problem.decoder.translate_batch([problem.source], most, False, 1, [constraints])
    assert found.problem == ("" if expected else "no derivation meets the constraints")
    assert all(wanted(tuple(h.text.split())) for h in found.hypotheses)
    scores = sorted((score for score, _ in expected), reverse=True)
    assert [h.score for h in found.hypotheses] == pytest.approx(scores, abs=1e-4)


def drawn_words(data: st.DataObject, problem: Problem) -> Words:
    """An output, or a part of one, which is now and then changed."""
    words = data.draw(st.sampled_from([words for _, words in problem.expected]))
    begin = data.draw(st.integers(0, len(words)))
    out = list(words[begin : data.draw(st.integers(begin, len(words)))]) or ["u"]
    if data.draw(st.integers(0, 3)) == 0:
        out[data.draw(st.integers(0, len(out) - 1))] = data.draw(st.sampled_from(["u", "v", "a", "new"]))
    return tuple(out)


@matchers
def test_forced_decoding_equals_enumeration(drawn: st.SearchStrategy[Problem]) -> None:
    @settings(max_examples=EXAMPLES)
    @given(drawn, st.data())
    def run(problem: Problem, data: st.DataObject) -> None:
        if not 0 < len(problem.expected) <= 1000:
            return
        exactly = data.draw(st.sampled_from([words for _, words in problem.expected]))
        if not exactly or data.draw(st.integers(0, 3)) == 0:
            exactly = drawn_words(data, problem)
        check(problem, TargetConstraints(exactly=list(exactly)), lambda words: words == exactly)
        for source, target, _ in problem.decoder.reached(problem.source, list(exactly)):
            assert source[0] < source[1] and target[0] < target[1] <= len(exactly)
        if any(words == exactly for _, words in problem.expected):
            [(_, whole, _)] = problem.decoder.reached(problem.source, list(exactly))
            assert whole == (0, len(exactly))

    run()


@settings(max_examples=EXAMPLES)
@given(problems, st.data())
def test_other_constraints_equal_enumeration(problem: Problem, data: st.DataObject) -> None:
    if not 0 < len(problem.expected) <= 1000:
        return
    phrases = [drawn_words(data, problem) for _ in range(4)]
    prefix = phrases[0] if data.draw(st.booleans()) else ()
    part = data.draw(st.sampled_from(["", "u", "n"])) if prefix else ""
    contains = phrases[1 : data.draw(st.integers(1, 3))]
    forbid = phrases[3:] if data.draw(st.booleans()) else []

    def wanted(words: Words) -> bool:
        rest = words[len(prefix) :]
        begins = words[: len(prefix)] == prefix and (not part or (bool(rest) and rest[0].startswith(part)))
        return begins and all(has(words, p) for p in contains) and not any(has(words, p) for p in forbid)

    check(
        problem,
        TargetConstraints(None, list(prefix), part, [list(p) for p in contains], [list(p) for p in forbid]),
        wanted,
    )


@settings(max_examples=EXAMPLES)
@given(problems, st.data())
def test_required_steps_equal_enumeration(problem: Problem, data: st.DataObject) -> None:
    if not 0 < len(problem.expected) <= 300:
        return
    [found] = problem.decoder.translate_batch([problem.source], 301, False, 1)
    if not found.hypotheses:
        return
    steps = data.draw(
        st.lists(st.sampled_from(data.draw(st.sampled_from(found.hypotheses)).derivation.steps), max_size=3)
    )
    whole = data.draw(st.booleans())  # or nodes alone

    def fields(step: Step) -> tuple[tuple[int, int], str, str | None, str | None]:
        return (step.span, step.label, step.source, step.target) if whole else (step.span, step.label, None, None)

    wanted = {fields(step) for step in steps}
    used = [{fields(step) for step in h.derivation.steps} for h in found.hypotheses]
    expected = [h.score for h, has_steps in zip(found.hypotheses, used, strict=True) if wanted <= has_steps]
    [kept] = problem.decoder.translate_batch([problem.source], 301, False, 1, [TargetConstraints(steps=list(wanted))])
    assert [h.score for h in kept.hypotheses] == pytest.approx(expected, abs=1e-6)
