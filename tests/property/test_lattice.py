"""Lattices against the union of their paths, each decoded as a sentence."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_chart import SOURCE, Rule, grammars, sentences
from slow_lattice import ALL, WEIGHT, enumerate_paths, lattice_decoder, paths
from syntax_strategies import lattices as any_lattices

from treeglot.syntax.lattice import Lattice

lattices = any_lattices(st.sampled_from(SOURCE))


@settings(max_examples=300)
@given(grammars, lattices)
def test_exact_search_finds_every_derivation_of_every_path(grammar: list[Rule], lattice: Lattice) -> None:
    expected = enumerate_paths(grammar, lattice)
    if len(expected) > 3000:
        return
    [found] = lattice_decoder(grammar).translate_batch([lattice], len(expected) + 1, False, 1)
    assert len(found.hypotheses) == len(expected)
    scores = [hypothesis.score for hypothesis in found.hypotheses]
    assert scores == sorted(scores, reverse=True)
    assert scores == pytest.approx(sorted((made.score for made, _ in expected), reverse=True), abs=1e-5)
    made_of: dict[tuple[tuple[int, ...], str], list[float]] = {}
    for made, path in expected:
        made_of.setdefault((path, " ".join(made.words)), []).append(made.score)
    for hypothesis in found.hypotheses:
        same = made_of[hypothesis.path, hypothesis.text]
        nearest = min(same, key=lambda score: abs(score - hypothesis.score))
        assert nearest == pytest.approx(hypothesis.score, abs=1e-4)
        same.remove(nearest)
        total = sum(ALL[name] * value for name, value in hypothesis.features.items())
        assert total == pytest.approx(hypothesis.score, abs=1e-4)
    assert found.words == lattice.words_on(found.hypotheses[0].path)


@settings(max_examples=100)
@given(grammars, lattices, st.booleans(), st.integers(1, 4), st.integers(1, 4))
def test_the_best_is_that_of_the_best_path(
    grammar: list[Rule], lattice: Lattice, lm: bool, span_limit: int, per_source: int
) -> None:
    decoder = lattice_decoder(grammar, lm, span_limit=span_limit, per_source=per_source)
    alone = [
        (decoder.translate(words).hypotheses[0].score + WEIGHT * score, words) for _, words, score in paths(lattice)
    ]
    best = decoder.translate(lattice).hypotheses[0]
    assert best.score == pytest.approx(max(score for score, _ in alone), abs=1e-5)


@settings(max_examples=100)
@given(grammars, lattices)
def test_a_derivation_is_one_of_its_path(grammar: list[Rule], lattice: Lattice) -> None:
    """Steps, spans and links are those of the sentence that the path is."""
    decoder = lattice_decoder(grammar)
    [found] = decoder.translate_batch([lattice], 20, False, 1)
    for hypothesis in found.hypotheses:
        words = lattice.words_on(hypothesis.path)
        [alone] = decoder.translate_batch([words], 3000, False, 1)
        assert hypothesis.derivation in [other.derivation for other in alone.hypotheses]
        assert all(link < len(words) for step in hypothesis.derivation.steps for link, _ in step.links)


@settings(max_examples=100)
@given(grammars, sentences, st.integers(0, 3), st.integers(0, 3), st.integers(0, 6))
def test_a_lattice_of_one_path_is_the_sentence(
    grammar: list[Rule], sentence: list[str], labels: int, matches: int, pops: int
) -> None:
    decoder = lattice_decoder(grammar, pop_limit=pops, label_limit=labels, match_limit=matches)
    line, lattice = decoder.translate_batch([sentence, Lattice.from_words(sentence)], 50, False, 1)
    assert line.words == lattice.words
    assert line.notes == lattice.notes
    as_values = [
        [(h.text, h.score, h.features, h.derivation, h.given_by) for h in found.hypotheses] for found in (line, lattice)
    ]
    assert as_values[0] == as_values[1]
    graphs = [decoder.graph(found, 1e9) for found in (line, lattice)]
    assert graphs[0] is not None
    assert graphs[1] is not None
    assert graphs[0].scores == graphs[1].scores
    assert graphs[0].spans == graphs[1].spans


@settings(max_examples=50)
@given(grammars, lattices, st.integers(1, 3), st.integers(1, 6))
def test_limits_keep_a_derivation(grammar: list[Rule], lattice: Lattice, limit: int, pops: int) -> None:
    exact = lattice_decoder(grammar).translate(lattice).hypotheses[0].score
    limited = lattice_decoder(grammar, pop_limit=pops, label_limit=limit, match_limit=limit).translate(lattice)
    assert limited.hypotheses[0].score <= exact + 1e-5


@settings(max_examples=30)
@given(grammars, st.lists(lattices, max_size=8))
def test_threads_do_not_matter(grammar: list[Rule], corpus: list[Lattice]) -> None:
    one, three = (
        [
            [(h.text, h.score, h.features, h.path) for h in t.hypotheses]
            for t in lattice_decoder(grammar, pop_limit=5).translate_batch(corpus, 5, False, n)
        ]
        for n in (1, 3)
    )
    assert one == three


def test_the_twin_counts_paths() -> None:
    lattice = Lattice([(0, 1, "a", -1.0), (0, 2, "b", -0.5), (1, 2, "", 0.25), (1, 2, "c", 0.0)])
    assert sorted((words, score) for _, words, score in paths(lattice)) == [
        (["a"], -0.75),
        (["a", "c"], -1.0),
        (["b"], -0.5),
    ]
    assert {made.words for made, _ in enumerate_paths([Rule("X", ("a",), ("u",), 0.0)], lattice)} == {
        ("u",),
        ("u", "c"),
        ("b",),
    }
