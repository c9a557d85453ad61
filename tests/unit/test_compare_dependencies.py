"""Analyses of one text, compared: by hand, by command, and with models."""

import json
from pathlib import Path

import pytest

from treeglot import UsageError
from treeglot.cli import main
from treeglot.evaluate.dependencies import compare_dependencies
from treeglot.syntax import Dependency, write

WORDS = ["a", "b", "c", "d"]
ONE = [Dependency(WORDS, [1, -1, 1, 2]), Dependency(WORDS, [-1, 0, 0, 0])]
OTHER = [Dependency(WORDS, [1, -1, 1, 1]), Dependency(WORDS, [3, 3, 3, -1])]
ODD = [Dependency(WORDS, [-1, 2, 1, -1]), Dependency(WORDS, [-2, -2, -2, -2])]  # a cycle and two roots; no parse
CROSSING = [Dependency(WORDS, [2, 3, -1, 2]), Dependency([], [])]


def test_agreement_of_every_pair() -> None:
    found = compare_dependencies({"one": ONE, "other": OTHER, "odd": ODD})
    assert list(found.agreement) == [("one", "other"), ("one", "odd"), ("other", "odd")]
    both = found.between("other", "one")
    assert (both.roots, both.heads, both.sentences, both.words) == (0.5, 3 / 8, 2, 8)
    odd = found.between("one", "odd")
    assert (odd.roots, odd.heads, odd.sentences, odd.words) == (0.0, 1 / 4, 1, 4)


def test_accuracy_and_illegal_trees() -> None:
    found = compare_dependencies({"one": ONE, "odd": ODD, "crossing": CROSSING}, gold=ONE[:1])
    assert (found.accuracy["one"].precision, found.accuracy["one"].recall) == (1.0, 1.0)
    assert (found.accuracy["odd"].correct, found.accuracy["odd"].given, found.accuracy["odd"].wanted) == (1, 4, 4)
    missing = [Dependency(WORDS, [1, -2, -2, 1]), ONE[1]]
    accuracy = compare_dependencies({"missing": missing}, gold=ONE[:1]).accuracy["missing"]
    assert (accuracy.precision, accuracy.recall) == (0.5, 0.25)
    trees = found.trees["odd"]
    assert (trees.sentences, trees.unparsed, trees.several_roots, trees.cycles, trees.illegal) == (2, 1, 1, 1, 1)
    assert (found.trees["crossing"].nonprojective, found.trees["crossing"].illegal) == (1, 1)
    assert found.trees["one"].illegal == 0


def test_other_texts_are_refused() -> None:
    with pytest.raises(UsageError, match="b has 1 sentences; expected 2, as a has"):
        compare_dependencies({"a": ONE, "b": ONE[:1]})
    with pytest.raises(UsageError, match="sentence 1 has 1 words in b, 4 in a: it is another text"):
        compare_dependencies({"a": ONE, "b": [Dependency(["x"], [-1]), ONE[1]]})
    with pytest.raises(UsageError, match="there are 2 gold trees for 1 sentences"):
        compare_dependencies({"a": ONE[:1]}, gold=ONE)
    with pytest.raises(UsageError, match="there is nothing to compare"):
        compare_dependencies({})


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, trees in (("one", ONE), ("other", OTHER), ("odd", ODD)):
        write(tmp_path / f"{name}.conllu", trees)
    (tmp_path / "text.txt").write_text("a b c d\na b c d\n")
    files = [str(tmp_path / f"{name}.conllu") for name in ("one", "other", "odd")]
    page = tmp_path / "page.html"
    assert main(["compare-dependencies", *files, "--gold", files[0], "--text", str(tmp_path / "text.txt")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:3] == ["roots \\ heads   one  other  odd", "one               –   50.0  0.0"]
    assert lines[3] == "other          37.5      –  0.0"
    assert lines[-1].split() == ["odd", "2", "1", "1", "1", "1", "0", "25.0", "12.5"]
    assert main(["compare-dependencies", *files, "--json", "--html", str(page), "-q"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["agreement"][0] == {"pair": ["one", "other"], "roots": 0.5, "heads": 0.375, "sentences": 2, "words": 8}
    html = page.read_text()
    assert html.count("<table") == 3 and html.count('<td style="background: #') == 12 and ">37.5</td>" in html


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["one.conllu", "one.conllu"], "two are called 'one': give them names, NAME=FILE"),
        (["one.conllu", "--text", "short.txt"], "sentence 2: it has 4 words; its sentence in short.txt has 1"),
        (["one.conllu", "--text", "other.txt"], "one.conllu: sentence 1: word 4 is 'd'; in other.txt it is 'e'"),
        (["=one.conllu"], "'=one.conllu' has no name; expected NAME=FILE"),
        (["one="], "'one=' has no file; expected NAME=FILE"),
    ],
)
def test_bad_usage(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    write("one.conllu", ONE)
    Path("short.txt").write_text("a b c d\na\n")
    Path("other.txt").write_text("A b c e\na b c d\n")
    assert main(["compare-dependencies", *arguments]) != 0
    assert message in capsys.readouterr().err.replace("\n", " ")


def test_unknown_predicates_are_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.enju"
    path.write_text('<sentence id="s"><tok id="t" pred="odd_arg1" arg1="t">a</tok></sentence>\n')
    assert main(["compare-dependencies", str(path)]) == 0
    expected = f"warning: {path}: 1 predicates of unknown types, their arcs are skipped: odd_arg1 (1)\n"
    assert capsys.readouterr().err == expected
