"""Tables compiled in shards: the bytes of the whole, whatever the shards, the memory and the features."""

from __future__ import annotations

import pickle
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_pairs import CASES, SCORING, pairs_with

from treeglot import FormatError, TreeglotError, UsageError
from treeglot._core import RuleTableBuilder, TableFacts
from treeglot.models.kinds import find_kind
from treeglot.rules import compile_table, extract, score_rules
from treeglot.rules.engines import DuckDB
from treeglot.rules.score import make_tables
from treeglot.rules.spark import _call
from treeglot.rules.table import CompileOptions
from treeglot.rules.table_shards import MOST_SHARDS, compile_in_shards

ONE = CompileOptions(features=("p_target_given_source",))
GOOD = {"lhs": "X", "source": "das [X,1]", "target": "the [X,1]", "alignment": "0-0", "p_target_given_source": 0.5}


class Counting(DuckDB):
    """An engine of one machine that notes which functions it runs, and how often."""

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "ran", [])

    def map(self, function: Callable[[Any, Any], Any], shared: Any, items: Any) -> list[Any]:
        self.ran.append((function.__name__, len(items)))  # type: ignore[attr-defined]
        return super().map(function, shared, items)


@pytest.mark.parametrize("kind", ["hiero", "c2d", "t2t-fuzzy", "dep2str", "s2d"])
def test_shards_give_the_table_of_the_whole(kind: str, tmp_path: Path) -> None:
    name, options, parses = CASES[kind]
    rules = tmp_path / "rules.parquet"
    score_rules(extract(name, pairs_with(parses), tmp_path / "counts", options), rules, SCORING)
    compiling = find_kind(kind).options().compile
    whole = compile_table(rules, tmp_path / "whole.table", compiling)
    for shards in (1, 2, 5):
        found = compile_in_shards(rules, tmp_path / "shards.table", compiling, DuckDB(), shards=shards)
        assert (tmp_path / "shards.table").read_bytes() == (tmp_path / "whole.table").read_bytes()
        assert found.spilled > 0
        assert (found.rules, found.left_out, found.too_wide, found.crossing, found.size) == (
            whole.rules,
            whole.left_out,
            whole.too_wide,
            whole.crossing,
            whole.size,
        )
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    "options",
    [
        CompileOptions(indicators=("count_bin",)),  # most of its values become dense
        CompileOptions(indicators=("count_bin", "lhs"), shapes=True, max_scope=1),
        CompileOptions(word_pairs=20, unlinked=10, shapes=True),
        CompileOptions(features=("p_target_given_source", "count_bin=1")),
    ],
)
def test_features_are_those_of_the_whole(options: CompileOptions, tmp_path: Path) -> None:
    rules = tmp_path / "rules.parquet"
    score_rules(extract("hiero", pairs_with(()), tmp_path / "counts"), rules)
    whole = compile_table(rules, tmp_path / "whole.table", options)
    for shards, memory in ((3, 1), (7, 1 << 20)):
        found = compile_in_shards(rules, tmp_path / "shards.table", options, DuckDB(), shards=shards, memory=memory)
        assert (tmp_path / "shards.table").read_bytes() == (tmp_path / "whole.table").read_bytes()
        assert found.too_wide == whole.too_wide
    assert (whole.too_wide > 0) == (options.max_scope >= 0)


@st.composite
def rows(draw: st.DrawFn) -> dict[str, object]:
    symbols = draw(st.lists(st.sampled_from(["a", "b", "c", "[X,1]", "[Y,1]"]), min_size=1, max_size=4))
    variables = [symbol for symbol in symbols if symbol.startswith("[")]
    if len(variables) > 1 or draw(st.integers(0, 30)) == 0:  # some rules are too long for a table
        symbols, variables = ["a"] * draw(st.sampled_from([1, 256])), []
    target = draw(st.permutations([*variables, *draw(st.lists(st.sampled_from("xyz"), max_size=2))]))
    return {
        "lhs": draw(st.sampled_from(["X", "S", "Y"])),
        "source": " ".join(symbols),
        "target": " ".join(target),
        "alignment": "",
        "labels": draw(st.sampled_from(["", "NP"])),
        "p_target_given_source": draw(st.sampled_from([0.25, 0.5, 1.0])),
        "bin": draw(st.sampled_from(["1", "2", "2", "3"])),
    }


