"""The slow twin of decoding strings: all derivations of random small grammars."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

from hypothesis import strategies as st
from small_lm import LM, log_probability, unknown_words

from treeglot._core import (
    ChartMatcher,
    Decoder,
    FeatureSet,
    RuleTable,
    RuleTableBuilder,
)
from treeglot.decode import SearchOptions

NT = 0x80000000
SOURCE = ["a", "b", "c", "d"]
TARGET = ["u", "v", "w"]
LABELS = ["X", "Y"]
ANY = "any"
UNARY = [("X",), ("Y",)]
LIMIT = 3
WEIGHTS = {"p": 1.0, "word_penalty": -0.3, "rule_penalty": 0.2, "glue": -0.7, "unknown": -1.1}
WEIGHTS |= {"lm": 0.8, "lm_unknown": -0.4}


class Rule(NamedTuple):
    lhs: str
    source: tuple[str, ...]  # words, or "X", "Y"
    target: tuple[str, ...]  # words, or "1", "2": the nonterminals in source order
    score: float


class Made(NamedTuple):
    score: float
    words: tuple[str, ...]


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    source = draw(st.lists(st.sampled_from(SOURCE[:3] + LABELS), min_size=1, max_size=3))
    if all(symbol in LABELS for symbol in source) and len(source) == 1:
        source.append(draw(st.sampled_from(SOURCE[:3])))  # unary rules have a test of their own
    variables = [str(k + 1) for k in range(sum(symbol in LABELS for symbol in source))]
    words = draw(st.lists(st.sampled_from(TARGET), max_size=2))
    target = draw(st.permutations(variables + words))
    score = draw(st.integers(-40, 0)) / 8
    return Rule(draw(st.sampled_from(LABELS)), tuple(source), tuple(target), score)


Links = Callable[[list[int], list[int]], list[tuple[int, int]]]  # of the symbols of a rule's sides


def compiled(grammar: list[Rule], links: Links = lambda source, target: []) -> RuleTable:
    builder = RuleTableBuilder(["p"])
    for label in LABELS:
        builder.label(label)
    for rule in grammar:
        source = [NT | builder.label(s) if s in LABELS else builder.source_word(s) for s in rule.source]
        target = [-int(t) if t.isdigit() else builder.target_word(t) for t in rule.target]
        builder.add(builder.label(rule.lhs), source, target, [rule.score], links(source, target))
    return builder.finish()


def step(rule: Rule) -> float:
    words = sum(not t.isdigit() for t in rule.target)
    return rule.score + WEIGHTS["word_penalty"] * words + WEIGHTS["rule_penalty"]


def enumerate_all(grammar: list[Rule], sentence: list[str], unknown: str = "X") -> list[Made]:
    """All derivations of the sentence, straight from the definition of the grammar with glue.

    Unknown words have the label `unknown`; the label ANY fits all variables but those of unary rules. Unary rules may
    lead from X to Y alone.
    """
    length = len(sentence)
    chart: dict[tuple[str, int, int], list[Made]] = {}

    def matches(symbols: tuple[str, ...], begin: int, end: int, unary: bool) -> Iterator[list[list[Made]]]:
        """The derivations of the nonterminals, for every way in which `symbols` cover [begin, end)."""
        if not symbols:
            if begin == end:
                yield []
            return
        if symbols[0] not in LABELS:
            if begin < end and sentence[begin] == symbols[0]:
                yield from matches(symbols[1:], begin + 1, end, unary)
            return
        for middle in range(begin + 1, end + 1):
            below = chart.get((symbols[0], begin, middle), [])
            if not unary:
                below = below + chart.get((ANY, begin, middle), [])
            if below:
                for rest in matches(symbols[1:], middle, end, unary):
                    yield [below, *rest]

    def apply(rule: Rule, begin: int, end: int) -> None:
        for below in matches(rule.source, begin, end, rule.source in UNARY):
            for tails in product(*below):
                words: list[str] = []
                for t in rule.target:
                    words.extend(tails[int(t) - 1].words if t.isdigit() else [t])
                score = step(rule) + sum(tail.score for tail in tails)
                chart.setdefault((rule.lhs, begin, end), []).append(Made(score, tuple(words)))

    for width in range(1, min(LIMIT, length) + 1):
        for begin in range(length - width + 1):
            end = begin + width
            for rule in grammar:
                if rule.source not in UNARY:
                    apply(rule, begin, end)
            if width == 1 and not any((label, begin, end) in chart for label in LABELS):
                score = WEIGHTS["word_penalty"] + WEIGHTS["unknown"]
                chart[unknown, begin, end] = [Made(score, (sentence[begin],))]
            for rule in grammar:
                if rule.source in UNARY:
                    apply(rule, begin, end)

    left: list[list[Made]] = [[] for _ in range(length + 1)]
    for end in range(1, length + 1):
        for label in (*LABELS, ANY):
            left[end] += chart.get((label, 0, end), [])
            for middle in range(1, end):
                for before, after in product(left[middle], chart.get((label, middle, end), [])):
                    left[end].append(Made(before.score + after.score + WEIGHTS["glue"], before.words + after.words))
    return [Made(made.score + lm_score(made.words), made.words) for made in left[length]]


def lm_score(words: tuple[str, ...]) -> float:
    """The language model's part, from the whole sentence."""
    return WEIGHTS["lm"] * log_probability(words) + WEIGHTS["lm_unknown"] * unknown_words(words)


grammars = st.lists(rules(), min_size=1, max_size=7)
sentences = st.lists(st.sampled_from(SOURCE), min_size=1, max_size=4)


def decoder(grammar: list[Rule], pop_limit: int = 0, unknown_labels: bool = False, **limits: int) -> Decoder:
    features = FeatureSet(compiled(grammar))
    features.add_ngram(LM)
    search = SearchOptions(pop_limit=pop_limit, span_limit=LIMIT, per_source=0, unknown_labels=unknown_labels, **limits)
    return Decoder(features, ChartMatcher(features, search), list(WEIGHTS.items()), search)


def total(features: dict[str, float]) -> float:
    return sum(WEIGHTS[name] * value for name, value in features.items())
