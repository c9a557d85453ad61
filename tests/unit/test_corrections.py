"""Corrections of rules: the file, and what a model does with it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from treeglot import FormatError
from treeglot.base.errors import UsageError
from treeglot.rules.corrections import Correction, Corrections, append, remove_group

ADDED = Correction(
    "add", "X", "das Haus", "the building", "0-0 1-1", (("p_target_given_source", 0.9),), "Anna Ö", "2026-11-16", "g1"
)
LINES = [
    ADDED,
    Correction("add", "NP", r"NP( \|||", "", features=(("new", -1e-05), ("lhs=X", 1.0)), labels="A B", structure="0 1"),
    Correction("forbid", "", "das [X,1]", None, author="B"),
    Correction("forbid", "X", "das [X,1]", ""),
    Correction("reweight", "X", "a", None, features=(("preferred", -2.5),), date="2026-11-16T10:00:00"),
]


def test_corrections_come_back_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "corrections.txt"
    Corrections(tuple(LINES)).write(path)
    read = Corrections.read(path)
    assert read.corrections == tuple(LINES)
    assert path.read_text().splitlines()[2:4] == [
        "forbid ||| ||| das [X,1] ||| * ||| ||| ||| B",
        "forbid ||| [X] ||| das [X,1] |||",
    ]
    assert read.digest == Corrections.of(path).digest != Corrections(tuple(LINES[1:])).digest


def test_groups_are_appended_and_removed_without_loss_of_comments(tmp_path: Path) -> None:
    path = tmp_path / "corrections.txt"
    path.write_text("# mine\n\nforbid ||| [X] ||| Haus")  # no end of the line
    append(path, [ADDED, LINES[2]])
    append(path, [ADDED])
    read = Corrections.read(path)
    assert (len(read), read.groups, read.lines) == (4, ("g1",), (3, 4, 5, 6))
    assert [len(read.of_group("g1")), len(read.without_group("g1"))] == [2, 2]
    removed = remove_group(path, "g1")
    assert (removed.lines, removed.corrections) == ((4, 6), (ADDED, ADDED))
    assert path.read_text() == f"# mine\n\nforbid ||| [X] ||| Haus\n{LINES[2]}\n"
    assert len(remove_group(path, "g1")) == 0


def test_writers_at_the_same_time_lose_nothing_of_each_other(tmp_path: Path) -> None:
    path = tmp_path / "corrections.txt"

    def write(word: str) -> None:
        for _ in range(10):
            append(path, [Correction("forbid", "", word, None)] * 2)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(write, "abc"))
    assert sorted(each.source for each in Corrections.read(path)) == ["a"] * 20 + ["b"] * 20 + ["c"] * 20


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("insert ||| [X] ||| a ||| b", "unknown action 'insert'; known: add, forbid, reweight"),
        ("add ||| [X]", "2 fields; expected 3 to 11: action ||| lhs ||| source ||| target and so on"),
        ("add" + " ||| a" * 11, "12 fields; expected 3 to 11: action ||| lhs ||| source ||| target and so on"),
        ("add ||| X ||| a ||| b", "the left-hand side is 'X'; expected a label in brackets such as [X]"),
        ("add ||| [X Y] ||| a ||| b", "the left-hand side is 'X Y'; expected a label"),
        ("add ||| ||| a ||| b", "a rule is added without a left-hand side; expected one such as [X]"),
        ("add ||| [X] ||| a", "a rule is added without a target side; expected one, which may be empty"),
        ("add ||| [X] ||| ||| b", "there is no source side; expected words or variables"),
        ("reweight ||| [X] ||| a ||| b", "a rule is reweighted without features; expected some such as p_x=0.5"),
        ("forbid ||| [X] ||| a ||| b ||| 0-0", "a forbidden rule has features, links or labels; expected its sides"),
        ("add ||| [X] ||| a ||| b ||| ||| x=1 x=2", "feature 'x' is given twice"),
        ("add ||| [X] ||| a ||| b ||| ||| x", "'x' is no feature; expected NAME=NUMBER such as p_x=0.5"),
        ("add ||| [X] ||| a ||| b ||| ||| =1", "a feature is called ''; expected a name without blanks"),
        ("add ||| [X] ||| a ||| b ||| ||| x=nan", "feature 'x' is nan; expected a finite number"),
        ("add ||| [X] ||| a ||| b ||| ||| p_x=0", "feature 'p_x' is 0.0; expected a probability above 0"),
        ("add ||| [X] ||| a ||| b ||| ||| ||| me ||| today", "'today' is not a date; expected one such as 2026-11-16"),
        ("add ||| [X] ||| a \x0b ||| b", r"source is 'a \x0b'; expected text with single blanks between its parts"),
    ],
)  # fmt: skip
def test_bad_lines_are_refused_with_their_place(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "corrections.txt"
    path.write_text(f"# one\n{line}\n")
    with pytest.raises(FormatError) as error:
        Corrections.read(path)
    assert str(error.value) == f"{path}:2: {problem}"


@pytest.mark.parametrize("field", ["source", "target", "author", "group"])
def test_no_text_breaks_out_of_its_field(field: str) -> None:
    for text in ("a ||| b", "a\nb", "a  b", "\ud800"):
        with pytest.raises(UsageError, match=f"^{field} "):
            Correction(**{"action": "add", "lhs": "X", "source": "s", "target": "t", field: text})  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="stands for any"):
        Correction("add", "X", "s", "*")