@settings(max_examples=100, deadline=None)
@given(st.lists(rows(), max_size=30), st.integers(1, 6), st.sampled_from([1, 500, 1 << 20]))
def test_random_rules_in_shards(given: list[dict[str, object]], shards: int, memory: int) -> None:
    options = CompileOptions(features=("p_target_given_source",), indicators=("bin",))
    names = ["lhs", "source", "target", "alignment", "labels", "bin"]
    schema = pa.schema([*((name, pa.string()) for name in names), ("p_target_given_source", pa.float32())])
    with TemporaryDirectory() as name:
        folder = Path(name)
        pq.write_table(pa.Table.from_pylist(given, schema=schema), folder / "rules.parquet", row_group_size=7)
        whole = compile_table(folder / "rules.parquet", folder / "whole", options)
        found = compile_in_shards(
            folder / "rules.parquet", folder / "found", options, DuckDB(), shards=shards, memory=memory
        )
        assert (folder / "found").read_bytes() == (folder / "whole").read_bytes()
        assert (found.rules, found.left_out) == (whole.rules, whole.left_out)


def test_many_rules_are_compiled_in_shards_where_there_are_machines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    extraction = extract("hiero", pairs_with(()), tmp_path / "counts")
    engine = Counting()
    compiling = find_kind("hiero").options().compile

    def tables(folder: str, machines: Counting | None) -> list[bytes]:
        (tmp_path / folder).mkdir()
        paths = [tmp_path / folder / name for name in ("rules.parquet", "rules.table")]
        make_tables(extraction, *paths, SCORING, compiling, engine, machines=machines)
        return [path.read_bytes() for path in paths]

    expected = tables("alone", None)
    assert tables("few", engine) == expected
    assert engine.ran == []  # type: ignore[attr-defined]
    monkeypatch.setattr("treeglot.rules.table_shards.SHARD", 500)
    assert tables("many", engine) == expected
    ran = dict(engine.ran)  # type: ignore[attr-defined]
    assert ran.keys() == {"survey_rows", "sort_rows", "compile_part"}
    assert min(ran.values()) > 2


def test_a_bad_row_is_named_by_its_place_in_the_whole(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist([GOOD] * 5 + [GOOD | {"target": "[X,2]"}]), tmp_path / "rules.parquet")
    with pytest.raises(FormatError, match=r"rules\.parquet:6: "):
        compile_in_shards(tmp_path / "rules.parquet", tmp_path / "rules.table", ONE, DuckDB(), shards=2)
    assert [path.name for path in tmp_path.iterdir()] == ["rules.parquet"]


def test_runs_and_parts_that_are_no_such_are_refused(tmp_path: Path) -> None:
    builder = RuleTableBuilder(["p"], 0, str(tmp_path))
    words = [builder.source_word("a"), builder.source_word("b"), builder.target_word("c")]
    label = builder.label("X")
    for source in words[:2]:
        builder.add(label, [source], [words[2]], [0.5], [])
    facts = builder.facts()
    with pytest.raises(ValueError, match="the pieces of a run are not in order"):
        builder.write_run(str(tmp_path / "run"), [1, 0])
    places = builder.write_run(str(tmp_path / "run"), [1])
    assert len(places) == 3 and places[0] == 0 < places[1] < places[2]
    other = RuleTableBuilder(["p"], 0, str(tmp_path))
    other.add_facts(facts)
    with pytest.raises(ValueError, match="a run of rules is between 2 and 1, which are not in order"):
        other.add_run(str(tmp_path / "run"), 2, 1)
    has = rf"run: has {places[2]} words; expected a run of rules between 0 and {places[2] + 1}$"
    with pytest.raises(FormatError, match=has):
        other.add_run(str(tmp_path / "run"), 0, places[2] + 1)
    with pytest.raises(OSError, match="none: cannot be opened"):
        other.add_run(str(tmp_path / "none"), 0, 1)
    other.add_run(str(tmp_path / "run"), 0, places[2] - 1)
    ends = rf"/run: a run of rules ends within a rule, at word {places[2] - 1}; expected whole rules$"
    with pytest.raises(FormatError, match=ends):
        other.write_part(str(tmp_path / "part"))
    assert not (tmp_path / "part").exists()
    short = RuleTableBuilder(["p"], 0, str(tmp_path))
    short.add_facts(facts)
    short.add_run(str(tmp_path / "run"), 0, 2)  # the end of the head of a rule is missing, too
    with pytest.raises(FormatError, match=r"/run: a run of rules ends within a rule, at word 2;"):
        short.write_part(str(tmp_path / "part"))
    third = RuleTableBuilder(["p"], 0, str(tmp_path))
    third.add_facts(facts)
    with pytest.raises(FormatError, match="run: "):
        third.join_parts([str(tmp_path / "run")], str(tmp_path / "table"))
    names = (["a"], ["c"], ["X"], ["p"])
    with pytest.raises(ValueError, match="facts of a table have lists of a wrong size"):
        third.add_facts(TableFacts(names, 1, [0] * 5, [0], [0], [1, 2]))
    with pytest.raises(ValueError, match="facts of a table have a symbol that they do not name"):
        third.add_facts(TableFacts(names, 1, [0] * 5, [0], [9], [1]))
    with pytest.raises(ValueError, match=r"fewer than 2\^32 rules"):
        third.add_facts(TableFacts(names, 2**32, [0] * 5, [0], [], []))
    with pytest.raises(ValueError, match=r"more than 2\^32 parts"):
        third.add_facts(TableFacts(names, 1, [2**32, 0, 0, 0, 0], [0], [], []))


