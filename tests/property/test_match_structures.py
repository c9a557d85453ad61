"""Hiero's rules on parts of dependency trees, against an enumeration of all derivations."""

from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from treeglot import Dependency
from treeglot._core import RuleTable, RuleTableBuilder, StructureMatcher, TreeSpans
from treeglot.decode import SearchOptions, Translator

NT = 0x80000000
WORDS = ["a", "b", "c"]
WEIGHTS = {"p": 1.0, "word_penalty": -0.3, "glue": -0.7, "unknown": -1.1}
UNKNOWN = -1.4  # and its word
MOST = 2000

Rule = tuple[tuple[str, ...], float]  # a source side and its score; the target side is a word and the variables


@st.composite
def grammars(draw: st.DrawFn) -> list[Rule]:
    sides = draw(st.sets(st.lists(st.sampled_from([*WORDS, "X"]), min_size=1, max_size=3).map(tuple), max_size=10))
    return [(side, -0.37 * n - 0.1) for n, side in enumerate(sorted(sides)) if set(side) != {"X"}]


@st.composite
def sentences(draw: st.DrawFn) -> Dependency:
    """Any tree, projective or not."""
    words = draw(st.lists(st.sampled_from([*WORDS, "d"]), min_size=1, max_size=5))
    order = draw(st.permutations(range(len(words))))
    heads = [Dependency.ROOT] * len(words)
    for place, word in enumerate(order[1:], 1):
        heads[word] = order[draw(st.integers(0, place - 1))]
    return Dependency(words, heads)


def compiled(grammar: list[Rule]) -> RuleTable:
    builder = RuleTableBuilder(["p"])
    label = builder.label("X")
    for source, score in grammar:
        symbols = [NT | label if symbol == "X" else builder.source_word(symbol) for symbol in source]
        target = [builder.target_word(f"{source}"), *range(-1, -1 - source.count("X"), -1)]
        builder.add(label, symbols, target, [score], [])
    return builder.finish()


def part(heads: list[int], begin: int, end: int) -> str:
    """What the words of a span are in a tree, by the definitions of Shen et al. (2008)."""
    inside = set(range(begin, end))
    tops = [word for word in inside if heads[word] not in inside]
    hanging = {heads[word] for word in range(len(heads)) if word not in inside} & inside
    if len(tops) == 1 and not hanging:
        return "subtree"
    if (len(tops) == 1 and hanging == set(tops)) or (not hanging and len({heads[word] for word in tops}) == 1):
        return "structure"
    return "neither"


def allowed(spans: TreeSpans, found: str, variables: int) -> bool:
    if found == "structure":
        return spans == TreeSpans.structures or (spans == TreeSpans.phrases and variables == 0)
    return found == "subtree"


def all_scores(grammar: list[Rule], tree: Dependency, heads: list[int], spans: TreeSpans) -> list[float]:
    """The scores of all derivations, best first."""
    words, length = tree.words, len(tree)
    chart: dict[tuple[int, int], list[float]] = {}

    def covers(symbols: tuple[str, ...], begin: int, end: int) -> list[list[list[float]]]:
        if not symbols:
            return [[]] if begin == end else []
        if symbols[0] != "X":
            return covers(symbols[1:], begin + 1, end) if begin < end and words[begin] == symbols[0] else []
        return [
            [chart[begin, middle], *rest]
            for middle in range(begin + 1, end + 1)
            if (begin, middle) in chart
            for rest in covers(symbols[1:], middle, end)
        ]

    for width in range(1, length + 1):
        for begin in range(length - width + 1):
            end = begin + width
            scores = [
                score + WEIGHTS["word_penalty"] + sum(one)
                for source, score in grammar
                if width == 1 or allowed(spans, part(heads, begin, end), source.count("X"))
                for below in covers(source, begin, end)
                for one in product(*below)
            ]
            scores = scores or ([UNKNOWN] if width == 1 else [])
            if scores:
                chart[begin, end] = scores
            assume(sum(map(len, chart.values())) < MOST)
    left: list[list[float]] = [[0.0]]
    for end in range(1, length + 1):
        left.append(
            [
                before + (WEIGHTS["glue"] if begin else 0.0) + score
                for begin in range(end)
                for score in chart.get((begin, end), [])
                for before in left[begin]
            ]
        )
        assume(len(left[end]) < MOST)
    return sorted(left[length], reverse=True)


def translator(grammar: list[Rule], spans: TreeSpans) -> Translator:
    options = SearchOptions(per_source=0, pop_limit=0)
    return Translator(
        compiled(grammar), WEIGHTS, options=options, setup=lambda f, search: StructureMatcher(f, search, spans)
    )


@settings(max_examples=200)
@given(grammars(), sentences(), st.sampled_from(list(TreeSpans)))
def test_rules_cover_parts_of_the_tree_alone(grammar: list[Rule], tree: Dependency, spans: TreeSpans) -> None:
    heads = tree.projectivise()[0].heads.tolist()
    wanted = all_scores(grammar, tree, heads, spans)
    found = translator(grammar, spans).translate(tree).kbest(MOST)
    assert [one.score for one in found] == pytest.approx(wanted, abs=1e-4)


def test_a_line_is_refused() -> None:
    [found] = translator([(("a",), -1.0)], TreeSpans.subtrees).core.translate_batch(["a"], 1, False, 1)
    assert found.problem == "the input has no dependency tree; expected one"
