"""Commands with bad input, bad paths and pipes: nothing is lost, nothing waits, nothing fails silently."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

from treeglot import sample
from treeglot.base import files as reading
from treeglot.base.errors import FormatError
from treeglot.base.files import batches, iterate_lines
from treeglot.cli import board, decoding, main
from treeglot.cli.app import describe
from treeglot.decode import Translator
from treeglot.decode.weights import write_weights
from treeglot.evaluate import page as evaluate_page
from treeglot.evaluate.report import score_systems
from treeglot.experiment import Pipeline, report
from treeglot.experiment.step import Step, Task
from treeglot.models import load
from treeglot.rules import compile_table
from treeglot.syntax.draw.page import page
from treeglot.syntax.formats import read_dependencies

STATES = "ROOT\t0\t1 [0]\nS\t1\t1 [0]\nA\t2\t1 [0]\n"
RULES = "ROOT_0 -> S_0 1.0\nS_0 -> S_0 S_0 0.5\nS_0 -> A_0 0.5\n"
LEXICON = "A a [0.5]\nA UNK [0.1]\n"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    sample.write_corpus(folder, 80)
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


def test_weights_that_cannot_be_read_are_only_replaced_by_force(corpus: Path, model: Path, capsys) -> None:
    write_weights(model / "weights.txt", {**load(model).weights, "lm": 0.75})
    toml = model / "model.toml"
    toml.write_text(toml.read_text() + "beem = 5\n")
    before = content(model)
    assert main(training(corpus, model)) == 2
    assert "expected --force to replace the model, or another folder" in capsys.readouterr().err
    assert content(model) == before


def test_a_model_is_replaced_whatever_interrupts_it(model: Path, tmp_path: Path, monkeypatch) -> None:
    """Interrupted after any number of its files: the folder has one whole model again when it is opened."""
    new = Path(shutil.copytree(model, tmp_path / "new"))
    write_weights(new / "weights.txt", {**load(model).weights, "lm": 0.75})
    replace = os.replace
    for moved in range(len(content(new))):
        folder = Path(shutil.copytree(model, tmp_path / str(moved)))
        shutil.copytree(new, folder / ".next")
        left = iter(range(moved))

        def interrupted(*given: object, left: Iterator[int] = left, **more: object) -> None:
            if next(left, None) is None:
                raise KeyboardInterrupt
            replace(*given, **more)  # type: ignore[arg-type]

        with monkeypatch.context() as context:
            context.setattr(os, "replace", interrupted)
            with pytest.raises(KeyboardInterrupt):
                load(folder)
        assert load(folder).weights["lm"] == 0.75
        assert content(folder) == content(new)


def test_a_folder_and_a_file_of_one_name_replace_each_other(model: Path, tmp_path: Path) -> None:
    """As a grammar's folder and the file of another parser do."""
    new = Path(shutil.copytree(model, tmp_path / "new"))
    for path in (model / "parser", new / "other"):
        path.write_text("a file")
    for path in (model / "other", new / "parser"):
        path.mkdir()
        (path / "inside").write_text("in a folder")
    new.rename(model / ".next")
    assert load(model).kind == "hiero"
    assert (model / "parser" / "inside").is_file()
    assert (model / "other").is_file()
    assert not (model / ".next").exists()


def test_a_training_that_is_interrupted_when_it_is_done(corpus: Path, model: Path, monkeypatch) -> None:
    write_weights(model / "weights.txt", {**load(model).weights, "lm": 0.75})
    with monkeypatch.context() as context:
        context.setattr(
            import_module("treeglot.models.train"), "move_in", lambda folder: (folder / ".next").is_dir() and 1 / 0
        )
        assert main([*training(corpus, model), "--force"]) == 1
    assert load(model).weights["lm"] != 0.75
    assert not (model / ".next").exists()


@pytest.mark.parametrize("name", ["rules", "lm", "weights"])
@pytest.mark.parametrize("path", ["/dev/zero", "../weights.txt", "a/../../b", "a\\u0000b"])
def test_a_model_opens_files_of_its_own_alone(model: Path, name: str, path: str, capsys) -> None:
    toml = model / "model.toml"
    toml.write_text(f'{name} = "{path}"\n' + toml.read_text())
    assert main(["translate", str(model), os.devnull]) == 1
    assert f"error: {toml}:1: {name} is " in (said := capsys.readouterr().err)
    assert "expected a file in the model's folder" in said


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


