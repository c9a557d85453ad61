"""Limits on the labels and matches of a span, against their definition and against a search without them."""

import random
from itertools import pairwise, product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from treeglot._core import RuleTable, RuleTableBuilder
from treeglot.decode import SearchOptions, Translator

NT = 0x80000000
WORDS = ["a", "b", "c"]
LABELS = ["X", "Y", "Z"]
WEIGHTS = {"p": 1.0, "word_penalty": -0.3, "glue": -0.7, "unknown": -1.1}
UNKNOWN = -1.4  # and its word

Rule = tuple[str, tuple[str, ...], float]  # its target side is a word that names it, and the variables


@st.composite
def grammars(draw: st.DrawFn, unary: bool) -> list[Rule]:
    rules: dict[tuple[str, tuple[str, ...]], None] = {}
    for _ in range(draw(st.integers(1, 10))):
        source = draw(st.lists(st.sampled_from(WORDS + LABELS), min_size=1, max_size=3))
        if source[0] in LABELS and len(source) == 1 and not unary:
            source.append("a")
        rules[draw(st.sampled_from(LABELS)), tuple(source)] = None
    seed = random.Random(draw(st.integers(0, 99)))
    return [(lhs, source, seed.uniform(-4, 0.5)) for lhs, source in rules]


def compiled(grammar: list[Rule]) -> RuleTable:
    builder = RuleTableBuilder(["p"])
    for label in LABELS:
        builder.label(label)
    for lhs, source, score in grammar:
        symbols = [NT | builder.label(s) if s in LABELS else builder.source_word(s) for s in source]
        variables = sum(s in LABELS for s in source)
        target = [builder.target_word(f"{lhs}{source}"), *range(-1, -1 - variables, -1)]
        builder.add(builder.label(lhs), symbols, target, [score], [])
    return builder.finish()


def best_within(grammar: list[Rule], sentence: list[str], limit: int) -> float:
    """The best derivation that uses, of the labels of every span, only the `limit` best."""
    length = len(sentence)
    chart: dict[tuple[str, int, int], float] = {}

    def covers(symbols: tuple[str, ...], begin: int, end: int) -> list[float]:
        if not symbols:
            return [0.0] if begin == end else []
        found = []
        for middle in range(begin + 1, end + 1):
            if symbols[0] in LABELS:
                first = chart.get((symbols[0], begin, middle))
            else:
                first = 0.0 if middle == begin + 1 and sentence[begin] == symbols[0] else None
            if first is not None:
                found += [first + rest for rest in covers(symbols[1:], middle, end)]
        return found

    for width in range(1, length + 1):
        for begin in range(length - width + 1):
            end = begin + width
            best: dict[str, float] = {}
            for lhs, source, score in grammar:
                for below in covers(source, begin, end):
                    best[lhs] = max(best.get(lhs, -1e9), below + score + WEIGHTS["word_penalty"])
            if width == 1 and not best:
                best["X"] = UNKNOWN
            ranked = sorted(best.items(), key=lambda item: -item[1])
            assume(all(a[1] - b[1] > 1e-3 for a, b in pairwise(ranked)))
            chart |= {(label, begin, end): score for label, score in ranked[:limit]}

    left = [0.0] + [-1e9] * length
    for end in range(1, length + 1):
        for begin in range(end):
            for label in LABELS:
                glue = WEIGHTS["glue"] if begin else 0.0
                left[end] = max(left[end], left[begin] + glue + chart.get((label, begin, end), -1e9))
    return left[length]


