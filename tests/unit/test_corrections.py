"""Corrections of rules: the file, and what a model does with it."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from served import ZH

from treeglot import FormatError
from treeglot.base.errors import UsageError
from treeglot.cli import main
from treeglot.models import load
from treeglot.models.corrections import CorrectionWarning
from treeglot.rules.corrections import Correction, Corrections, append, remove_group
from treeglot.web.shelf import Shelf

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
        ("insert ||| [X] ||| a ||| b", "unknown action 'insert'; known: add, forbid, reweight, weigh"),
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
        ("add ||| [X] ||| a ||| b ||| ||| x", "'x' is not a feature; expected NAME=NUMBER such as p_x=0.5"),
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


@pytest.fixture
def folder(served_hiero: list[str], tmp_path: Path) -> Path:
    """A model of Chinese text that a test may change."""
    return Path(shutil.copytree(served_hiero[0], tmp_path / "zh-en"))


def ask(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_commands_correct_a_model(folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    sentence = ZH[0]
    (tmp_path / "input").write_text(sentence + "\n")
    model = load(folder)
    plain = model.translate(sentence)
    step = next(step for step in plain.derivation.steps if step.rule is not None and "[" not in step.source)
    added = f"{step.source} ||| zzz ||| ||| preferred=50"
    code, _, err = ask(capsys, "rules", folder, "--add", added, "--author", "Anna", "--group", "g7")
    assert (code, err) == (0, f"{folder / 'corrections.txt'}: 1 corrections apply\n")
    [held] = Corrections.read(folder / "corrections.txt")
    assert (held.action, held.lhs, held.source, held.author, held.group) == ("add", "X", step.source, "Anna", "g7")
    code, out, err = ask(capsys, "translate", folder, tmp_path / "input")
    assert code == 0 and "zzz" in out.lower() and err.startswith("corrections: 1 apply\n")
    code, out, _ = ask(capsys, "why", folder, sentence)
    assert code == 0 and f"  corrected add, Anna, {held.date}\n" in out
    code, out, err = ask(capsys, "rules", folder, "--source", step.source, "--whole")
    assert out.splitlines()[-1] == f"{folder / 'corrections.txt'}:1: {held}" and err.endswith("; 1 corrections\n")
    # What is forbidden is gone, whoever added it; other corrections may take the place of the model's.
    code, _, err = ask(capsys, "rules", folder, "--forbid", f"[X] ||| {step.source}", "--author", "Bea")
    assert (code, err) == (0, f"{folder / 'corrections.txt'}: 2 corrections apply\n")
    forbidden = load(folder)
    assert forbidden.corrections is not None and len(forbidden.corrections) == 2
    found = forbidden.translate(sentence)
    assert all(one.source != step.source or one.local for one in found.derivation.steps)
    assert forbidden.with_corrections(None).translate(sentence).text == plain.text
    (tmp_path / "other.txt").write_text(f"# mine\n{held}\n")
    other = forbidden.with_corrections(tmp_path / "other.txt")
    reason = next(reason for reason in other.explain(sentence).reasons if reason.step.target == "zzz")
    assert reason.correction == held and reason.probability == 1.0
    code, out, err = ask(capsys, "translate", folder, tmp_path / "input", "--corrections", tmp_path / "other.txt")
    assert code == 0 and "zzz" in out.lower() and err.startswith("corrections: 1 apply\n")


def test_bad_corrections_are_not_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = ask(capsys, "rules", folder, "--add", "a [X,1] ||| b", "--author", "A")
    assert code == 2 and "the source side has 1 variables, the target side uses 0" in err
    assert ask(capsys, "rules", folder, "--add", "a ||| b", "--source", "a")[0] == 2
    assert ask(capsys, "rules", folder, "--reweight", "a ||| b")[0] == 2
    assert not (folder / "corrections.txt").exists()
    (folder / "corrections.txt").write_text("\nadd ||| [X] ||| a ||| b ||| 0-3\n")
    with pytest.raises(
        FormatError, match=r"corrections.txt:2: link 0-3 is outside a rule of 1 source and 1 target symb"
    ):
        load(folder)
    (folder / "corrections.txt").unlink()
    (folder.parent / "elsewhere.txt").write_text("")
    (folder / "corrections.txt").symlink_to(folder.parent / "elsewhere.txt")
    with pytest.raises(FormatError, match=r"'corrections\.txt', a link that leads out of it"):
        load(folder)


def test_corrections_that_do_nothing_are_warned_of(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = {
        "forbid ||| [X] ||| nowhere ||| there": "no rule is like this, so there is nothing to forbid",
        "reweight ||| ||| nowhere ||| * ||| ||| preferred=1": "no rule is like this, so there is nothing to reweight",
        "add ||| [X] ||| [Q,1] 的 ||| [Q,1]": "never matches: no rule of the model has the label 'Q'",
        f"add ||| [X] |||{' 的' * 40} ||| a": "never matches: it has 40 symbols, and rules cover at most 10 words",
        "add ||| [NP] ||| NP( 的 ) ||| a": "never matches: it is a fragment of a tree, and a hiero model has none",
        "add ||| [X] ||| a,b ||| c": "never matches: the model's tokeniser makes 'a , b' of 'a,b'",
        "add ||| [X] ||| 的 ||| ccc ||| ||| odd=1": "feature 'odd' has no weight, so its value changes nothing",
    }
    path = folder / "corrections.txt"
    for line, problem in lines.items():
        path.write_text(f"# one\n{line}\n")
        with pytest.warns(CorrectionWarning) as caught:
            load(folder)
        assert [str(each.message) for each in caught] == [f"{path}:2: {problem}"]
    path.write_text("\n".join(["forbid ||| ||| nowhere"] * 13) + "\n")
    with pytest.warns(CorrectionWarning) as caught:
        load(folder)
    assert len(caught) == 11 and str(caught[-1].message) == "3 more corrections do nothing"
    # The command applies them when it loads the model and once more with the new ones. It speaks of these alone.
    applied, apply = list[int](), Corrections.apply
    monkeypatch.setattr(Corrections, "apply", lambda self, table: applied.append(len(self)) or apply(self, table))
    code, _, err = ask(capsys, "rules", folder, "--forbid", "[X] ||| else", "--author", "A")
    said = f"warning: {path}:14: no rule is like this, so there is nothing to forbid"
    assert (code, err.splitlines()) == (0, [said, f"{path}: 14 corrections apply"])
    assert applied == [13, 14]


def test_a_service_sees_new_corrections(folder: Path) -> None:
    shelf = Shelf([str(folder)])
    [before] = shelf
    text = before.model.translate(ZH[0]).text
    word = next(s for s in before.model.translate(ZH[0]).derivation.steps if s.rule is not None and "[" not in s.source)
    many = [Correction("add", "X", word.source, f"t{n}", author="A" * 60) for n in range(1000)]
    append(
        folder / "corrections.txt", [*many, Correction("add", "X", word.source, "zzz", features=(("preferred", 9.0),))]
    )
    assert shelf.refresh() == ["zh-en"]
    [after] = shelf
    assert after.digest != before.digest and after.model.translate(ZH[0]).text != text
    content = (folder / "corrections.txt").read_text()
    (folder / "corrections.txt").write_text(content.replace("zzz", "yyy"))
    assert shelf.refresh() == ["zh-en"]
    assert next(iter(shelf)).digest != after.digest
    (folder / "corrections.txt").write_text("no correction\n")
    assert shelf.refresh() == []  # it serves on
    assert next(iter(shelf)).model.translate(ZH[0]).text != text
