"""The decoder against an enumeration of all derivations, on random small grammars."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_chart import Rule, decoder, enumerate_all, grammars, sentences, total


@settings(max_examples=300)
@given(grammars, sentences)
def test_exact_search_finds_every_derivation_in_order(grammar: list[Rule], sentence: list[str]) -> None:
    expected = enumerate_all(grammar, sentence)
    if len(expected) > 3000:
        return
    exact = decoder(grammar)
    [found] = exact.translate_batch([" ".join(sentence)], len(expected) + 1, False, 1)
    assert len(found.hypotheses) == len(expected)
    scores = [hypothesis.score for hypothesis in found.hypotheses]
    assert scores == sorted(scores, reverse=True)
    assert scores == pytest.approx(sorted((made.score for made in expected), reverse=True), abs=1e-5)
    texts: dict[str, list[float]] = {}
    for made in expected:
        texts.setdefault(" ".join(made.words), []).append(made.score)
    for hypothesis in found.hypotheses:
        assert min(abs(score - hypothesis.score) for score in texts[hypothesis.text]) < 1e-4
        assert total(hypothesis.features) == pytest.approx(hypothesis.score, abs=1e-4)


@settings(max_examples=100)
@given(grammars, sentences)
def test_distinct_texts_are_the_best_of_each(grammar: list[Rule], sentence: list[str]) -> None:
    expected = enumerate_all(grammar, sentence)
    if len(expected) > 3000:
        return
    best: dict[str, float] = {}
    for made in expected:
        text = " ".join(made.words)
        best[text] = max(best.get(text, -math.inf), made.score)
    [found] = decoder(grammar).translate_batch([" ".join(sentence)], len(expected) + 1, True, 1)
    assert {h.text: pytest.approx(h.score, abs=1e-5) for h in found.hypotheses} == best
    assert len(found.hypotheses) == len(best)


@settings(max_examples=100)
@given(grammars, sentences, st.integers(1, 6))
def test_pruned_search_is_never_above_the_exact_one(grammar: list[Rule], sentence: list[str], pops: int) -> None:
    line = [" ".join(sentence)]
    [exact] = decoder(grammar).translate_batch(line, 1, False, 1)
    [pruned] = decoder(grammar, pops).translate_batch(line, 1, False, 1)
    [wide] = decoder(grammar, 10**6).translate_batch(line, 1, False, 1)
    assert pruned.hypotheses[0].score <= exact.hypotheses[0].score + 1e-6
    assert wide.hypotheses[0].score == exact.hypotheses[0].score


@settings(max_examples=30)
@given(grammars, st.lists(sentences, max_size=12))
def test_threads_do_not_matter(grammar: list[Rule], corpus: list[list[str]]) -> None:
    lines = [" ".join(sentence) for sentence in corpus]
    one, three = (
        [
            [(h.text, h.score, h.features) for h in t.hypotheses]
            for t in decoder(grammar, 5).translate_batch(lines, 5, False, n)
        ]
        for n in (1, 3)
    )
    assert one == three