def all_within(grammar: list[Rule], sentence: list[str], limit: int) -> list[float]:
    """All derivations that use, of the matches of every span, only the `limit` best: best first.

    A match is a rule and the labels on the spans below it, as good as the best derivation that it has.
    """
    length = len(sentence)
    chart: dict[tuple[str, int, int], list[float]] = {}

    def covers(symbols: tuple[str, ...], begin: int, end: int) -> list[list[list[float]]]:
        """For every way to put the symbols on the span, the derivations of each variable."""
        if not symbols:
            return [[]] if begin == end else []
        if symbols[0] not in LABELS:
            return covers(symbols[1:], begin + 1, end) if begin < end and sentence[begin] == symbols[0] else []
        return [
            [chart[symbols[0], begin, middle], *rest]
            for middle in range(begin + 1, end + 1)
            if (symbols[0], begin, middle) in chart
            for rest in covers(symbols[1:], middle, end)
        ]

    for width in range(1, length + 1):
        for begin in range(length - width + 1):
            end = begin + width
            matches = [
                (lhs, [score + WEIGHTS["word_penalty"] + sum(one) for one in product(*below)])
                for lhs, source, score in grammar
                for below in covers(source, begin, end)
            ]
            if width == 1 and not matches:
                matches = [("X", [UNKNOWN])]
            matches.sort(key=lambda match: -max(match[1]))
            assume(len(matches) <= limit or max(matches[limit - 1][1]) - max(matches[limit][1]) > 1e-3)
            for lhs, scores in matches[:limit]:
                chart.setdefault((lhs, begin, end), []).extend(scores)
            assume(sum(len(scores) for scores in chart.values()) < 2000)

    left: list[list[float]] = [[0.0]]
    for end in range(1, length + 1):
        left.append(
            [
                before + (WEIGHTS["glue"] if begin else 0.0) + score
                for begin in range(end)
                for label in LABELS
                for score in chart.get((label, begin, end), [])
                for before in left[begin]
            ]
        )
        assume(len(left[end]) < 2000)
    return sorted(left[length], reverse=True)


def translator(grammar: list[Rule], **limits: int) -> Translator:
    return Translator(compiled(grammar), WEIGHTS, options=SearchOptions(per_source=0, **limits))


sentences = st.lists(st.sampled_from([*WORDS, "d"]), min_size=1, max_size=5)


@settings(max_examples=150)
@given(grammars(unary=False), sentences, st.integers(1, 3))
def test_the_best_labels_of_a_span_are_kept(grammar: list[Rule], sentence: list[str], limit: int) -> None:
    wanted = best_within(grammar, sentence, limit)
    found = translator(grammar, pop_limit=0, label_limit=limit).translate(" ".join(sentence))
    assert found.score == pytest.approx(wanted, abs=1e-4)


@settings(max_examples=150)
@given(grammars(unary=False), sentences, st.integers(1, 4))
def test_the_best_matches_of_a_span_are_kept(grammar: list[Rule], sentence: list[str], limit: int) -> None:
    wanted = all_within(grammar, sentence, limit)
    found = translator(grammar, pop_limit=0, match_limit=limit).translate(" ".join(sentence)).kbest(2000)
    assert [h.score for h in found] == pytest.approx(wanted, abs=1e-4)


@settings(max_examples=150)
@given(grammars(unary=True), sentences)
def test_limits_that_nothing_reaches_change_nothing(grammar: list[Rule], sentence: list[str]) -> None:
    line = " ".join(sentence)
    plain = translator(grammar, pop_limit=0).translate(line).kbest(2000)
    wide = translator(grammar, pop_limit=0, label_limit=9999, match_limit=9999).translate(line).kbest(2000)
    assume(len(plain) < 2000)
    assert sorted((h.text, round(h.score, 4)) for h in wide) == sorted((h.text, round(h.score, 4)) for h in plain)


@settings(max_examples=100)
@given(grammars(unary=True), sentences, st.integers(1, 3), st.integers(1, 4), st.integers(1, 9))
def test_within_any_limits_there_is_a_derivation(
    grammar: list[Rule], sentence: list[str], labels: int, matches: int, pops: int
) -> None:
    line = " ".join(sentence)
    limited = translator(grammar, pop_limit=pops, label_limit=labels, match_limit=matches).translate(line)
    assert not limited.problem
    assert limited.score <= translator(grammar, pop_limit=0).translate(line).score + 1e-5