@contextmanager
def few_files(more: int) -> Iterator[None]:
    """The process may open only so many files more."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = {int(path.name) for path in Path("/dev/fd").iterdir()}
    free = islice((number for number in count() if number not in used), more, None)
    resource.setrlimit(resource.RLIMIT_NOFILE, (next(free), limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def many_rules(folder: Path) -> Path:
    """A rule table whose rows have two source sides in turn: every shard has a piece of both parts of the table."""
    sides = ["das [X,1]", "ein [X,1]"]
    pq.write_table(
        pa.Table.from_pylist(
            [GOOD | {"source": sides[i % 2], "target": f"w{i} [X,1]"} for i in range(4 * MOST_SHARDS)]
        ),
        folder / "rules.parquet",
    )
    return folder / "rules.parquet"


def test_shards_are_few_enough_for_the_files_that_may_be_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = many_rules(tmp_path)
    compile_table(rules, tmp_path / "whole.table", ONE)
    monkeypatch.setattr("treeglot.rules.table_shards.SHARD", 1)
    engine = Counting()
    with few_files(MOST_SHARDS + 40):
        compile_in_shards(rules, tmp_path / "shards.table", ONE, engine)
    assert engine.ran == [  # type: ignore[attr-defined]
        ("survey_rows", MOST_SHARDS),
        ("sort_rows", MOST_SHARDS),
        ("compile_part", 2),
    ]
    assert (tmp_path / "shards.table").read_bytes() == (tmp_path / "whole.table").read_bytes()
    for shards in (0, MOST_SHARDS + 1):
        with pytest.raises(UsageError, match=rf"a table in {shards} shards; expected 1 to {MOST_SHARDS}"):
            compile_in_shards(rules, tmp_path / "none.table", ONE, engine, shards=shards)


def test_nothing_stays_behind_if_too_many_files_are_open(tmp_path: Path) -> None:
    rules = many_rules(tmp_path)
    with few_files(40), pytest.raises(OSError, match=r"Too many open files"):
        compile_in_shards(rules, tmp_path / "rules.table", ONE, DuckDB(), shards=MOST_SHARDS)
    assert [path.name for path in tmp_path.iterdir()] == ["rules.parquet"]


def test_spark_names_a_run_that_was_cut_short(tmp_path: Path) -> None:
    class Cutting(DuckDB):
        """An engine that calls functions as Spark's executors do, and cuts a run short before it is merged."""

        def map(self, function: Callable[[Any, Any], Any], shared: Any, items: Any) -> list[Any]:
            if function.__name__ == "compile_part":
                run = items[0].pieces[1].file
                run.write_bytes(run.read_bytes()[:-4])
            numbers = pa.RecordBatch.from_pydict({"id": range(len(items))})
            rows = pa.Table.from_batches(_call(function, SimpleNamespace(value=(shared, items)), iter([numbers])))
            for error in filter(None, rows.column("error").to_pylist()):
                raise TreeglotError(error)
            return [pickle.loads(value) for value in rows.column("value").to_pylist()]

    pq.write_table(pa.Table.from_pylist([GOOD] * 6), tmp_path / "rules.parquet")
    problem = r"/run-000001: has \d+ words; expected a run of rules between 0 and \d+ \(on .+\)$"
    with pytest.raises(TreeglotError, match=problem):
        compile_in_shards(tmp_path / "rules.parquet", tmp_path / "rules.table", ONE, Cutting(), shards=3)
    assert [path.name for path in tmp_path.iterdir()] == ["rules.parquet"]


def test_parts_are_of_about_equal_weight() -> None:
    builder = RuleTableBuilder(["p"])
    names = (list("abcdefgh"), [], ["X"], ["p"])
    builder.add_facts(pickle.loads(pickle.dumps(TableFacts(names, 0, [0] * 5, [0], list(range(8)), [1] * 8))))
    assert builder.split(1) == []
    assert builder.split(2) == [4]
    assert builder.split(4) == [2, 4, 6]
    assert builder.split(100) == [1, 2, 3, 4, 5, 6, 7]
