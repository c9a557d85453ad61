"""Unknown words that fit variables of any label, against an enumeration of all derivations."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_chart import ANY, SOURCE, TARGET, Rule, decoder, enumerate_all, grammars, sentences
from slow_lattice import enumerate_paths, lattice_decoder
from syntax_strategies import lattices

from treeglot.syntax.lattice import Lattice

# Unary rules that cannot close a cycle.
unary = st.builds(
    lambda word, score: Rule("Y", ("X",), ("1", *word), score),
    st.lists(st.sampled_from(TARGET), max_size=1),
    st.integers(-40, 0).map(lambda eighths: eighths / 8),
)
labelled = st.tuples(grammars, st.lists(unary, max_size=2)).map(lambda both: both[0] + both[1])


@settings(max_examples=300)
@given(labelled, sentences)
def test_every_derivation_is_found(grammar: list[Rule], sentence: list[str]) -> None:
    expected = enumerate_all(grammar, sentence, ANY)
    if len(expected) > 3000:
        return
    for limits in ({}, {"label_limit": 100, "match_limit": 10**6}):
        exact = decoder(grammar, unknown_labels=True, **limits)
        [found] = exact.translate_batch([" ".join(sentence)], len(expected) + 1, False, 1)
        scores = [hypothesis.score for hypothesis in found.hypotheses]
        assert scores == pytest.approx(sorted((made.score for made in expected), reverse=True), abs=1e-5)
        texts = {" ".join(made.words) for made in expected}
        assert {hypothesis.text for hypothesis in found.hypotheses} == texts


@settings(max_examples=200)
@given(grammars, lattices(st.sampled_from(SOURCE)))
def test_every_derivation_of_every_path_is_found(grammar: list[Rule], lattice: Lattice) -> None:
    expected = enumerate_paths(grammar, lattice, ANY)
    if len(expected) > 3000:
        return
    exact = lattice_decoder(grammar, unknown_labels=True)
    [found] = exact.translate_batch([lattice], len(expected) + 1, False, 1)
    scores = [hypothesis.score for hypothesis in found.hypotheses]
    assert scores == pytest.approx(sorted((made.score for made, _ in expected), reverse=True), abs=1e-5)


def test_a_rule_covers_an_unknown_word_that_would_be_glued() -> None:
    grammar = [Rule("Y", ("Y", "a"), ("u", "1"), 0.0)]
    [glued] = decoder(grammar).translate_batch(["d a"], 1, False, 1)
    [fits] = decoder(grammar, unknown_labels=True).translate_batch(["d a"], 1, False, 1)
    assert (glued.hypotheses[0].text, fits.hypotheses[0].text) == ("d a", "u d")
    assert fits.hypotheses[0].features["unknown"] == 1
    assert "glue" not in fits.hypotheses[0].features
    assert [step.label for step in fits.hypotheses[0].derivation.steps if step.local] == ["S", "S", "X"]
