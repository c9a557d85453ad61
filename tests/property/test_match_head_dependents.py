"""Translation of dependency trees against an enumeration of all derivations, on random small trees and grammars."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_dependents import WEIGHTS, Case, cases, decoder, enumerate_all


@settings(max_examples=200)
@given(cases(), st.booleans(), st.integers(1, 5))
def test_exact_search_finds_every_derivation_in_order(case: Case, augmented: bool, span_limit: int) -> None:
    expected = enumerate_all(case, augmented, span_limit)
    if len(expected) > 1000:
        return
    exact = decoder(case, augmented, span_limit=span_limit)
    [found] = exact.translate_batch([case.tree], len(expected) + 1, False, 1)
    assert found.problem == ""
    assert len(found.hypotheses) == len(expected)
    scores = [hypothesis.score for hypothesis in found.hypotheses]
    assert scores == pytest.approx(sorted((made.score for made in expected), reverse=True), abs=1e-5)
    by_text: dict[str, list[float]] = {}
    for made in expected:
        by_text.setdefault(" ".join(made.words), []).append(made.score)
    for hypothesis in found.hypotheses:
        assert min(abs(score - hypothesis.score) for score in by_text[hypothesis.text]) < 1e-4
        total = sum(WEIGHTS[name] * value for name, value in hypothesis.features.items())
        assert total == pytest.approx(hypothesis.score, abs=1e-4)


@settings(max_examples=100)
@given(cases(phrases=False), st.integers(0, 6))
def test_without_phrases_on_structures_the_augmented_model_is_the_plain_one(case: Case, pops: int) -> None:
    [plain] = decoder(case, False, pops).translate_batch([case.tree], 20, False, 1)
    [augmented] = decoder(case, True, pops).translate_batch([case.tree], 20, False, 1)
    assert [(h.text, h.score) for h in plain.hypotheses] == [(h.text, h.score) for h in augmented.hypotheses]


@settings(max_examples=30)
@given(st.lists(cases(), min_size=1, max_size=8), st.booleans())
def test_threads_do_not_matter(corpus: list[Case], augmented: bool) -> None:
    made = decoder(corpus[0], augmented, 5)
    trees = [case.tree for case in corpus]
    one, three = (
        [[(h.text, h.score) for h in t.hypotheses] for t in made.translate_batch(trees, 5, False, n)] for n in (1, 3)
    )
    assert one == three
