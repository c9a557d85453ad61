"""The scoring SQL against a slow twin in Python, on random counts in one part or several."""

import dataclasses
import math
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeglot._core import RuleScores
from treeglot.rules import scores
from treeglot.rules.count_files import counts_schema
from treeglot.rules.engines import DuckDB
from treeglot.rules.extract import Extraction
from treeglot.rules.score import with_counts
from treeglot.rules.scores import score_counts
from treeglot.rules.sql import COLUMNS, Column, ScoreOptions, scoring

UNIT = 2**28
VARIABLES = {b"a": 0, b"b": 1, b"c": 2}
ROOTS = {b"a": 3, b"b": 0, b"c": 3}

# A row: source, target, alignment, labels, units of count, occurrences.
row = st.tuples(
    st.sampled_from(sorted(VARIABLES)),
    st.sampled_from([b"x", b"y", b"z", b"w"]),
    st.sampled_from([b"0", b"1", b"2"]),
    st.sampled_from([b"P", b"Q"]),
    st.integers(1, 3 * UNIT),
    st.one_of(st.integers(1, 7), st.sampled_from([10, 11, 30, 31, 100, 101])),
)
options = st.builds(
    ScoreOptions,
    smoothing=st.sampled_from(["none", "good-turing", "kneser-ney"]),
    min_occurrences=st.integers(1, 3),
    min_gappy_occurrences=st.integers(1, 4),
    significance=st.sampled_from([0.0, 0.0, 1.234, 3.3]),
    targets_per_source=st.integers(0, 3),
)


def lexical(alignment):
    """Lexical weights follow from the alignment."""
    return 0.5 / (1 + alignment[0]), 0.25 / (1 + alignment[0])


def write(rows, folder):
    columns = {
        "source": [r[0] for r in rows],
        "target": [r[1] for r in rows],
        "alignment": [r[2] for r in rows],
        "labels": [r[3] for r in rows],
        "count": [r[4] / UNIT for r in rows],
        "occurrences": [r[5] for r in rows],
        "lhs": [ROOTS[r[0]] for r in rows],
        "variables": [VARIABLES[r[0]] for r in rows],
        "lex_target_given_source": [lexical(r[2])[0] for r in rows],
        "lex_source_given_target": [lexical(r[2])[1] for r in rows],
        "source_row": [[one[0] for one in rows].index(r[0]) for r in rows],
        "row": list(range(len(rows))),
    }
    half = len(rows) // 2
    table = pa.table(columns, schema=counts_schema())
    for name, part in (("0", table.slice(0, half)), ("1", table.slice(half))):
        pq.write_table(part, folder / f"counts-{name}.parquet")
    return sorted(folder.glob("counts-*.parquet"))


def most(rows, note):
    """The value of column `note` with the most occurrences, of equals the first."""
    sums = defaultdict(int)
    for r in rows:
        sums[r[note]] += r[5]
    return max(sums, key=lambda value: sums[value])  # the first of the greatest: dicts keep their order


def fisher(r, s, t, n):
    """-ln of the first term of the tail times the geometric series that bounds it."""
    f = lambda x: math.lgamma(x + 1)  # noqa: E731
    first = f(t) + f(n - t) + f(s) + f(n - s) - f(n) - f(r) - f(t - r) - f(s - r) - f(n - s - t + r)
    ratio = (s - r) * (t - r) / ((r + 1) * (n - s - t + r + 1))
    return 0.0 if ratio >= 1 else math.log(1 - ratio) - first


def slow_table(rows, o, labels):
    seen = defaultdict(list)
    for r in rows:
        seen[r[0], r[1]].append(r)
    count = {rule: sum(r[4] for r in rs) / UNIT for rule, rs in seen.items()}
    times = {rule: sum(r[5] for r in rs) for rule, rs in seen.items()}
    n = [0, *(sum(o == k for o in times.values()) for k in range(1, 8))]

    def discount(rule):
        """What is taken from the rule's count."""
        k = times[rule]
        if o.smoothing == "good-turing":
            factor = (k + 1) * n[k + 1] / (k * n[k]) if k <= 5 and n[k + 1] else 1
            return count[rule] * (1 - min(factor, 1))
        if o.smoothing == "kneser-ney":
            step = min(k, 3)
            y = n[1] / (n[1] + 2 * n[2]) if n[1] and n[2] else None
            known = y is not None and n[step] and n[step + 1]
            d = max(0, min(step, step - (step + 1) * y * n[step + 1] / n[step])) if known else 0
            return math.floor(count[rule] * (d / k) * UNIT + 0.5) / UNIT  # halves go up, as in SQL
        return 0

    def probability(rule, given):
        same = [x for x in seen if x[given] == rule[given]]
        total = sum(count[x] for x in same)
        p = (count[rule] - discount(rule)) / total
        if o.smoothing == "kneser-ney":
            rules = sum(x[1 - given] == rule[1 - given] for x in seen)
            p += sum(map(discount, same)) / total * rules / len(seen)
        return p

    out = {}
    for place, (rule, rs) in enumerate(seen.items()):
        least = o.min_occurrences if VARIABLES[rule[0]] == 0 else max(o.min_occurrences, o.min_gappy_occurrences)
        of_source = sum(times[x] for x in seen if x[0] == rule[0])
        of_target = sum(times[x] for x in seen if x[1] == rule[1])
        significance = fisher(times[rule], of_source, of_target, sum(times.values()))
        if times[rule] < least or 0 < o.significance > significance:
            continue
        alignment = most(rs, 2)
        out[rule] = {
            "alignment": alignment,
            "labels": most(rs, 3) if labels else None,
            "count": count[rule],
            "occurrences": times[rule],
            "p_target_given_source": probability(rule, 0),
            "p_source_given_target": probability(rule, 1),
            "p_rule_given_root": count[rule] / sum(count[x] for x in seen if ROOTS[x[0]] == ROOTS[rule[0]]),
            "lex_target_given_source": lexical(alignment)[0],
            "lex_source_given_target": lexical(alignment)[1],
            "place": place,
        }
    return out