def test_limits_of_more_than_clocks_and_memory_have(grammar: Path, capsys, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("a a\n")
    command = ["parse", str(grammar), str(tmp_path / "in"), "--trees"]
    assert main([*command, "--time-limit", "1e300", "--memory-limit", "1e300"]) == 0
    assert capsys.readouterr().out == "(S (S (A a)) (S (A a)))\n"


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


def test_a_line_does_not_wait_for_the_end_of_the_next(monkeypatch) -> None:
    """Half a line comes when the whole one before it has been read."""
    out, into = os.pipe()
    monkeypatch.setattr(sys, "stdin", os.fdopen(out))
    os.write(into, b"a\n")
    waits, halves = reading._input_waits, [b"half"]

    def half_a_line() -> bool:
        if halves:
            os.write(into, halves.pop())
        return waits()

    monkeypatch.setattr(reading, "_input_waits", half_a_line)
    watchdog = threading.Timer(60, os.close, [into])  # whoever waits for the end of the line gets it then
    watchdog.start()
    lines = batches(iterate_lines("-"), 10)
    assert next(lines) == ["a"]
    watchdog.cancel()
    os.write(into, b" a line\nlast")
    assert next(lines) == ["half a line"]
    os.close(into)
    assert list(lines) == [["last"]]


def test_lines_that_wait_are_taken_together(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_text("a\n" * 7)
    assert [len(batch) for batch in batches(iterate_lines(path), 3)] == [3, 3, 1]


@pytest.mark.parametrize("more", [[], ["--json"]], ids=["text", "json"])
def test_an_interrupted_translation_goes_on(
    corpus: Path, model: Path, tmp_path: Path, more: list[str], monkeypatch
) -> None:
    source, out, whole = corpus / "train.zh", tmp_path / "out", tmp_path / "whole"
    command = ["translate", str(model), str(source), *more]
    assert main([*command, "-o", str(whole)]) == 0
    monkeypatch.setattr(decoding, "BATCH", 10)
    translate_batch = Translator.translate_batch
    batch_sizes: list[int] = []

    def interrupted(self: Translator, sources: list[str], *given: object, **named: object) -> object:
        batch_sizes.append(len(sources))
        if len(batch_sizes) == 3:
            raise KeyboardInterrupt
        return translate_batch(self, sources, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Translator, "translate_batch", interrupted)
    assert main([*command, "-o", str(out), "--resume"]) == 130
    assert not out.exists()
    (partial,) = tmp_path.glob(".out.*.partial")
    with partial.open("ab") as stream:
        stream.write(b"half a line")
    assert main([*command, "-o", str(out), "--resume"]) == 0
    assert out.read_bytes() == whole.read_bytes()
    assert sum(batch_sizes) == len(source.read_text().splitlines()) + 10  # those of the batch that failed
    assert not list(tmp_path.glob(".out.*"))


def test_a_translation_into_the_folder_of_the_model_goes_on(model: Path, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "in").write_text("a\nb\n")
    command = ["translate", str(model), str(tmp_path / "in"), "-o", str(model / "out"), "--resume"]
    with monkeypatch.context() as context:
        context.setattr(Translator, "translate_batch", lambda *_: 1 / 0)
        assert main(command) == 1
        [first] = model.glob(".out.*.partial")
        assert main(command) == 1
    assert list(model.glob(".out.*.partial")) == [first]
    assert main(command) == 0
    assert (model / "out").read_text() == "a\nb\n"
    assert not list(model.glob(".out.*"))


def test_a_translation_that_goes_on_remembers_bad_lines(model: Path, tmp_path: Path, capsys, monkeypatch) -> None:
    source, out = tmp_path / "in", tmp_path / "out"
    source.write_text("a\na\x07b\n\nb\n")
    command = ["translate", str(model), str(source), "-o", str(out), "--resume"]
    monkeypatch.setattr(decoding, "BATCH", 3)
    translate_batch = Translator.translate_batch

    def interrupted(self: Translator, sources: list[str], *given: object, **named: object) -> object:
        if "b" in sources:
            raise KeyboardInterrupt
        return translate_batch(self, sources, *given, **named)  # type: ignore[arg-type]

    for more in ([], ["--json"]):
        with monkeypatch.context() as context:
            context.setattr(Translator, "translate_batch", interrupted)
            assert main([*command, *more]) == 130
        capsys.readouterr()
        assert main([*command, *more]) == 1
        said = capsys.readouterr().err
        assert f"warning: {source}:2: " in said
        assert "error: 1 of 4 inputs could not be translated" in said


def test_a_translation_goes_on_with_the_same_search_alone(model: Path, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "in").write_text("a\n")
    command = ["translate", str(model), str(tmp_path / "in"), "-o", str(tmp_path / "out"), "--resume"]
    with monkeypatch.context() as context:
        context.setattr(Translator, "translate_batch", lambda *_: 1 / 0)
        assert main(command) == 1
        toml = model / "model.toml"
        toml.write_text(re.sub(r"pop_limit = \d+", "pop_limit = 7", toml.read_text()))
        assert main(command) == 1
    assert len(list(tmp_path.glob(".out.*.partial"))) == 2


def test_two_runs_do_not_go_on_at_once(model: Path, tmp_path: Path, capsys, monkeypatch) -> None:
    (tmp_path / "in").write_text("a\n")
    (tmp_path / "link").symlink_to("out")
    command = ["translate", str(model), str(tmp_path / "in"), "-o", str(tmp_path / "link"), "--resume"]
    translate_batch = Translator.translate_batch
    codes: list[int] = []

    def twice(self: Translator, *given: object, **named: object) -> object:
        codes.append(main(command))
        return translate_batch(self, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Translator, "translate_batch", twice)
    assert main(command) == 0
    assert codes == [2]
    assert "another run of the same command writes" in capsys.readouterr().err
    assert (tmp_path / "out").read_text() == "a\n"
    assert (tmp_path / "link").is_symlink()


def test_what_cannot_be_resumed_is_refused(corpus: Path, model: Path, tmp_path: Path, capsys) -> None:
    command = ["translate", str(model), str(corpus / "test.zh"), "--resume"]
    assert main(command) == 2
    assert "--resume is for --out FILE alone" in capsys.readouterr().err
    os.mkfifo(tmp_path / "pipe")
    assert main([*command, "-o", str(tmp_path / "pipe")]) == 2
    assert "--resume is for --out FILE alone" in capsys.readouterr().err
    assert main([*command, "-o", str(tmp_path / "x"), "--kbest", "2"]) == 2
    assert "--resume is for uncompressed output with one line per sentence" in capsys.readouterr().err


def test_data_that_cannot_be_right(corpus: Path, model: Path, tmp_path: Path, capsys) -> None:
    chinese, glued = tmp_path / "glued.zh", tmp_path / "out"
    chinese.write_text("".join("一二三四五六七八九十" * 5 + f"{n}\n" for n in range(30)))
    english = tmp_path / "one.en"
    english.write_text("word\n" * 30)
    assert main(["align", str(chinese), str(english), "-o", str(glued)]) == 0
    said = capsys.readouterr().err
    assert f"warning: {chinese}: 30 of 30 lines are long and have no blanks" in said
    assert f"warning: {english}: 30 of 30 lines are a single token" in said
    target = corpus / "train.en"
    given = [f"--source={target}", f"--target={target}", f"--alignments={corpus / 'train.align'}"]
    main(["align", str(target), str(target), "-o", str(tmp_path / "same.align")])
    assert "lines are the same in both languages" in capsys.readouterr().err
    given[2] = f"--alignments={tmp_path / 'same.align'}"
    assert main(["train", "hiero", *given, "-o", str(tmp_path / "same")]) == 0
    assert f"warning: {target}: 70 of 70 lines are the same in both languages" in capsys.readouterr().err
    assert main(["translate", str(model), str(target), "-o", str(glued)]) == 0
    assert f"warning: {target}: the model does not know" in capsys.readouterr().err


def test_tags_in_the_other_column(tmp_path: Path, capsys) -> None:
    files = {"t.conllu": "1\tdas\t_\t_\tDT\t_\t2\tdet\t_\t_\n2\tHaus\t_\t_\tNN\t_\t0\troot\t_\t_\n\n"}
    files |= {"t.de": "das Haus\n", "t.en": "the house\n", "t.align": "0-0 1-1\n"}
    names = ("source-dependencies", "source", "target", "alignments")
    given = [f"--{option}={tmp_path / name}" for option, name in zip(names, files, strict=True)]
    command = ["train", "dep2str", *given, "-o", str(tmp_path / "model")]
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert [tree.tags for tree in read_dependencies(tmp_path / "t.conllu")] == [["DT", "NN"]]
    assert main(command) == 0
    (tmp_path / "t.conllu").write_text(files["t.conllu"].replace("DT", "_").replace("NN", "_"))
    assert main([*command, "--force"]) == 1
    assert "t.conllu: tree 1: it has no tags; rules of dependency trees need them" in capsys.readouterr().err


def test_a_damaged_parquet_file_is_no_bug(model: Path, tmp_path: Path) -> None:
    path = model / "rules.parquet"
    content = bytearray(path.read_bytes())
    content[100:200] = bytes(100)
    path.write_bytes(content)
    for damaged in (bytes(content), content[:-100], b"PAR1"):
        path.write_bytes(damaged)
        with pytest.raises(FormatError, match=r"rules\.parquet: is a damaged Parquet file: "):
            compile_table(path, tmp_path / "rules.table")


@pytest.mark.parametrize(("name", "value"), [("lm", "1e300"), ("lm", "-3.5e38"), ("p", "3.5e38")])
def test_weights_that_are_too_large_are_no_bug(model: Path, tmp_path: Path, name: str, value: str, capsys) -> None:
    weights, grammar = tmp_path / "weights", tmp_path / "grammar"
    weights.write_text(f"{name} {value}\n")
    grammar.write_text("[X] ||| a ||| b ||| p=1\n")
    command = ["decode", f"--grammar={grammar}"] if name == "p" else ["translate", str(model)]
    assert main([*command, os.devnull, f"--weights={weights}"]) == 1
    assert f"error: {weights}:1: the weight of {name} is '{value}'; expected a finite number" in capsys.readouterr().err


def test_no_more_threads_is_no_bug() -> None:
    assert describe(RuntimeError("can't start new thread")) == ("no more threads: can't start new thread", 3)


def test_a_file_that_memory_has_no_room_for_is_lack_of_memory() -> None:
    error = OSError(errno.ENOMEM, os.strerror(errno.ENOMEM), "lm.bin")
    assert describe(error) == ("lm.bin: Cannot allocate memory", 3)


def test_tuning_names_the_iteration_of_the_score(corpus: Path, model: Path, capsys) -> None:
    dev = [f"--dev={corpus / 'dev.zh'}", f"--refs={corpus / 'dev.en'}", "--iterations=2", "--kbest=5"]
    assert main(["tune", str(model), *dev]) == 0
    said = capsys.readouterr().err
    scores = dict(re.findall(r"iteration (\d+): BLEU ([\d.]+)", said))
    best = re.search(r"best: iteration (\d+), BLEU ([\d.]+), with the weights from", said)
    assert best is not None
    assert scores[best[1]] == best[2]


def test_a_log_of_a_run(tmp_path: Path, capsys, monkeypatch) -> None:
    """A new step begins without a reason, and what it says is passed on; a plan beside it says that it runs."""
    monkeypatch.setattr(board, "LOG_INTERVAL", 0.0)
    plans: list[str] = []

    def talk(task: Task) -> None:
        task.report("iteration 1: BLEU 3.00")
        plans.extend(planned.reason for planned in Pipeline([Step("talk", talk, {})], tmp_path).plan())

    Pipeline([Step("talk", talk, {})], tmp_path).run(watcher=board.Lines())
    said = capsys.readouterr().err.splitlines()
    assert said[:3] == ["1 steps, 0 of them done before", "talk: begins", "talk: iteration 1: BLEU 3.00"]
    assert plans == ["it is running"]


def test_pages_have_a_dark_mode() -> None:
    reports = score_systems({"a": ["a b"]}, [["a b"]], metrics=["bleu"])
    experiment = report.page({"title": "x", "baseline": "a", "systems": [], "tests": {}})
    for html in (page("x", []), evaluate_page.page(reports, ["reference"]), experiment):
        assert "@media (prefers-color-scheme: dark)" in html
    assert experiment.index("main.append(sentences(test))") < experiment.index("section('Time')")
