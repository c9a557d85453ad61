"""Compiling a rule table: what is refused, and where."""

import random
import resource
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from treeglot import FormatError, _core
from treeglot.models.train_rules import _report_table
from treeglot.rules import compile_table, open_table
from treeglot.rules.corrections import Correction, Corrections
from treeglot.rules.table import CompileOptions, frequent_words

GOOD = {"lhs": "X", "source": "das [X,1]", "target": "the [X,1]", "alignment": "0-0", "p_target_given_source": 0.5}
ONE = CompileOptions(features=("p_target_given_source",))


def named_features(table, number):
    values = [*enumerate(table.rule(number)[3]), *table.sparse_features(number)]
    return tuple(sorted((table.features[feature], value) for feature, value in values if value))


def unlinked_features(row, source_words, target_words):
    links = [link.split("-") for link in row["alignment"].split()]
    found = Counter()
    for side, family, frequent, linked in (
        ("source", "delete", source_words, {int(s) for s, _ in links}),
        ("target", "insert", target_words, {int(t) for _, t in links}),
    ):
        for place, word in enumerate(row[side].split()):
            if place not in linked and word not in ("[X,1]", "X(", ")"):
                found[f"{family}={word}" if word in frequent else family] += 1
    return tuple(sorted((name, float(count)) for name, count in found.items()))


def write(folder: Path, *rows: dict[str, object]) -> Path:
    path = folder / "rules.parquet"
    pq.write_table(pa.Table.from_pylist(list(rows)), path)
    return path


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"source": "das  [X,1]"}, "found ' [X,1]'; expected symbols separated by one blank"),
        ({"source": "das [X,1] "}, "found '[X,1] '; expected symbols separated by one blank"),
        (
            {"source": "das [X]"},
            "found '[X]'; expected a variable [LABEL,INDEX], or a word with a backslash before it",
        ),
        (
            {"source": "das [X,0]"},
            "found '[X,0]'; expected a variable [LABEL,INDEX], or a word with a backslash before it",
        ),
        ({"source": "[X,1] [X,1]"}, "the source side has variable 1 twice"),
        ({"source": "das"}, "the target side uses variable 1, which the source side lacks"),
        ({"source": "[X,2] [X,1]"}, "the source side has 2 variables, the target side uses 1"),
        ({"source": "das [Y,1]"}, "variable 1 is 'X' on the target side and 'Y' on the source side"),
        ({"target": "[X,1] [X,1]"}, "the target side uses variable 1 twice"),
        ({"source": "", "target": ""}, "a rule needs a source side"),
        ({"alignment": "0:0"}, "found '0:0'; expected a link SOURCE-TARGET such as 3-0"),
        ({"alignment": "0-7"}, "link 0-7 is outside a rule of 2 source and 2 target symbols"),
        ({"alignment": "0-700"}, "link 0-700 is outside the rule"),
        ({"source": "X( das [X,1]"}, "1 nodes of the fragment are not closed"),
        (
            {"source": "das [X,1] )"},
            "a bracket closes no node; expected a backslash before ) where it is a word",
        ),
        ({"source": "X( NP( ) [X,1] )"}, "a node is closed with nothing in it"),
        ({"source": "X( [X,1] ) das"}, "symbols follow the fragment; expected nothing after its root is closed"),
        ({"source": "das X( [X,1] )"}, "a fragment begins after other symbols"),
        ({"source": "NP( das [X,1] )"}, "the left-hand side is 'X', the fragment's root 'NP'"),
        ({"p_target_given_source": 0.0}, "feature 'p_target_given_source' is -inf; expected a finite number"),
        ({"source": None}, "there is no source; expected text"),
    ],
)
def test_bad_rows(tmp_path, change, problem):
    path = write(tmp_path, GOOD, GOOD | change)
    with pytest.raises(FormatError) as caught:
        compile_table(path, tmp_path / "rules.table", ONE)
    assert str(caught.value) == f"{path}:2: {problem}"
    assert not (tmp_path / "rules.table").exists()


def test_brackets_of_fragments_are_source_words(tmp_path):
    row = GOOD | {
        "lhs": "NP(",
        "source": "NP(( \\) ( \\a( NN( [X,1] ) )",
        "target": ") ( \\) a( [X,1]",
        "structure": "2 0 2 2 4",
        "alignment": "1-0",
    }
    compile_table(write(tmp_path, row), tmp_path / "rules.table", ONE)
    table = open_table(tmp_path / "rules.table")
    _, source, target, *_ = table.rule(0)
    words = [table.source_words[s] if s < 2**31 else table.labels[s - 2**31] for s in source]
    assert words == [" NP((", ")", "(", "a(", " NN(", "X", " )", " )"]
    assert [table.target_words[t] for t in target[:-1]] == [")", "(", ")", "a("]
    assert table.notes(0) == ([], [2, 0, 2, 2, 4])


