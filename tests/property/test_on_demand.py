"""Rules on demand against a rule table of the same sentence pairs."""

import tempfile
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from extraction import pairs_of
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_on_demand import rules_of, slow_rules

from treeglot.rules.hiero import HieroOptions
from treeglot.rules.on_demand import COLUMNS, EXACT, FACTS, add_pairs, build_index
from treeglot.rules.sql import ScoreOptions
from treeglot.rules.table import CompileOptions
from treeglot.syntax import Alignment

SOURCE, TARGET = ["a", "b", "c", "[X,1]"], ["x", "y", "[X,2]"]
COMPILING = CompileOptions(features=COLUMNS)


@st.composite
def aligned_pairs(draw: st.DrawFn):
    """A pair with few different words, so that rules repeat, and any links at all."""
    source = draw(st.lists(st.sampled_from(SOURCE), min_size=1, max_size=7))
    target = draw(st.lists(st.sampled_from(TARGET), min_size=1, max_size=6))
    cells = list(product(range(len(source)), range(len(target))))
    links = draw(st.lists(st.sampled_from(cells), max_size=8, unique=True))
    return source, target, Alignment(sorted(links))


limits = st.builds(
    HieroOptions,
    max_phrase=st.sampled_from([2, 5, 10]),
    max_target_phrase=st.sampled_from([3, -1, -1]),
    max_symbols=st.sampled_from([1, 3, 5, 6, -1]),
    max_nonterminals=st.integers(0, 3),
    min_hole=st.sampled_from([1, 1, 2]),
    loose_source=st.sampled_from([0, 0, 1, -1]),
    loose_target=st.sampled_from([0, 0, 1, -1]),
    phrase_loose_source=st.sampled_from([0, 1, -1]),
    phrase_loose_target=st.sampled_from([0, 1, -1]),
    core=st.sampled_from([-1, -1, 1]),
)
scores = st.builds(
    ScoreOptions,
    smoothing=st.sampled_from(["none", "good-turing", "kneser-ney"]),
    min_occurrences=st.sampled_from([1, 1, 2]),
    min_gappy_occurrences=st.sampled_from([1, 1, 2]),
    targets_per_source=st.sampled_from([0, 1, 2, 20]),
)
corpora = st.lists(aligned_pairs(), min_size=1, max_size=6)
sentences = st.lists(st.sampled_from([*SOURCE, "unseen"]), min_size=1, max_size=8)


@settings(max_examples=40)
@given(corpora, sentences, st.sampled_from([3, 10, 2**32 - 1]), limits, scores, st.data())
def test_rules_and_scores_are_those_of_a_table(corpus, sentence, span_limit, extraction, score, data):
    weighted = data.draw(st.booleans())
    weights = [data.draw(st.sampled_from([(1.0,), (0.5,), (0.3,)])) * len(links) for *_, links in corpus]
    pairs = pairs_of(corpus, **({"weights": weights} if weighted else {}))
    with tempfile.TemporaryDirectory() as name:
        expected = slow_rules(pairs, sentence, span_limit, extraction, score, Path(name))
        found = build_index(pairs, Path(name, "index"), extraction, score, COMPILING, EXACT)
        assert rules_of(found.rules_for(sentence, span_limit)) == expected


@settings(max_examples=15)
@given(st.lists(corpora, min_size=2, max_size=5), sentences, limits)
def test_pairs_that_were_added_count_as_if_they_had_been_there(parts, sentence, extraction):
    score = ScoreOptions()
    with tempfile.TemporaryDirectory() as name:
        index = Path(name, "index")
        found = build_index(pairs_of(parts[0]), index, extraction, score, COMPILING, EXACT)
        for part in parts[1:]:
            found = add_pairs(pairs_of(part), index / FACTS)
        pairs = pairs_of([pair for part in parts for pair in part])
        assert found.pairs == len(pairs)
        expected = slow_rules(pairs, sentence, 10, extraction, score, Path(name))
        assert rules_of(found.rules_for(sentence, 10)) == expected


@settings(max_examples=15)
@given(st.permutations("abcdef"), st.permutations("uvwxyz"), st.data())
def test_samples_of_equal_pairs_say_what_all_say(source, target, data):
    links = data.draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=8, unique=True))
    pairs = pairs_of([(source, target, Alignment(sorted(links)))] * 40)
    sampled = replace(EXACT, samples=5, scanned=10, target_samples=10)
    with tempfile.TemporaryDirectory() as name:
        given_pairs = {"score": ScoreOptions(), "compiling": COMPILING}
        all_places = build_index(pairs, Path(name, "all"), demand=EXACT, **given_pairs)
        some_places = build_index(pairs, Path(name, "some"), demand=sampled, **given_pairs)
        expected = rules_of(all_places.rules_for(source, 10))
        found = rules_of(some_places.rules_for(source, 10))
    assert set(found) == set(expected)
    for side, rules in found.items():
        for (target_side, rule_links, features), (*exact, values) in zip(rules, expected[side], strict=True):
            assert [target_side, rule_links] == exact
            assert features == pytest.approx(values, rel=1e-5)