@settings(max_examples=60)
@given(st.lists(row, min_size=1, max_size=24), options, st.booleans(), st.booleans(), st.booleans())
def test_the_statements_do_what_the_definitions_say(rows, o, labels, roots, several):
    if not labels:
        rows = [(*r[:3], b"", *r[4:]) for r in rows]
    if not several:
        rows = one_part(rows)
    with TemporaryDirectory() as name:
        folder = Path(name)
        statements = scoring(o, 2 if several else 1, labels, roots)
        files = write(rows, folder)
        batches = DuckDB(folder=folder).run({"counts": files}, statements)
        batches = batches if several else with_counts(batches, files)
        table = [r for batch in batches for r in batch.to_pylist()]
    expected = slow_table(rows, o, labels)
    found = {(r["source"], r["target"]): r for r in table}
    assert len(found) == len(table)
    if o.targets_per_source:
        # The best of each source; which of two equally probable ones is not the twin's business.
        for source in VARIABLES:
            of_source = sorted((-e["p_target_given_source"], rule) for rule, e in expected.items() if rule[0] == source)
            kept = [r for r in table if r["source"] == source]
            assert len(kept) == min(o.targets_per_source, len(of_source))
            best = [-p for p, _ in of_source[: o.targets_per_source]]
            assert sorted((r["p_target_given_source"] for r in kept), reverse=True) == pytest.approx(best, rel=1e-6)
    else:
        assert found.keys() == expected.keys()
    for rule, row_found in found.items():
        wanted = expected[rule]
        assert row_found["alignment"] == wanted["alignment"]
        if labels:
            assert row_found["labels"] == wanted["labels"]
        assert (row_found["count"], row_found["occurrences"]) == (wanted["count"], wanted["occurrences"])
        assert roots or row_found.pop("p_rule_given_root") is None
        for column in wanted.keys() & {name for name in row_found if name[:2] in ("p_", "le")}:
            assert row_found[column] == pytest.approx(wanted[column], rel=1e-6)
    # Rules of a source stand together, sources and rules in the order in which they were first seen.
    sources = list(dict.fromkeys(r["source"] for r in table))
    assert [r["source"] for r in table] == [s for s in sources for r in table if r["source"] == s]
    for source in sources:
        places = [expected[source, r["target"]]["place"] for r in table if r["source"] == source]
        assert places == sorted(places)


def one_part(rows):
    """One row for each rule, sorted by source side, as a whole tally gives it."""
    return sorted({r[:2]: r for r in rows}.values(), key=lambda r: r[0])


@settings(max_examples=100)
@given(st.lists(row, min_size=1, max_size=40), options, st.booleans(), st.booleans(), st.integers(1, 9))
def test_the_core_scores_as_the_statements_do(rows, o, roots, apart, at_once):
    o = dataclasses.replace(o, significance=0.0)
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(scores, "ROWS", at_once)
        folder, engine = Path(name), DuckDB(folder=Path(name))
        files = write(one_part(rows), folder)
        batches = with_counts(engine.run({"counts": files}, scoring(o, 1, True, roots, apart)), files)
        expected = [r for batch in batches for r in batch.to_pylist()]
        found = score_counts(Extraction(folder, {"parts": 1, "roots": roots, "apart": apart}), o, engine)
        assert [r for batch in found for r in batch.to_pylist()] == expected


def test_what_the_database_alone_can_score(tmp_path, monkeypatch):
    write(one_part([(b"a", b"x", b"0", b"P", UNIT, 1)]), tmp_path)
    facts = {"parts": 1, "roots": False, "apart": False}

    def scored(memory=1 << 20, significance=0.0, **changes):
        options, engine = ScoreOptions(significance=significance), DuckDB(memory=memory, folder=tmp_path)
        return score_counts(Extraction(tmp_path, facts | changes), options, engine)

    assert [len(batch) for batch in scored()] == [1]
    assert scored(significance=1.0) is None
    assert scored(parts=2) is None
    assert scored(memory=1000) is None
    monkeypatch.setitem(COLUMNS, "rare", Column("float", "CAST(1.0e0 / r.occurrences AS FLOAT)"))
    assert scored() is None


