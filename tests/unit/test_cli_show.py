"""`treeglot show`: which value is drawn, where to, and the words when there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from treeglot.cli import main
from treeglot.syntax import Alignment, Dependency, ParseForest, Tree, write
from treeglot.syntax.draw import Screen, page, to_html, to_svg, to_text

TREES = [Tree.parse(f"(S (NP (N {word})) (VP (V runs)))") for word in ("one", "two", "three")]


@pytest.fixture
def show(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    """Runs `treeglot show` in a folder with a few files."""
    monkeypatch.chdir(tmp_path)
    write("a.tree", TREES)
    write("a.jsonl", [ParseForest.from_tree(tree) for tree in TREES])
    write("a.conllu", [Dependency(tree.words, [1, -1]) for tree in TREES])
    write("a.align", [Alignment.parse("0-0 1-1")] * 2 + [Alignment.parse("0-0 1-5")])
    write("a.txt", [tree.words for tree in TREES])
    write("short.txt", [TREES[0].words])

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(["show", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_the_first(show) -> None:
    assert show("a.tree") == (0, to_text(TREES[0]) + "\n", "")


@pytest.mark.parametrize("choice", [["--index", "2"], ["--line", "2"]])
def test_one_of_them(show, choice: list[str]) -> None:
    assert show("a.tree", *choice) == (0, to_text(TREES[1]) + "\n", "")


@pytest.mark.parametrize("index", ["2-3", "2-"])
def test_several(show, index: str) -> None:
    wanted = f"tree 2\n{to_text(TREES[1])}\ntree 3\n{to_text(TREES[2])}\n"
    assert show("a.tree", "--index", index) == (0, wanted, "")


@pytest.mark.parametrize(("line", "word"), [(1, "one"), (2, "one"), (3, "one"), (4, "two"), (5, "two"), (9, "three")])
def test_the_line_of_a_format_with_many(show, line: int, word: str) -> None:
    """A sentence and the blank line after it take three lines."""
    assert f"{word} runs" in show("a.conllu", "--line", str(line))[1]


def test_lines_in_files_larger_than_a_chunk(show, tmp_path: Path) -> None:
    write("large.tree", TREES * 20_000)
    (tmp_path / "large.tree").stat()
    assert show("large.tree", "--line", "59998")[1] == to_text(TREES[0]) + "\n"


def test_a_forest(show) -> None:
    code, out, _ = show("a.jsonl", "--index", "3")
    assert code == 0
    assert out == to_text(ParseForest.from_tree(TREES[2])) + "\n"


def test_an_alignment(show) -> None:
    words = {"source": ["one", "runs"], "target": ["one", "runs"]}
    wanted = to_text(Alignment.parse("0-0 1-1"), **words) + "\n"
    assert show("a.align", "--source", "a.txt", "--target", "a.tree") == (0, wanted, "")
    assert show("a.align")[1] == to_text(Alignment.parse("0-0 1-1")) + "\n"


def test_how_it_is_drawn(show) -> None:
    assert show("a.tree", "--width", "5")[1] == to_text(TREES[0], layout="down") + "\n"
    assert show("a.tree", "--layout", "down")[1] == to_text(TREES[0], layout="down") + "\n"
    assert show("a.tree", "--colour")[1] == to_text(TREES[0], Screen(colour=True)) + "\n"


def test_svg(show) -> None:
    assert show("a.tree", "--svg", "a.svg", "--index", "2") == (0, "", "")
    assert Path("a.svg").read_text(encoding="utf-8") == to_svg(TREES[1])


def test_html(show) -> None:
    assert show("a.tree", "--html", "a.html", "--index", "1-2") == (0, "", "")
    sections = [("tree 1", to_html(TREES[0])), ("tree 2", to_html(TREES[1]))]
    assert Path("a.html").read_text(encoding="utf-8") == page("a.tree", sections)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["a.txt"], 2, "a.txt holds text, in which there is nothing to draw"),
        (["b.tree"], 1, "b.tree: No such file or directory"),
        (["a.tree", "--index", "4"], 1, "a.tree holds 3 trees: there is no number 4"),
        (["a.tree", "--index", "9-"], 1, "a.tree holds 3 trees: there is no number 9"),
        (["a.tree", "--line", "5"], 1, "a.tree has 3 lines: there is no line 5"),
        (["a.tree", "--index", "0"], 2, "--index 0: expected a number from 1 on, or a range such as 7-9 or 7-"),
        (["a.tree", "--index", "3-2"], 2, "--index 3-2: expected a number from 1 on, or a range such as 7-9 or 7-"),
        (["a.tree", "--index", "x"], 2, "--index x: expected a number from 1 on, or a range such as 7-9 or 7-"),
        (["a.tree", "--index", "9" * 20], 2,
         f"--index {'9' * 20}: expected a number from 1 on, or a range such as 7-9 or 7-"),
        (["a.tree", "--line", "9" * 18], 1, f"a.tree has 3 lines: there is no line {int('9' * 18):,}"),
        (["a.align", "--source", "a.align"], 2, "a.align holds alignments; expected text or parses"),
        (["a.tree", "--svg", "x", "--index", "1-2"], 2, "an SVG file holds one drawing: give one number and no --html"),
        (["a.tree", "--source", "a.txt"], 2, "--source and --target are for alignments; a.tree holds trees"),
        (["a.tree", "--limit", "3"], 1, "a.tree: number 1: a tree of 7 nodes is not drawn: the limit is 3"),
        (["-", "--format", "brackets", "--line", "2"], 2,
         "--line reads FILE twice, which standard input does not allow; --index reads it once"),
        (["a.align", "--source", "a.txt", "--target", "a.txt", "--index", "3"], 1,
         "a.align: number 3: link 1-5: the target sentence has 2 words"),
        (["a.align", "--source", "short.txt", "--index", "2"], 1, "short.txt has no sentence 2"),
    ],
)  # fmt: skip
def test_refusals(show, arguments: list[str], code: int, message: str) -> None:
    assert show(*arguments) == (code, "", f"error: {message}\n")


def test_a_terminal_without_unicode(show) -> None:
    write("zh.tree", [Tree.parse("(S (NP (N 布什)) (VP (V 来)))")])
    done = subprocess.run(
        [sys.executable, "-m", "treeglot", "show", "zh.tree"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\u5e03\\u4ec0  \\u6765" in done.stdout
    assert done.stdout.isascii()