def test_a_missing_column(tmp_path):
    path = write(tmp_path, GOOD)
    with pytest.raises(FormatError) as caught:
        compile_table(path, tmp_path / "rules.table")
    assert str(caught.value) == (
        f"{path}: unknown column 'p_source_given_target'; known: alignment, lhs, p_target_given_source, source, target"
    )


def test_columns_of_the_wrong_kind(tmp_path):
    path, out = write(tmp_path, GOOD | {"labels": None}, GOOD | {"labels": None}), tmp_path / "rules.table"
    for options, problem in (
        (CompileOptions(features=("target",)), "features: column 'target' has text; expected numbers, or target=VALUE"),
        (CompileOptions(features=(), indicators=("labels",)), "there is no labels; expected text"),
    ):
        with pytest.raises(FormatError) as caught:
            compile_table(path, out, options)
        assert caught.value.problem == problem
    for options in ({"word_pairs": -1}, {"max_scope": -2}):
        with pytest.raises(ValueError, match="expected at least"):
            CompileOptions(**options)


def test_columns_of_other_lengths():
    """The core does not read beyond a column's end."""

    def column(*values: str):
        data = "".join(values).encode()
        return np.cumsum([0, *(len(v) for v in values)], dtype=np.int32), np.frombuffer(data, dtype=np.int8)

    none = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int8)
    text = [column("X", "X"), column("a", "b"), column("c", "d"), none, none, none]
    for place, dense, indicators in ((2, [0.5, 0.5], []), (None, [0.5], []), (None, [0.5, 0.5], [("x", none)])):
        columns = [column("c") if at == place else value for at, value in enumerate(text)]
        with pytest.raises(ValueError, match=r"has [01] rows; expected 2, as the source sides"):
            _core.RuleTableBuilder(["p"]).add_rows("file", 1, columns, [np.array(dense, dtype=np.float32)], indicators)


@pytest.mark.parametrize(
    ("source", "target", "alignment", "problem"),
    [
        (b"\x18", b"\x10", b"", "a rule's code has a word or label that is not listed"),
        (b"\x10", b"\x18", b"", "a rule's code has a word or label that is not listed"),
        (b"\x08\x00\x07", b"\x00", b"", "a rule's code has a word or label that is not listed"),
        (b"\x0b\x07\x10\x0c", b"\x10", b"", "a rule's code has a label that is not listed"),
        (b"\x0b\x01\x10", b"\x10", b"", "1 nodes of the fragment are not closed"),
        (b"\x01\x10", b"\x10", b"", "a source side's variables are not in order"),
        (b"\x10\x09\x01", b"\x10", b"", "a source side has a structure"),
        (b"\x10\x00", b"\x01", b"", "the target side has a variable that the source side lacks, or a bracket"),
        (b"\x10\x00", b"\x08\x00\x01", b"", "the target side has a variable that the source side lacks, or a bracket"),
        (b"\x10", b"\x0c", b"", "the target side has a variable that the source side lacks, or a bracket"),
        (b"\x10", b"\x90", b"", "a rule's code ends too early or is damaged"),
        (b"\x10", b"\x10", b"\x00", "a rule's code ends too early"),
        (b"\x10", b"\x10", b"\x00\x05", "link 0-5 is outside a rule of 1 source and 1 target symbols"),
        (b"", b"\x10", b"", "a rule needs a source side"),
    ],
)
def test_bad_codes(source, target, alignment, problem):
    """Codes of counts that are damaged are refused, whatever they say."""

    def column(value: bytes):
        return np.array([0, len(value)], dtype=np.int32), np.frombuffer(value, dtype=np.int8)

    builder = _core.RuleTableBuilder([])
    none = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int8)
    columns = [column(source), column(target), column(alignment), none]
    with pytest.raises(ValueError, match="need know_codes"):
        builder.add_coded_rows("counts", 7, columns, [], [])
    builder.know_codes(["das"], ["the"], ["X", "NP"])
    with pytest.raises(FormatError) as caught:
        builder.add_coded_rows("counts", 7, columns, [], [])
    assert (caught.value.line, caught.value.problem) == (7, problem)


def test_long_sides_are_left_out_and_counted(tmp_path):
    done = compile_table(write(tmp_path, GOOD, GOOD | {"target": "[X,1]" + " x" * 300}), tmp_path / "rules.table", ONE)
    assert (done.rules, done.left_out) == (1, 1)
    assert done.size == (tmp_path / "rules.table").stat().st_size