class Watched(RuleScores):
    """Notes the most memory that the sums take, and checks that they expected it."""

    largest = 0

    def add(self, targets, counts):
        most = self.bytes_to_add(targets, counts)
        super().add(targets, counts)
        Watched.largest = max(Watched.largest, self.bytes)
        assert self.bytes <= most


class Roomy(DuckDB):
    """Has room for its own queries, whatever its memory is."""

    def run(self, files, statements):
        return DuckDB(folder=self.folder).run(files, statements)


@pytest.mark.parametrize("smoothing", ["none", "kneser-ney"])
def test_sums_never_take_more_than_the_memory(tmp_path, monkeypatch, smoothing):
    """Also within a batch, whose target sides all differ here."""
    monkeypatch.setattr(scores, "RuleScores", Watched)
    write(one_part([(b"a", b"x%d" % n, b"0", b"P", UNIT, n % 3 + 1) for n in range(3000)]), tmp_path)
    extraction = Extraction(tmp_path, {"parts": 1, "roots": False, "apart": True})
    options, taken = ScoreOptions(smoothing=smoothing), set()
    for memory in (1 << 14, 1 << 18, 1 << 20, 1 << 24):
        for rows in (100, 1000, 1 << 17):
            monkeypatch.setattr(scores, "ROWS", rows)
            monkeypatch.setattr(Watched, "largest", 0)
            taken.add(score_counts(extraction, options, Roomy(memory=memory, folder=tmp_path)) is None)
            assert Watched.largest <= memory
    assert taken == {True, False}


@given(st.lists(st.tuples(st.binary(max_size=9), st.integers(0, 200)), max_size=60), st.booleans(), st.integers(1, 20))
def test_what_sums_may_take_is_a_bound(sides, discounted, at_once):
    given = {"rules": 1.0, "least": 1, "least_gappy": 1, "targets_per_source": 0, "apart": True, "roots": True}
    found = RuleScores(factors=[], discounts=[0.5] if discounted else [], **given)
    for begin in range(0, len(sides), at_once):
        some = sides[begin : begin + at_once]
        offsets = np.cumsum([0, *(len(side) for side, _ in some)], dtype=np.int32)
        dtypes = (np.int64, np.float64, np.uint32, np.uint32, np.uint8)
        counts = [np.ones(len(some), dtype) for dtype in dtypes]
        counts[3] = np.array([lhs for _, lhs in some], np.uint32)
        rows = (offsets, np.frombuffer(b"".join(side for side, _ in some), np.int8)), tuple(counts)
        most = found.bytes_to_add(*rows)
        found.add(*rows)
        assert found.bytes <= most


def test_rows_that_were_not_added():
    scoring = {"rules": 0.0, "least": 1, "least_gappy": 1, "targets_per_source": 0, "apart": False}
    given = {"factors": [], "discounts": [], **scoring}
    one = tuple(np.array([1], dtype) for dtype in (np.int64, np.float64, np.uint32, np.uint32, np.uint8))
    sides = np.array([0, 1], np.int32), np.array([7], np.int8)
    found = RuleScores(**given, roots=True)
    with pytest.raises(ValueError, match="there are more rows than were added"):
        found.score(one)
    found.add(sides, one)
    with pytest.raises(ValueError, match="the columns of counts differ in length"):
        found.add(sides, (*one[:4], np.zeros(2, np.uint8)))
    with pytest.raises(ValueError, match="as many target sides as counts"):
        found.add((np.array([0, 1, 1], np.int32), sides[1]), one)
    assert found.waiting == 1
    found.finish()
    with pytest.raises(ValueError, match="rows were finished; expected no more"):
        found.add(sides, one)
    with pytest.raises(ValueError, match="rows differ from those that were added"):
        found.score((*one[:3], one[3] + 1, one[4]))
    found.score(one)
    assert found.waiting == 0
    with pytest.raises(ValueError, match="by factors or by discounts"):
        RuleScores(**given | {"factors": [1.0], "discounts": [1.0]}, roots=False)


@pytest.mark.parametrize(("r", "s", "t", "n"), [(1, 1, 1, 50), (2, 2, 5, 40), (3, 6, 4, 100), (5, 9, 8, 60)])
def test_the_bound_on_fishers_test(r, s, t, n):
    tail = sum(math.comb(t, k) * math.comb(n - t, s - k) for k in range(r, min(s, t) + 1)) / math.comb(n, s)
    assert fisher(r, s, t, n) <= -math.log(tail) + 1e-12
    assert fisher(r, s, t, n) == pytest.approx(-math.log(tail), rel=0.05)
    if r == min(s, t):
        assert fisher(r, s, t, n) == pytest.approx(-math.log(tail))
