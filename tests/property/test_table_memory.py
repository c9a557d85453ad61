"""A compiled table has the same bytes whatever memory its builder may take, and rules in the order that they should."""

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from treeglot._core import Opening, RuleTable, RuleTableBuilder

NT = 0x80000000
LABELS = ["X", "NP", "VP"]
WORDS = list("abcde")
Rule = tuple[int, list[int], list[int], list[float], list[tuple[int, int]], list[int], list[int]]


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    label = st.integers(0, len(LABELS) - 1)
    symbol = st.one_of(st.integers(0, len(WORDS) - 1), label.map(lambda number: NT | number))
    source = draw(st.lists(symbol, min_size=1, max_size=5))
    variables = [-1 - i for i in range(sum(each >= NT for each in source))]
    target = draw(st.permutations([*variables, *draw(st.lists(st.integers(0, len(WORDS) - 1), max_size=3))]))
    places = st.tuples(st.integers(0, len(source) - 1), st.integers(0, max(len(target) - 1, 0)))
    links = draw(st.lists(places, max_size=3, unique=True)) if target else []
    features = [float(draw(st.integers(-9, 9))), float(draw(st.integers(-9, 9)))]
    labels, structure = draw(st.lists(label, max_size=2)), draw(st.lists(st.integers(0, 3), max_size=2))
    return draw(label), source, target, features, links, labels, structure


def write(given: list[Rule], path: Path, memory: int) -> tuple[int, int, int]:
    builder = RuleTableBuilder(["p", "q"], memory, str(path.parent))
    for label in LABELS:
        builder.label(label)
    for word in WORDS:
        builder.source_word(word)
        builder.target_word(word)
    for rule in given:
        builder.add(*rule)
    written = builder.write(str(path))
    assert sorted(path.parent.glob("*")) == sorted(path.parent.glob("*.table")), "scratch files have no names"
    return written


@settings(max_examples=60, deadline=None)
@given(st.lists(rules(), max_size=40), st.integers(1, 4000))
def test_memory_does_not_change_a_table(given: list[Rule], memory: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        number, size, spilled = write(given, folder / "all.table", 0)
        assert (number, spilled) == (len(given), 0)
        assert size == (folder / "all.table").stat().st_size
        for limit in (1, memory):
            again = write(given, folder / "some.table", limit)
            assert again[:2] == (number, size)
            assert (folder / "some.table").read_bytes() == (folder / "all.table").read_bytes()
        if len({tuple(rule[1]) for rule in given}) > 1:
            assert write(given, folder / "some.table", 1)[2] > 0
        check_order(given, RuleTable.open(str(folder / "all.table"), Opening.trusted))  # structures mean nothing here


def check_order(given: list[Rule], table: RuleTable) -> None:
    """By the length of source sides, their symbols, and left-hand sides; otherwise in the order in which they came."""
    ordered = sorted(given, key=lambda rule: (len(rule[1]), rule[1], rule[0]))
    expected: list[Any] = [
        (lhs, source, target, features, links) for lhs, source, target, features, links, *_ in ordered
    ]
    assert [table.rule(i) for i in range(len(table))] == expected
    assert [table.notes(i) for i in range(len(table))] == [rule[5:] for rule in ordered]
