"""Search with dependency models against an enumeration of all derivations and their trees."""

import math
from itertools import product
from typing import NamedTuple

import pytest
from dependency_pieces import TAGS_MODEL, WORDS_MODEL, Piece, join, projective, tree_of
from hypothesis import given, settings
from hypothesis import strategies as st

from treeglot._core import ChartMatcher, Decoder, FeatureSet, RuleTable, RuleTableBuilder
from treeglot.decode import SearchOptions
from treeglot.syntax import Dependency

NT = 0x80000000
SOURCE = ["a", "b", "c"]
TARGET = ["u", "v", "w"]
TAGS = ["N", "V"]
WEIGHTS = {"p": 1.0, "word_penalty": -0.3, "rule_penalty": 0.2, "glue": -0.7, "unknown": -1.1}
WEIGHTS |= {"dlm_words": 0.9, "dlm_tags": 0.6, "ill_formed": -0.5}


class Rule(NamedTuple):
    source: tuple[str, ...]  # words, or "X"
    target: tuple[str, ...]  # words with tags, "u/N", or "1", "2": the variables
    heads: tuple[int, ...]  # of the target's symbols
    ill: bool  # marked as ill-formed
    score: float


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    source = draw(st.lists(st.sampled_from([*SOURCE, "X"]), min_size=1, max_size=3))
    if source == ["X"]:
        source.append(draw(st.sampled_from(SOURCE)))
    variables = [str(k + 1) for k in range(source.count("X"))]
    tokens = st.builds(lambda word, tag: f"{word}/{tag}", st.sampled_from(TARGET), st.sampled_from(TAGS))
    target = draw(st.permutations(variables + draw(st.lists(tokens, max_size=3))))
    heads = draw(projective(len(target)))
    return Rule(tuple(source), tuple(target), heads, draw(st.booleans()), draw(st.integers(-40, 0)) / 8)


def compiled(grammar: list[Rule]) -> RuleTable:
    builder = RuleTableBuilder(["p"])
    x = builder.label("X")
    for rule in grammar:
        target = [t.partition("/") for t in rule.target]
        builder.add(
            x,
            [NT | x if s == "X" else builder.source_word(s) for s in rule.source],
            [builder.target_word(word) if slash else -int(word) for word, slash, _ in target],
            [rule.score],
            [],
            [builder.label(tag) for _, slash, tag in target if slash],
            [head + 1 for head in rule.heads] + [1] * rule.ill,
        )
    return builder.finish()


class Made(NamedTuple):
    score: float
    piece: Piece


def enumerate_all(grammar: list[Rule], sentence: list[str]) -> list[Made]:
    length = len(sentence)
    chart: dict[tuple[int, int], list[Made]] = {}

    def matches(symbols: tuple[str, ...], begin: int, end: int) -> list[list[list[Made]]]:
        if not symbols:
            return [[]] if begin == end else []
        if symbols[0] != "X":
            fits = begin < end and sentence[begin] == symbols[0]
            return matches(symbols[1:], begin + 1, end) if fits else []
        return [
            [chart[begin, middle], *rest]
            for middle in range(begin + 1, end + 1)
            if (begin, middle) in chart
            for rest in matches(symbols[1:], middle, end)
        ]

    for width in range(1, length + 1):
        for begin in range(length - width + 1):
            made = []
            for rule in grammar:
                for below in matches(rule.source, begin, begin + width):
                    for tails in product(*below):
                        items = [
                            tails[int(t) - 1].piece if t.isdigit() else Piece((t[0],), (t[2],), (-1,))
                            for t in rule.target
                        ]
                        words = sum("/" in t for t in rule.target)
                        score = rule.score + WEIGHTS["word_penalty"] * words + WEIGHTS["rule_penalty"]
                        score += sum(tail.score for tail in tails)
                        made.append(Made(score, join(rule.heads, items, rule.ill)))
            if not made and width == 1:
                made = [Made(WEIGHTS["word_penalty"] + WEIGHTS["unknown"], Piece((sentence[begin],), ("",), (-1,)))]
            if made:
                chart[begin, begin + width] = made
    left: list[list[Made]] = [[] for _ in range(length + 1)]
    for end in range(1, length + 1):
        left[end] += chart.get((0, end), [])
        for middle in range(1, end):
            for before, after in product(left[middle], chart.get((middle, end), [])):
                piece = join((-1, -1), (before.piece, after.piece))
                left[end].append(Made(before.score + after.score + WEIGHTS["glue"], piece))
    return [Made(made.score + dependency_score(made.piece), made.piece) for made in left[length]]


