"""Commands that run out of memory end with a message of their own and exit code 3, whatever they were doing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from small_table import table

from treeglot import _core, sample
from treeglot.cli import main
from treeglot.decode import SearchOptions
from treeglot.lm import compile_ngram, train_ngram
from treeglot.models.folder import write_model
from treeglot.parse.adapters import DependencyAdapter

LIMITED = """
import resource, sys
from pathlib import Path
from treeglot import models, parse
from treeglot.cli import main
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (int(sys.argv[1]) << 20),) * 2)
sys.exit(main(sys.argv[2:]))
"""
OUT_OF_MEMORY = "error: not enough memory: std::bad_alloc"
limited = pytest.mark.skipif(
    "asan" in os.environ.get("LD_PRELOAD", "")
    or "tsan" in os.environ.get("LD_PRELOAD", "")
    or not Path("/proc/self/statm").exists(),
    reason="sanitizers end the process themselves, and the limit is Linux's",
)


def run_limited(mebibytes: int, *command: str) -> tuple[int, str]:
    """The exit code and the last line on the standard error of a command that may take so much more memory."""
    program = [sys.executable, "-c", LIMITED, str(mebibytes), *command]
    ended = subprocess.run(program, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stderr.splitlines()[-1]


@limited
def test_a_search_that_does_not_fit(tmp_path: Path) -> None:
    """All triples of so many translations: the lists that double ask for more than there is."""
    words = [f"w{i}" for i in range(330)]
    rules = [("X", "a", word, -1.0 - i / 1000) for i, word in enumerate(words)]
    table(*rules, ("X", "X b X c X", "1 2 3", -0.1)).write(str(tmp_path / "rules.table"))
    with pytest.warns(UserWarning):
        compile_ngram(train_ngram([" ".join(words[i:]) for i in range(0, 330, 30)], order=2), tmp_path / "lm.bin")
    options = SearchOptions(pop_limit=0, per_source=0, time_limit=600.0)
    write_model(tmp_path, "hiero", {"p": 1.0, "lm": 0.1}, options)
    (tmp_path / "text").write_text("a\na b a c a\na\n")
    command = ["translate", str(tmp_path), str(tmp_path / "text"), "-o", str(tmp_path / "out")]
    assert run_limited(150, *command, "--skip-bad") == (3, OUT_OF_MEMORY)
    assert not (tmp_path / "out").exists()


@limited
@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_chart_that_does_not_fit(tmp_path: Path, threads: str) -> None:
    """One sentence whose chart is many times what the process may have: the first request for it fails."""
    (tmp_path / "level0.stateInfo").write_text("ROOT\t0\t1 [0]\nS\t1\t1 [0]\nA\t2\t1 [0]\n")
    (tmp_path / "level0.grammar").write_text("ROOT_0 -> S_0 1.0\nS_0 -> S_0 S_0 0.5\nS_0 -> A_0 0.5\n")
    (tmp_path / "level0.lexicon").write_text("A a [0.5]\nA UNK [0.1]\n")
    (tmp_path / "text").write_text("a\n" + "a " * 30_000 + "\na\n")
    command = ["parse", str(tmp_path), str(tmp_path / "text"), "--threads", threads, "-o", str(tmp_path / "out.jsonl")]
    no_limits = ["--longest", "0", "--memory-limit", "0", "--time-limit", "0"]
    assert run_limited(512, *command, *no_limits) == (3, OUT_OF_MEMORY)
    assert not (tmp_path / "out.jsonl").exists()


def no_memory(*_: object) -> None:
    raise MemoryError("std::bad_alloc")


def fail_in(function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a method of the core have no memory, as the core tells it."""
    kind, _, method = function.partition(".")
    assert hasattr(getattr(_core, kind), method)
    monkeypatch.setattr(getattr(_core, kind), method, no_memory)


LM = {
    "TrainingText.feed": ["lm", "train", "text"],
    "NgramTrainer.write_arpa": ["lm", "train", "text"],
    "ArpaReader.feed": ["lm", "compile", "model.arpa", "-o", "lm.bin"],
    "ArpaReader.finish": ["lm", "compile", "model.arpa", "-o", "lm.bin"],
    "NgramModel.encode": ["lm", "score", "model.arpa", "text"],
}


@pytest.mark.parametrize(("function", "command"), LM.items(), ids=LM.keys())
def test_a_language_model(
    function: str,
    command: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("a b c\n" * 9)
    assert main(["lm", "train", "text", "--order", "2", "-o", "model.arpa"]) == 0
    fail_in(function, monkeypatch)
    capsys.readouterr()
    assert main(command) == 3
    assert capsys.readouterr().err.splitlines()[-1] == OUT_OF_MEMORY


@pytest.mark.parametrize(
    "function", ["Extractor.extract", "Tally.columns", "Renderer.source", "RuleTableBuilder.write"]
)
def test_an_extraction(
    function: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each stage of a training; the model that was there stays."""
    sample.write_corpus(tmp_path, 20)
    files = [f"--source={tmp_path / 'train.zh'}", f"--target={tmp_path / 'train.en'}"]
    command = ["train", "hiero", *files, f"--alignments={tmp_path / 'train.align'}", "-o", str(tmp_path / "model")]
    assert main(command) == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "model").iterdir()}
    fail_in(function, monkeypatch)
    capsys.readouterr()
    assert main([*command, "--force"]) == 3
    assert capsys.readouterr().err.splitlines()[-1] == OUT_OF_MEMORY
    assert {path.name: path.read_bytes() for path in (tmp_path / "model").iterdir()} == before


def test_a_parser_of_another_package() -> None:
    with pytest.raises(MemoryError):
        DependencyAdapter.load(no_memory, "model", "package")
