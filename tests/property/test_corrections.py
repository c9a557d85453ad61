"""A table under corrections against one that is compiled with them, in all three matchers, on random grammars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import pytest
import slow_chart
import slow_dependents
import slow_forest
from forest_rules import tokens
from hypothesis import given, settings
from hypothesis import strategies as st
from small_lm import LM

from treeglot._core import (
    ChartMatcher,
    Decoder,
    FeatureSet,
    ForestMatcher,
    HeadDependentsMatcher,
    RuleTable,
    RuleTableBuilder,
)
from treeglot.decode import SearchOptions
from treeglot.rules.corrections import Correction, Corrections

WEIGHTS = {**slow_forest.WEIGHTS, **slow_dependents.WEIGHTS, "new": 0.5}


@dataclass(frozen=True)
class Row:
    """A rule of the table, as text."""

    lhs: str
    source: str
    target: str
    p: float
    labels: str = ""
    structure: str = ""
    new: float = 0.0  # a feature that corrections bring

    def key(self) -> tuple[str, ...]:
        return self.lhs, self.source, self.target, self.structure


Make: TypeAlias = Any  # a matcher of features and options
Case: TypeAlias = tuple[Make, Any, list[Row]]  # a matcher, its input, and rules most of which match


@st.composite
def strings(draw: st.DrawFn) -> Case:
    def matcher(features: FeatureSet, search: SearchOptions) -> Any:
        return ChartMatcher(features, search)

    def row(rule: slow_chart.Rule) -> Row:
        source, numbers = [], []
        for symbol in rule.source:
            variable = symbol in (*slow_chart.LABELS, "Z")
            numbers += [symbol] * variable
            source.append(f"[{symbol},{len(numbers)}]" if variable else symbol)
        target = [f"[{numbers[int(t) - 1]},{t}]" if t.isdigit() else t for t in rule.target]
        return Row(rule.lhs, " ".join(source), " ".join(target), rule.score)

    labels = st.sampled_from([*slow_chart.LABELS, "Z"])
    unary = st.builds(lambda above, below: slow_chart.Rule(above, (below,), ("1",), -0.5), labels, labels)
    grammar = draw(st.lists(st.one_of(slow_chart.rules(), slow_chart.rules(), unary), min_size=5, max_size=12))
    sentence = draw(st.lists(st.sampled_from(slow_chart.SOURCE[:3]), min_size=2, max_size=4))
    return matcher, sentence, [row(rule) for rule in grammar]


@st.composite
def forests(draw: st.DrawFn) -> Case:
    def matcher(features: FeatureSet, search: SearchOptions) -> Any:
        features.add_dependency(slow_forest.WORDS_MODEL.core)
        features.add_dependency(slow_forest.TAGS_MODEL.core)
        return ForestMatcher(features, slow_forest.HEADS, search)

    def row(rule: slow_forest.ForestRule) -> Row:
        symbols = [(str(w), False) for w in rule.source] if rule.phrase else tokens(rule.source)
        source, numbers = [], []
        for symbol, variable in symbols:
            numbers += [symbol] * variable
            source.append(f"[{symbol},{len(numbers)}]" if variable else symbol.strip())
        target = [f"[{numbers[int(t) - 1]},{t}]" if t.isdigit() else t for t in rule.target]
        lhs = "X" if rule.phrase else str(rule.source[0])
        notes = " ".join(rule.tags), " ".join(map(str, rule.heads))
        return Row(lhs, " ".join(source), " ".join(target), rule.score, *notes)

    forest, rules = draw(slow_forest.cases())
    return matcher, forest, [row(rule) for rule in rules]


@st.composite
def trees(draw: st.DrawFn) -> Case:
    augmented = draw(st.booleans())

    def matcher(features: FeatureSet, search: SearchOptions) -> Any:
        return HeadDependentsMatcher(features, None, search, augmented)

    def row(rule: slow_dependents.Rule) -> Row:
        source, numbers = [], []
        for symbol, variable in rule.source:
            numbers += [symbol] * variable
            source.append(f"[{symbol},{len(numbers)}]" if variable else symbol)
        target = [f"[{numbers[t - 1]},{t}]" if isinstance(t, int) else t for t in rule.target]
        labels = " ".join(f"{first + 1}-{last + 1}" for first, last in rule.structures)
        return Row(rule.lhs, " ".join(source), " ".join(target), rule.score, labels)

    case = draw(slow_dependents.cases())
    return matcher, case.tree, [row(rule) for rule in case.rules]


CASES = pytest.mark.parametrize("cases", [strings(), forests(), trees()], ids=["chart", "forest", "dependents"])


@st.composite
def corrections(draw: st.DrawFn, rules: Sequence[Row]) -> Correction:
    """One that has to do with the rules, for the most part."""
    row = draw(st.sampled_from(rules))
    values = {"p": draw(st.integers(-40, 0)) / 8, "new": draw(st.sampled_from([-1.0, 0.5]))}
    names = draw(st.sampled_from([("p",), ("new",), ("p", "new")]))
    features = tuple((name, values[name]) for name in names)
    structure = draw(st.sampled_from(["", row.structure]))
    action = draw(st.sampled_from(["add", "add", "forbid", "reweight"]))
    if action == "add":
        target = draw(st.sampled_from([row.target, f"{row.target} u".strip(), f"{row.target} fresh".strip()]))
        heads = row.structure and f"{row.structure} 0" if target != row.target else row.structure
        tags = row.labels if not row.structure or target == row.target else f"{row.labels} N".strip()
        given = draw(st.sampled_from([features, ()]))
        return Correction("add", row.lhs, row.source, target, features=given, labels=tags, structure=heads)
    lhs = draw(st.sampled_from(["", row.lhs]))
    aim = draw(st.sampled_from([None, row.target, "nothing"]))
    if aim == "nothing":
        variables = [word for word in row.source.split() if word.startswith("[")]
        aim, structure = " ".join(["nothing", *variables]), ""
    if action == "forbid":
        return Correction("forbid", lhs, row.source, aim, structure=structure)
    return Correction("reweight", lhs, row.source, aim, features=features, structure=structure)


def corrected(rules: list[Row], given: Sequence[Correction]) -> tuple[list[Row], list[int]]:
    """The rules after corrections, straight from docs/corrections.md, and how many each changed."""
    rows, numbers = list(rules), []
    for each in given:

        def meant(row: Row, each: Correction = each) -> bool:
            sides = row.source == each.source and each.target in (None, row.target)
            return sides and each.lhs in ("", row.lhs) and each.structure in ("", row.structure)

        numbers.append(sum(map(meant, rows)))
        if each.action == "forbid":
            rows = [row for row in rows if not meant(row)]
            continue
        changes: dict[str, Any] = {**dict(each.features), **({"labels": each.labels} if each.labels else {})}
        rows = [replace(row, **changes) if meant(row) else row for row in rows]
        if each.action == "add" and not numbers[-1]:
            assert each.target is not None
            made = Row(each.lhs, each.source, each.target, 0.0, each.labels, each.structure)
            rows.append(replace(made, **changes))
            numbers[-1] = 1
    return rows, numbers


def compiled(rows: Sequence[Row], features: tuple[str, ...], labels: Sequence[str]) -> RuleTable:
    builder = RuleTableBuilder(list(features))
    for label in labels:
        builder.label(label)

    def column(texts: list[str]) -> tuple[Any, Any]:
        data = [text.encode() for text in texts]
        ends = np.cumsum([0, *map(len, data)], dtype=np.int32)
        return ends, np.frombuffer(b"".join(data), dtype=np.int8)

    text = [column([getattr(r, n) for r in rows]) for n in ("lhs", "source", "target")]
    text += [column([""] * len(rows)), *(column([getattr(r, n) for r in rows]) for n in ("labels", "structure"))]
    values = [np.array([getattr(row, name) for row in rows], dtype=np.float32) for name in features]
    builder.add_rows("rules", 1, text, values, [])
    return builder.finish()


def found(table: RuleTable, make: Make, source: Any, search: SearchOptions, threads: int) -> list[Any]:
    features = FeatureSet(table)
    features.add_ngram(LM)
    decoder = Decoder(features, make(features, search), list(WEIGHTS.items()), search)
    made = decoder.translate_batch([source, source], 50, False, threads)
    one, two = ([(h.text, h.score, str(h.derivation), values(h)) for h in each.hypotheses] for each in made)
    assert one == two and all(not each.problem for each in made)
    return one


def values(hypothesis: Any) -> dict[str, float]:
    """The features; phrases inside a relation have those of dense features alone, and no weight for this one."""
    return {name: value for name, value in hypothesis.features.items() if name != "phrase_new"}


@CASES
@settings(max_examples=60)
@given(data=st.data())
def test_corrections_are_as_good_as_compiled(cases: st.SearchStrategy[Case], data: st.DataObject) -> None:
    make, source, pool = data.draw(cases)
    pool = list({row.key(): row for row in pool}.values()) or [Row("X", "a", "u", -1.0)]
    rules = [row for row in pool if data.draw(st.booleans())] or pool[:1]
    given = data.draw(st.lists(corrections(pool), min_size=1, max_size=8))
    texts = [label for row in pool for label in (row.lhs, *row.labels.split(), *variables(row))]
    labels = list(dict.fromkeys(["X", *texts, "N", "V"]))
    # Labels in the same order: where scores are equal, they say what comes first.
    plain = compiled(rules, ("p",), labels if data.draw(st.booleans()) else labels[:1])
    over, numbers = Corrections(tuple(given)).apply(plain)
    rows, expected_numbers = corrected(rules, given)
    assert numbers == expected_numbers
    whole = compiled(rows, ("p", "new"), over.labels)
    per_source, pops, threads = data.draw(st.sampled_from([(0, 0, 1), (1, 0, 2), (2, 3, 1), (0, 2, 2)]))
    limits = data.draw(st.sampled_from([(0, 0), (2, 3)]))
    search = SearchOptions(pop_limit=pops, per_source=per_source, label_limit=limits[0], match_limit=limits[1])
    assert found(over, make, source, search, threads) == found(whole, make, source, search, threads)
    before = found(plain, make, source, search, threads)
    assert found(over.corrected("none", [])[0], make, source, search, threads) == before
    for number in range(over.own_rules, len(over)):
        origin, correction = over.origin(number)
        assert correction is not None and given[correction].action != "forbid"
        assert origin is None or over.rule(origin)[:3] == over.rule(number)[:3]


def variables(row: Row) -> list[str]:
    return [word[1:].rpartition(",")[0] for word in row.source.split() if word.startswith("[")]
