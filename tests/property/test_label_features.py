"""Soft syntax in the search, against an enumeration of all derivations with their labels."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_lm import LM, log_probability, unknown_words

from treeglot._core import ChartMatcher, Decoder, FeatureSet, RuleTable, RuleTableBuilder
from treeglot.decode import SearchOptions, Translator
from treeglot.decode.matchers import match_labels

SOURCE = ["a", "b", "c"]
TARGET = ["u", "v"]
LABELS = ["A", "B", "A/B", ","]
LIMIT = 3
PLAIN = {"p": 1.0, "word_penalty": -0.3, "rule_penalty": 0.2, "glue": -0.7, "unknown": -1.1}
PLAIN |= {"lm": 0.8, "lm_unknown": -0.4}
SYNTAX = {"match_f": 0.5, "nomatch_f": -0.25, "match_e": 0.4, "nomatch_e": -0.6}
SYNTAX |= {"subst_f[A→B]": 1.5, "subst_f[A→X]": -0.5, "subst_f[,→A/B]": 0.7, "subst_e[A/B→A/B]": -1.2}
SYNTAX |= {"root[A,B]": 0.9, "root[,,,]": -0.8, "root[A/B,,]": 0.3, "root[X,X]": 0.6}


class Rule(NamedTuple):
    source: tuple[str, ...]  # words, or "X"
    target: tuple[str, ...]  # words, or "1", "2"
    score: float
    labels: tuple[tuple[str, str], ...]  # of the rule, then of each variable


class Made(NamedTuple):
    features: Counter[str]
    words: tuple[str, ...]
    root: tuple[str, str] = ("X", "X")


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    source = draw(st.lists(st.sampled_from([*SOURCE, "X"]), min_size=1, max_size=3))
    if source == ["X"]:
        source.append("a")
    variables = [str(k + 1) for k in range(source.count("X"))]
    target = draw(st.permutations(variables + draw(st.lists(st.sampled_from(TARGET), max_size=2))))
    label = st.sampled_from([*LABELS, "X"])
    labels = draw(st.lists(st.tuples(label, label), min_size=len(variables) + 1, max_size=len(variables) + 1))
    return Rule(tuple(source), tuple(target), draw(st.integers(-40, 0)) / 8, tuple(labels))


def column(values: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    coded = [value.encode() for value in values]
    offsets = np.cumsum([0, *map(len, coded)]).astype(np.int32)
    return offsets, np.frombuffer(b"".join(coded), dtype=np.int8)


def compiled(grammar: list[Rule]) -> RuleTable:
    def text(symbols: tuple[str, ...], source: bool) -> str:
        count = 0
        out = []
        for symbol in symbols:
            count += symbol == "X" and source
            out.append(f"[X,{count if source else symbol}]" if symbol == "X" or symbol.isdigit() else symbol)
        return " ".join(out)

    builder = RuleTableBuilder(["p"])
    columns = [
        column(["X"] * len(grammar)),
        column([text(rule.source, True) for rule in grammar]),
        column([text(rule.target, False) for rule in grammar]),
        column([]),
        column([" ".join(label for pair in rule.labels for label in pair) for rule in grammar]),
        column([]),
    ]
    columns[3] = columns[5] = (np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int8))
    builder.add_rows("rules", 1, columns, [np.array([rule.score for rule in grammar], dtype=np.float32)], [])
    return builder.finish()


def applied(rule: Rule, tails: tuple[Made, ...]) -> Made:
    words: list[str] = []
    for t in rule.target:
        words.extend(tails[int(t) - 1].words if t.isdigit() else [t])
    features: Counter[str] = Counter()
    for tail in tails:
        features.update(tail.features)
    features["p"] += rule.score
    features["word_penalty"] += sum(not t.isdigit() for t in rule.target)
    features["rule_penalty"] += 1
    for site, tail in zip(rule.labels[1:], tails, strict=True):
        for side, x, y in zip("fe", site, tail.root, strict=True):
            features[f"match_{side}" if x == y else f"nomatch_{side}"] += 1
            features[f"subst_{side}[{x}→{y}]"] += 1
    features[f"root[{rule.labels[0][0]},{rule.labels[0][1]}]"] += 1
    return Made(features, tuple(words), rule.labels[0])


def enumerate_all(grammar: list[Rule], sentence: list[str]) -> list[Made]:
    chart: dict[tuple[int, int], list[Made]] = {}

    def matches(symbols: tuple[str, ...], begin: int, end: int) -> Iterator[list[list[Made]]]:
        if not symbols:
            if begin == end:
                yield []
        elif symbols[0] != "X":
            if begin < end and sentence[begin] == symbols[0]:
                yield from matches(symbols[1:], begin + 1, end)
        else:
            for middle in range(begin + 1, end + 1):
                below = chart.get((begin, middle), [])
                for rest in matches(symbols[1:], middle, end) if below else ():
                    yield [below, *rest]

    length = len(sentence)
    for width in range(1, min(LIMIT, length) + 1):
        for begin in range(length - width + 1):
            end = begin + width
            made = [
                applied(rule, tails)
                for rule in grammar
                for below in matches(rule.source, begin, end)
                for tails in product(*below)
            ]
            if width == 1 and not made:
                made = [Made(Counter(word_penalty=1, unknown=1), (sentence[begin],))]
            chart[begin, end] = made
    left: list[list[Made]] = [[] for _ in range(length + 1)]
    for end in range(1, length + 1):
        left[end] += chart.get((0, end), [])
        for middle in range(1, end):
            for before, after in product(left[middle], chart.get((middle, end), [])):
                features = Counter(before.features)
                features.update(after.features)
                features["glue"] += 1
                left[end].append(Made(features, before.words + after.words))
    for made in left[length]:
        made.features["lm"] += log_probability(made.words)
        made.features["lm_unknown"] += unknown_words(made.words)
    return left[length]


def score(made: Made, weights: dict[str, float]) -> float:
    return sum(weights.get(name, 0.0) * value for name, value in made.features.items())


def decoder(grammar: list[Rule], weights: dict[str, float], labels: bool = True, pops: int = 0) -> Decoder:
    features = FeatureSet(compiled(grammar))
    features.add_ngram(LM)
    if labels:
        features.add_labels()
    search = SearchOptions(pop_limit=pops, span_limit=LIMIT, per_source=0)
    return Decoder(features, ChartMatcher(features, search), list(weights.items()), search)


grammars = st.lists(rules(), min_size=1, max_size=7)
sentences = st.lists(st.sampled_from([*SOURCE, "d"]), min_size=1, max_size=4)


@settings(max_examples=200)
@given(grammars, sentences)
def test_exact_search_finds_every_derivation_with_its_features(grammar: list[Rule], sentence: list[str]) -> None:
    expected = enumerate_all(grammar, sentence)
    if len(expected) > 1500:
        return
    weights = PLAIN | SYNTAX
    exact = decoder(grammar, weights)
    assert exact.unknown_weights == []
    [found] = exact.translate_batch([" ".join(sentence)], len(expected) + 1, False, 1)
    scores = [h.score for h in found.hypotheses]
    assert scores == pytest.approx(sorted((score(made, weights) for made in expected), reverse=True), abs=1e-4)

    def key(words: str, features: dict[str, float]) -> tuple[object, ...]:
        return words, *sorted((n, round(v, 3)) for n, v in features.items() if round(v, 3) and n != "lm")

    listed = Counter(key(h.text, h.features) for h in found.hypotheses)
    assert listed == Counter(key(" ".join(made.words), made.features) for made in expected)


@settings(max_examples=100)
@given(grammars, sentences)
def test_without_syntax_weights_scores_are_those_without_labels(grammar: list[Rule], sentence: list[str]) -> None:
    line = [" ".join(sentence)]
    [soft] = decoder(grammar, PLAIN).translate_batch(line, 1, False, 1)
    [plain] = decoder(grammar, PLAIN, labels=False).translate_batch(line, 1, False, 1)
    assert soft.hypotheses[0].score == pytest.approx(plain.hypotheses[0].score, abs=1e-9)


@settings(max_examples=30)
@given(grammars, st.lists(sentences, max_size=12))
def test_threads_do_not_matter(grammar: list[Rule], corpus: list[list[str]]) -> None:
    lines = [" ".join(sentence) for sentence in corpus]
    results = []
    for threads in (1, 3):
        made = decoder(grammar, PLAIN | SYNTAX, pops=5)
        found = made.translate_batch(lines, 5, False, threads)
        results.append([[(h.text, h.score, h.features) for h in t.hypotheses] for t in found])
    assert results[0] == results[1]


def test_weights_of_features_that_never_fire():
    grammar = [Rule(("a",), ("u",), -1.0, (("A", "B"),))]
    weights = {"root[A,B]": 2.0, "subst_f[NP→VP]": 1.0, "subst_g[NP→VP]": 1.0, "match": 1.0}
    translator = Translator(compiled(grammar), weights, setup=match_labels())
    assert translator.unknown_weights == ["subst_g[NP→VP]", "match"]
    found = translator.translate("a")
    assert found.score == 2.0
    assert found.features == {"p": -1.0, "word_penalty": 1.0, "rule_penalty": 1.0, "root[A,B]": 1.0}


def test_the_derivation_of_figure_1():
    grammar = [
        Rule(("在", "X", "中"), ("in", "1"), 0.0, (("PP", "PP"), ("NP", "NP"))),
        Rule(("两", "岸", "贸易"), ("trade", "between", "the", "two", "shores"), 0.0, (("NP", "NP"),)),
    ]
    weights = {"rule_penalty": 1.0}
    made = Translator(compiled(grammar), weights, setup=match_labels()).translate("在 两 岸 贸易 中")
    assert made.text == "in trade between the two shores"
    syntax = {name: value for name, value in made.features.items() if name.startswith(("match", "no", "subst", "root"))}
    assert syntax == {
        "match_f": 1.0, "subst_f[NP→NP]": 1.0, "match_e": 1.0, "subst_e[NP→NP]": 1.0, "root[NP,NP]": 1.0,
        "root[PP,PP]": 1.0,  # of the rule at the top, which the paper leaves out
    }  # fmt: skip
