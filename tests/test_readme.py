"""The README's examples are what they say."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

import treeglot
from treeglot import sample
from treeglot.cli import main
from treeglot.models import KINDS
from treeglot.syntax import heads, to_dependency

README = (Path(__file__).parents[1] / "README.md").read_text()


def test_the_first_example() -> None:
    examples = doctest.DocTestParser().get_examples(README)
    assert any("to_dependency" in example.source for example in examples)
    tree = treeglot.Tree.parse("(S (NP (NN Bush)) (VP (VBD held) (NP (DT a) (NN talk))))")
    [shown] = [example.want for example in examples if "to_brackets" in example.source]
    assert to_dependency(tree, heads.load("english")).to_brackets() == shown.strip()


def test_everything_promised_is_there() -> None:
    assert treeglot.lm.__name__ == "treeglot.lm"
    for name in treeglot.__all__:
        assert getattr(treeglot, name) is not None


def commands(heading: str) -> list[list[str]]:
    """The commands below a heading of the README, in order."""
    text = README.split(f"## {heading}\n")[1].split("\n## ")[0].replace("\\\n", " ")
    return [shlex.split(line)[1:] for line in text.splitlines() if line.startswith("    treeglot ")]


def test_your_own_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample.write_corpus(tmp_path, 120)
    for part in ("train", "dev", "test"):
        (tmp_path / f"{part}.zh").rename(tmp_path / f"{part}.src")
        (tmp_path / f"{part}.en").rename(tmp_path / f"{part}.tgt")
    (tmp_path / "train.en.tree").rename(tmp_path / "train.tgt.tree")
    (tmp_path / "train.align").unlink()
    monkeypatch.chdir(tmp_path)
    found = commands("Your own corpus in 15 minutes")
    assert [command[0] for command in found] == ["align", "train", "tune", "translate", "score", "train"]
    for command in found:
        extra = ["--iterations", "1", "--kbest", "20", "--set", "restarts=1"] if command[0] == "tune" else []
        assert main([*command, *extra]) == 0, command
    assert len((tmp_path / "test.out").read_text().splitlines()) == len(
        (tmp_path / "test.tgt").read_text().splitlines()
    )
    assert treeglot.load("s2d").kind == "s2d"


def test_every_kind_is_in_the_table() -> None:
    table = README.split("## Models\n")[1].split("\n## ")[0]
    assert set(re.findall(r"`([\w-]+)`", table)) == set(KINDS)