def test_a_value_of_a_column_of_text_as_a_feature(tmp_path):
    options = CompileOptions(features=("p_target_given_source", "lhs=X"))
    compile_table(write(tmp_path, GOOD, GOOD | {"lhs": "NP"}), tmp_path / "rules.table", options)
    table = open_table(tmp_path / "rules.table")
    assert table.features == ["p_target_given_source", "lhs=X"]
    assert [table.rule(i)[3][1] for i in range(2)] == [1.0, 0.0]


def test_features_that_half_of_the_rules_have_are_dense(tmp_path):
    rows = [GOOD | {"bin": value} for value in ("a", "a", "b", "c")]
    options = CompileOptions(features=("p_target_given_source",), indicators=("bin",))
    compile_table(write(tmp_path, *rows), tmp_path / "rules.table", options)
    table = open_table(tmp_path / "rules.table", verify=False)
    assert table.features == ["p_target_given_source", "bin=a", "bin=b", "bin=c"]
    assert table.dense_features == 2
    assert [table.rule(i)[3][1] for i in range(4)] == [1.0, 1.0, 0.0, 0.0]
    assert [table.sparse_features(i) for i in range(4)] == [[], [], [(2, 1.0)], [(3, 1.0)]]


def test_no_rules(tmp_path):
    schema = pa.schema([(name, pa.string()) for name in ("lhs", "source", "target")])
    pq.write_table(schema.empty_table(), tmp_path / "rules.parquet")
    done = compile_table(tmp_path / "rules.parquet", tmp_path / "rules.table", CompileOptions(features=()))
    assert (done.rules, len(open_table(tmp_path / "rules.table"))) == (0, 0)


def test_shapes_and_word_pairs(tmp_path):
    def row(source, target, alignment, occurrences=1):
        variables = source.count("[X,")
        return {
            "lhs": "X", "source": source, "target": target, "alignment": alignment, "p_target_given_source": 0.5,
            "variables": variables, "occurrences": occurrences,
        }  # fmt: skip

    path = write(
        tmp_path,
        row("das", "the", "0-0", 9),
        row("\\[das]", "the", "0-0", 5),
        row("selten", "rarely", "0-0", 1),
        row("das [X,1] und das [X,2]", "[X,2] the , the [X,1]", "0-1 3-3"),
        row("selten das", "the", "1-0"),
    )
    options = CompileOptions(features=("p_target_given_source",), shapes=True, word_pairs=2)
    compile_table(path, tmp_path / "rules.table", options)
    table = open_table(tmp_path / "rules.table")
    found = []
    for number in range(len(table)):
        values = [*enumerate(table.rule(number)[3]), *table.sparse_features(number)]
        found.append({table.features[f]: value for f, value in values if f > 0 and value})
    texts = sorted(str(sorted(features.items())) for features in found)
    # Another link, and one that is there no more, as if the table were compiled with them.
    for links, expected in (("0-0 1-0", {"pair=das→the": 1.0}), ("0-0", {})):
        [[over, _]] = [Corrections((Correction("add", "X", "selten das", "the", links),)).apply(table)]
        values = [*enumerate(over.rule(len(over) - 1)[3]), *over.sparse_features(len(over) - 1)]
        named = {over.features[f]: value for f, value in values if value}
        assert {name: value for name, value in named.items() if name.startswith("pair=")} == expected
    assert texts == sorted(
        str(sorted(features.items()))
        for features in (
            {"shape=w→w": 1.0, "pair=das→the": 1.0},
            {"shape=w→w": 1.0, "pair=[das]→the": 1.0},
            {"shape=w→w": 1.0},
            {"shape=w1w2→2w1": 1.0, "pair=das→the": 2.0},
            {"shape=w→w": 1.0, "pair=das→the": 1.0},
        )
    )