def dependency_score(piece: Piece) -> float:
    """The dependency models' part, from the whole tree."""
    ill = piece.ill + (len(piece.roots) > 1)
    tree = Dependency(list(piece.words), list(piece.heads), list(piece.tags))
    logs = WEIGHTS["dlm_words"] * WORDS_MODEL.score(tree) + WEIGHTS["dlm_tags"] * TAGS_MODEL.score(tree)
    return (math.log(10) * logs if piece.words else 0.0) + WEIGHTS["ill_formed"] * ill


def decoder(grammar: list[Rule], pop_limit: int = 0) -> Decoder:
    features = FeatureSet(compiled(grammar))
    features.add_dependency(WORDS_MODEL.core)
    features.add_dependency(TAGS_MODEL.core)
    search = SearchOptions(pop_limit=pop_limit, per_source=0)
    return Decoder(features, ChartMatcher(features, search), list(WEIGHTS.items()), search)


grammars = st.lists(rules(), min_size=1, max_size=6)
sentences = st.lists(st.sampled_from([*SOURCE, "d"]), min_size=1, max_size=4)


@settings(max_examples=200)
@given(grammars, sentences)
def test_exact_search_finds_every_derivation_and_its_tree(grammar: list[Rule], sentence: list[str]) -> None:
    expected = enumerate_all(grammar, sentence)
    if len(expected) > 2000:
        return
    exact = decoder(grammar)
    [found] = exact.translate_batch([" ".join(sentence)], len(expected) + 1, False, 1)
    scores = [hypothesis.score for hypothesis in found.hypotheses]
    assert scores == sorted(scores, reverse=True)
    assert scores == pytest.approx(sorted((made.score for made in expected), reverse=True), abs=1e-4)
    trees = {(made.piece.words, made.piece.tags, made.piece.heads, round(made.score, 3)) for made in expected}
    near = {round(made.score, 3) for made in expected}
    for hypothesis in found.hypotheses:
        tree = tree_of(hypothesis)
        assert any((*tree, round(score, 3)) in trees for score in near if abs(score - hypothesis.score) < 2e-3)


@settings(max_examples=100)
@given(grammars, sentences)
def test_the_features_are_those_of_the_tree_from_scratch(grammar: list[Rule], sentence: list[str]) -> None:
    pruned = decoder(grammar, 5)
    [found] = pruned.translate_batch([" ".join(sentence)], 3, False, 1)
    for hypothesis in found.hypotheses:
        values = hypothesis.features
        if not hypothesis.text:
            continue
        tree = hypothesis.dependency
        assert tree is not None and tree.words == hypothesis.text.split()
        for name, model in (("dlm_words", WORDS_MODEL), ("dlm_tags", TAGS_MODEL)):
            assert values[name] == pytest.approx(model.score(tree) * math.log(10), abs=1e-4)
        assert sum(WEIGHTS[name] * value for name, value in values.items()) == pytest.approx(hypothesis.score, abs=1e-4)


@settings(max_examples=60)
@given(grammars, sentences, st.integers(1, 6))
def test_pruned_search_is_never_above_the_exact_one(grammar: list[Rule], sentence: list[str], pops: int) -> None:
    line = [" ".join(sentence)]
    [exact] = decoder(grammar).translate_batch(line, 1, False, 1)
    [pruned] = decoder(grammar, pops).translate_batch(line, 1, False, 1)
    [wide] = decoder(grammar, 10**6).translate_batch(line, 1, False, 1)
    assert pruned.hypotheses[0].score <= exact.hypotheses[0].score + 1e-6
    assert wide.hypotheses[0].score == exact.hypotheses[0].score
