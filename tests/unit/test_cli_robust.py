"""Commands with bad input, bad paths and pipes: nothing is lost, nothing waits, nothing fails silently."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from treeglot import sample
from treeglot.base.files import batches, iterate_lines
from treeglot.cli import main
from treeglot.decode.weights import write_weights
from treeglot.models import load

STATES = "ROOT\t0\t1 [0]\nS\t1\t1 [0]\nA\t2\t1 [0]\n"
RULES = "ROOT_0 -> S_0 1.0\nS_0 -> S_0 S_0 0.5\nS_0 -> A_0 0.5\n"
LEXICON = "A a [0.5]\nA UNK [0.1]\n"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    sample.write_corpus(folder, 80, 2)
    return folder


def training(corpus: Path, out: Path) -> list[str]:
    files = [f"--source={corpus / 'train.zh'}", f"--target={corpus / 'train.en'}"]
    return ["train", "hiero", *files, f"--alignments={corpus / 'train.align'}", "-o", str(out)]


@pytest.fixture(scope="module")
def trained(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = tmp_path_factory.mktemp("trained") / "model"
    assert main(training(corpus, model)) == 0
    return model


@pytest.fixture
def model(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "model"))


@pytest.fixture
def grammar(tmp_path: Path) -> Path:
    folder = tmp_path / "grammar"
    folder.mkdir()
    for level in range(2):
        states = STATES.replace("[0]", "[0 [0]]") if level else STATES
        for name, text in (("stateInfo", states), ("grammar", RULES), ("lexicon", LEXICON)):
            (folder / f"level{level}.{name}").write_text(text)
    return folder


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_training_that_fails_keeps_the_old_model(corpus: Path, model: Path, capsys) -> None:
    before = content(model)
    bad = model.parent / "bad.align"
    bad.write_text((corpus / "train.align").read_text()[:-3] + "9:9\n")
    assert main([*training(corpus, model), f"--alignments={bad}"]) == 1
    assert content(model) == before
    assert main([*training(corpus, model), "--lm", str(bad)]) == 1  # when the rules are done
    assert content(model) == before
    assert load(model).kind == "hiero"
    assert "error:" in capsys.readouterr().err


def test_a_training_that_fails_leaves_no_folder(corpus: Path, tmp_path: Path) -> None:
    assert main([*training(corpus, tmp_path / "deep" / "model"), "--lm", str(corpus / "train.en")]) == 1
    assert list(tmp_path.iterdir()) == []


def test_tuned_weights_are_only_replaced_by_force(corpus: Path, model: Path, capsys) -> None:
    write_weights(model / "weights.txt", {**load(model).weights, "lm": 0.75})
    before = content(model)
    assert main(training(corpus, model)) == 2
    assert f"{model} has a model with tuned weights; expected --force, or another folder" in capsys.readouterr().err
    assert content(model) == before
    assert main([*training(corpus, model), "--force"]) == 0
    assert content(model) != before
    assert main(training(corpus, model)) == 0


def test_windows_line_ends(corpus: Path, model: Path, tmp_path: Path) -> None:
    """Every command gives the same bytes as for the same files with line feeds alone."""
    there = tmp_path / "windows"
    there.mkdir()
    for name in (
        "train.zh",
        "train.en",
        "train.align",
        "test.zh",
        "train.zh.forest",
        "train.en.conllu",
        "train.en.tree",
    ):
        if (corpus / name).is_file():
            (there / name).write_bytes((corpus / name).read_bytes().replace(b"\n", b"\r\n"))
    outputs = []
    for files in (corpus, there):
        out = tmp_path / f"out-{files.name}"
        out.mkdir()
        assert main(["align", str(files / "train.zh"), str(files / "train.en"), "-o", str(out / "links")]) == 0
        assert main(["lm", "train", str(files / "train.en"), "-o", str(out / "arpa")]) == 0
        assert main([*training(files, out / "model")]) == 0
        assert main(["translate", str(model), str(files / "test.zh"), "-o", str(out / "translated")]) == 0
        outputs.append(
            content(out / "model") | {name: (out / name).read_bytes() for name in ("links", "arpa", "translated")}
        )
    assert outputs[0] == outputs[1]
    assert outputs[0]["translated"].strip()


def test_lines_that_cannot_be_translated_are_an_error(model: Path, tmp_path: Path, capsys) -> None:
    source, out = tmp_path / "in", tmp_path / "out"
    source.write_text("a\na\x07b\n")
    assert main(["translate", str(model), str(source), "-o", str(out)]) == 1
    said = capsys.readouterr().err
    assert f"warning: {source}:2: " in said
    assert "error: 1 of 2 inputs could not be translated; --skip-bad accepts that" in said
    assert out.read_text() == "a\n\n"
    assert main(["translate", str(model), str(source), "-o", str(out), "--skip-bad"]) == 0


@pytest.mark.parametrize(
    "command",
    [
        ["align", "IN", "IN", "-o", "OUT"],
        ["convert", "IN", "OUT", "--from", "brackets", "--to", "brackets"],
        ["lm", "train", "IN", "-o", "OUT"],
        ["lm", "compile", "IN", "-o", "OUT"],
        ["parse", "IN", "IN", "-o", "OUT"],
        ["parse", "IN", "IN", "--report", "OUT"],
        ["translate", "IN", "IN", "-o", "OUT"],
        ["translate", "IN", "IN", "--forest", "OUT"],
        ["translate", "IN", "IN", "--html", "OUT"],
        ["translate", "IN", "IN", "--svg", "OUT"],
        ["translate", "IN", "IN", "--dependencies", "OUT"],
        ["decode", "IN", "-o", "OUT"],
        ["score", "IN", "IN", "--html", "OUT"],
        ["show", "IN", "--html", "OUT"],
        ["show", "IN", "--svg", "OUT"],
    ],
    ids=" ".join,
)
def test_outputs_are_checked_before_the_work(command: list[str], tmp_path: Path, capsys) -> None:
    """IN is not there either: it would be the error if the output were not checked first."""
    given = {"IN": str(tmp_path / "missing"), "OUT": str(tmp_path / "nonexist" / "x")}
    assert main([given.get(word, word) for word in command]) == 1
    assert f"error: {given['OUT']}: No such file or directory" in capsys.readouterr().err


def test_folders_are_checked_before_the_work(corpus: Path, tmp_path: Path, capsys) -> None:
    (tmp_path / "file").touch()
    assert main(training(corpus, tmp_path / "file" / "model")) == 1
    assert f"error: {tmp_path / 'file'}: Not a directory" in capsys.readouterr().err
    assert main(["align", "missing", "missing", "-o", str(tmp_path)]) == 1
    assert f"error: {tmp_path}: Is a directory" in capsys.readouterr().err


def test_quiet_drops_warnings(model: Path, tmp_path: Path, capsys) -> None:
    source = tmp_path / "in"
    source.write_text("a\x07b\n")
    assert main(["translate", str(model), str(source), "--skip-bad", "-q"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("gone", ["level1.grammar", "level1.lexicon", "level0.stateInfo"])
def test_a_half_copied_grammar_is_refused(grammar: Path, gone: str, capsys) -> None:
    (grammar / gone).unlink()
    assert main(["parse", str(grammar), os.devnull]) == 1
    assert f"{grammar}: is not a grammar: it has no {gone}" in capsys.readouterr().err


def test_a_grammar_without_a_level_between_is_refused(grammar: Path, capsys) -> None:
    for path in grammar.glob("level1.*"):
        path.rename(path.with_name(path.name.replace("1", "2")))
    assert main(["parse", str(grammar), os.devnull]) == 1
    assert "it has no level1.stateInfo" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "status", "words"),
    [
        (["--longest", "5"], "too_long", "longer than --longest: flat trees (line 2)"),
        (["--memory-limit", "0.000001"], "too_large", "given up for lack of memory (--memory-limit): flat trees"),
        (["--time-limit", "1e-9"], "late", "given up when time was up: flat trees"),
    ],
)
def test_limits_of_a_sentence(
    grammar: Path, tmp_path: Path, options: list[str], status: str, words: str, capsys
) -> None:
    text, report = tmp_path / "in", tmp_path / "report"
    text.write_text("a a\n" + "a " * 20 + "\n")
    assert main(["parse", str(grammar), str(text), "--trees", f"--report={report}", *options]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[1] == "(S" + " (A a)" * 20 + ")"
    assert report.read_text().splitlines()[2].split("\t")[2] == status
    assert words in err


def test_a_sentence_of_thousands_of_words_has_a_flat_tree(grammar: Path, tmp_path: Path, capsys) -> None:
    text = tmp_path / "in"
    text.write_text("a " * 3000 + "\n")
    assert main(["parse", str(grammar), str(text), "--trees"]) == 0
    assert capsys.readouterr().out == "(S" + " (A a)" * 3000 + ")\n"


Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start() -> Start:
    def begin(*arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "treeglot", *arguments]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    return begin


def answers(process: subprocess.Popen[bytes], lines: list[str]) -> list[bytes]:
    """What comes back for each line before the next is sent; a command that waits for more would hang here."""
    assert process.stdin is not None
    assert process.stdout is not None
    out = []
    with process:
        for line in lines:
            process.stdin.write(f"{line}\n".encode())
            process.stdin.flush()
            out.append(process.stdout.readline())
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait(60) == 0
    return out


def test_each_line_is_answered_as_it_arrives(model: Path, grammar: Path, tmp_path: Path, start: Start) -> None:
    assert answers(start("translate", str(model), "-"), ["a", "b b"]) == [b"a\n", b"b b\n"]
    assert answers(start("parse", str(grammar), "-", "--trees"), ["a", "a a"])[0] == b"(S (A a))\n"
    assert len(answers(start("parse", str(grammar), "-"), ["a", "a a"])) == 2
    assert len(answers(start("lm", "score", str(model / "lm.bin"), "-"), ["a", "b b"])) == 2
    table = ["--grammar", str(model / "rules.table"), "--weights", str(model / "weights.txt"), "--format", "table"]
    assert answers(start("decode", "-", *table), ["a", "b b"]) == [b"a\n", b"b b\n"]


def test_lines_that_wait_are_taken_together(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_text("a\n" * 7)
    assert [len(batch) for batch in batches(iterate_lines(path), 3)] == [3, 3, 1]