def test_words_without_links(tmp_path):
    """Features of unlinked words are what a count of each row gives; brackets of fragments are no words."""
    draw = random.Random(7)
    rows = []
    for number in range(300):
        source = [draw.choice(["a", "b", "c", "d", "[X,1]"] if k else ["a", "b"]) for k in range(draw.randint(1, 4))]
        source = [word for k, word in enumerate(source) if word != "[X,1]" or k == source.index("[X,1]")]
        target = [draw.choice("uvwx") for _ in range(draw.randint(1, 4))] + ["[X,1]"] * ("[X,1]" in source)
        places = [
            (s, t)
            for s, f in enumerate(source)
            for t, e in enumerate(target)
            if f != "[X,1]" != e and draw.random() < 0.3
        ]
        if number % 3 == 0:  # a fragment: two more symbols around the words, which are never linked
            places = [(s + 1, t) for s, t in places]
            source = ["X(", *source, ")"]
        links = " ".join(f"{s}-{t}" for s, t in places)
        rows.append(
            {
                "lhs": "X", "source": " ".join(source), "target": " ".join(target), "alignment": links,
                "p_target_given_source": 0.5, "variables": int("[X,1]" in source), "occurrences": number,
            }
        )  # fmt: skip
    path = write(tmp_path, *rows)
    compile_table(path, tmp_path / "rules.table", CompileOptions(features=(), unlinked=2))
    frequent = frequent_words(path, 2)
    table = open_table(tmp_path / "rules.table")
    found = Counter(named_features(table, number) for number in range(len(table)))
    assert found == Counter(unlinked_features(row, *frequent) for row in rows)
    # A rule that a correction adds has what compiling would give it.
    added = {"source": "a c", "target": "u w x"}
    for links in ("0-0 1-1", "1-2", ""):
        over, _ = Corrections((Correction("add", "X", "a c", "u w x", links),)).apply(table)
        assert named_features(over, len(over) - 1) == unlinked_features(added | {"alignment": links}, *frequent)


def test_rules_of_great_scope_are_left_out(tmp_path):
    sides = ["[X,1]", "a [X,1]", "[X,1] a", "a [X,1] b", "[X,1] [X,2]", "a [X,1] [X,2]", "[X,1] [X,2] [X,3]", "a"]
    scopes = [2, 1, 1, 0, 3, 2, 4, 0]
    rows = [
        GOOD | {"source": side, "target": side.replace("a", "u").replace("b", "v"), "alignment": "", "kind": "k"}
        for side in sides
    ]
    path = write(tmp_path, *rows)
    for most in range(5):
        options = CompileOptions(features=("p_target_given_source",), max_scope=most, indicators=("kind",))
        made = compile_table(path, tmp_path / "rules.table", options)
        assert made.rules == sum(scope <= most for scope in scopes)
        assert made.rules + made.too_wide == len(sides)
        table = open_table(tmp_path / "rules.table")
        assert len(table) == made.rules
        assert table.features == ["p_target_given_source", "kind=k"]


def test_rules_that_search_cannot_join_are_left_out(tmp_path):
    words = {"lhs": "X", "alignment": "", "p_target_given_source": 0.5}
    rules = [
        words | {"source": "a", "target": "p q r s", "structure": "3 0 2 1"},  # 1 and 4 hang across each other
        words | {"source": "a", "target": "p q", "structure": "2 1"},  # a cycle
        words | {"source": "a", "target": "p q r", "structure": "2 0 2"},
        words | {"source": "b", "target": "p q", "structure": "0 0 1"},  # marked as ill-formed: that is fine
    ]
    compiled = compile_table(write(tmp_path, *rules), tmp_path / "rules.table", ONE)
    assert (compiled.rules, compiled.crossing) == (2, 2)
    table = open_table(tmp_path / "rules.table")
    sources = [[table.source_words[s] for s in table.rule(i)[1]] for i in range(2)]
    assert (sources, [table.notes(i)[1] for i in range(2)]) == ([["a"], ["b"]], [[2, 0, 2], [0, 0, 1]])


def many(folder: Path) -> Path:
    return write(folder, *(GOOD | {"source": f"w{i} [X,1]", "target": f"[X,1] v{i}"} for i in range(500)))


def test_rules_beyond_memory_go_through_the_disk_and_that_is_said(tmp_path: Path) -> None:
    rules = many(tmp_path)
    whole = compile_table(rules, tmp_path / "whole.table", ONE)
    sorted_on_disk = compile_table(rules, tmp_path / "sorted.table", ONE, memory=10_000)
    assert (whole.spilled, sorted_on_disk.size) == (0, whole.size)
    assert sorted_on_disk.spilled > 20_000
    assert (tmp_path / "sorted.table").read_bytes() == (tmp_path / "whole.table").read_bytes()
    lines: list[str] = []
    _report_table(replace(sorted_on_disk, spilled=5_100_000), lines.append)
    _report_table(whole, lines.append)
    assert lines == [
        "rule table compiled; 5 MB went through the disk, to keep within --memory",
        "rule table compiled",
    ]


@pytest.mark.parametrize(("room", "problem"), [(2_000, "a scratch file cannot be written"), (20_000, "some.table")])
def test_a_full_disk(room: int, problem: str, tmp_path: Path) -> None:
    """No room for the rules on their way, and none for the table."""
    rules = many(tmp_path)
    memory = 10_000 if room < 10_000 else 1 << 30
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        with pytest.raises(OSError, match=f"{problem}.*File too large|File too large.*{problem}"):
            compile_table(rules, tmp_path / "some.table", ONE, memory=memory)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(tmp_path.iterdir()) == [rules]
