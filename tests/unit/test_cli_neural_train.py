"""The command `treeglot neural train`: its files, what it refuses, and what a kill leaves."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from neural_models import CONSTITUENTS, DEPENDENCIES, parsed_pairs, written
from neural_models import linked_pairs as pairs

from treeglot.cli import main
from treeglot.neural.options import JointOptions
from treeglot.neural.train import ParsedPair, load_joint, train_joint
from treeglot.syntax import Dependency, Tree, write
from treeglot.syntax.constituents import to_dependencies
from treeglot.syntax.heads import load


def test_a_killed_command_continues(tmp_path: Path) -> None:
    size = ["--embedding", "16", "--hidden", "16", "--epochs", "80", "--patience", "80", "--held-out", "10"]
    command = ["neural", "train", *written(tmp_path, pairs(120)), *size, "--quiet", "-o"]
    once, again = tmp_path / "once", tmp_path / "again"
    assert main([*command, str(once)]) == 0
    state = tmp_path / ".again.state"
    with subprocess.Popen([sys.executable, "-m", "treeglot", *command, str(again)]) as killed:
        while not (state / "1.state").exists() and killed.poll() is None:
            time.sleep(0.001)
        killed.kill()
    assert (state / "1.state").exists() and not again.exists(), "it ended before it could be killed"
    assert main([*command, str(again)]) == 0
    assert again.read_bytes() == once.read_bytes()
    assert not state.exists()


@pytest.mark.parametrize("suffix", ["tree", "conllu"])
def test_the_command_reads_parses(tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = parsed_pairs(60, CONSTITUENTS if suffix == "tree" else DEPENDENCIES)
    given = [pair for pair in given if pair[3] is not None]
    files = written(tmp_path, [pair[:3] for pair in given])
    write(tmp_path / f"parses.{suffix}", [pair[3] for pair in given])
    out, size = tmp_path / "joint.bin", ["--embedding", "16", "--hidden", "16", "--epochs", "1", "--held-out", "10"]
    parses = ["--source-parses", str(tmp_path / f"parses.{suffix}")]
    command = ["neural", "train", *files, "-o", str(out), *size]
    assert main([*command, *parses]) == 0
    train_joint(given, JointOptions(embedding=16, hidden=16, epochs=1, held_out=10, parse=True)).write(
        str(tmp_path / "expected")
    )
    assert out.read_bytes() == (tmp_path / "expected").read_bytes()
    capsys.readouterr()
    assert main(["neural", "info", str(out)]) == 0
    assert f"parse\t{1 if suffix == 'tree' else 2}" in capsys.readouterr().out
    assert main([*command, "--parse"]) == 2
    assert "--parse needs a file; expected --source-parses" in capsys.readouterr().err
    dev = [f"--dev-{name}={file}" for name, file in zip(("source", "target", "alignments"), files, strict=True)]
    assert main([*command, *parses, *dev]) == 2
    assert "--source-parses and --dev-source-parses belong together" in capsys.readouterr().err
    assert main([*command, *parses, *dev, f"--dev-{parses[0][2:]}", parses[1]]) == 0


def test_the_command_reads_dependencies_without_tags(tmp_path: Path) -> None:
    given: list[ParsedPair] = []
    for source, target, links in pairs(60):
        relations = ["root", *["dep"] * (len(source) - 1)]
        parse = Dependency(source, [at - 1 for at in range(len(source))], [], relations)
        given.append((source, target, links, parse, None))
    files = written(tmp_path, [pair[:3] for pair in given])
    write(tmp_path / "parses.conllu", [pair[3] for pair in given])
    out, size = tmp_path / "joint.bin", ["--embedding", "16", "--hidden", "16", "--epochs", "1", "--held-out", "10"]
    parses = ["--source-parses", str(tmp_path / "parses.conllu")]
    assert main(["neural", "train", *files, "-o", str(out), *size, *parses]) == 0
    options = JointOptions(embedding=16, hidden=16, epochs=1, held_out=10, parse=True)
    train_joint(given, options).write(str(tmp_path / "expected"))
    assert out.read_bytes() == (tmp_path / "expected").read_bytes()
    assert "label dep" in load_joint(out).source_words()


def test_the_command_refuses_dev_files_before_it_reads_the_corpus(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [pair for pair in parsed_pairs(60) if pair[3] is not None and pair[4] is not None]
    files = written(tmp_path, [pair[:3] for pair in given])
    write(tmp_path / "parses.tree", [pair[3] for pair in given])
    write(tmp_path / "trees.conllu", [pair[4] for pair in given])
    (tmp_path / "few.tree").write_text("(TOP (T s1))\n")
    (tmp_path / "wrong").write_text("0-99\n" * len(given))
    unread = [str(tmp_path / "missing")] * 3  # an error names it if it is read
    names = ("source", "target", "alignments")
    dev = {f"--dev-{name}": file for name, file in zip(names, files, strict=True)}
    parses, trees = str(tmp_path / "parses.tree"), str(tmp_path / "trees.conllu")

    def problem(*more: str, **changed: str) -> str:
        given = dev | {f"--dev-{name}": file for name, file in changed.items()}
        options = [word for option in given.items() for word in option]
        assert main(["neural", "train", *unread, "-o", str(tmp_path / "out"), *options, *more]) != 0
        return capsys.readouterr().err

    assert "wrong:1: link 0-99" in problem(alignments=str(tmp_path / "wrong"))
    assert "few.tree" in problem("--source-parses", parses, "--dev-source-parses", str(tmp_path / "few.tree"))
    said = problem("--source-parses", parses, "--dev-source-parses", trees)
    assert f"--dev-source-parses {trees} has dependencies; expected constituents, which {parses} has" in said
    said = problem("--target-dependencies", trees, "--dev-target-dependencies", parses)
    assert f"--dev-target-dependencies {parses}: the format" in said and "not dependencies" in said
    said = problem("--source-heads=english", "--source-parses", parses, "--dev-source-parses", trees)
    assert f"--source-heads makes dependencies of source trees, and {trees} has dependencies already" in said
    assert "missing" in problem()


def test_files_and_options_of_the_command_that_contradict_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [pair for pair in parsed_pairs(20) if pair[3] is not None and pair[4] is not None]
    files = written(tmp_path, [pair[:3] for pair in given])
    write(tmp_path / "parses.tree", [pair[3] for pair in given])
    write(tmp_path / "trees.conllu", [pair[4] for pair in given])
    command = ["neural", "train", *files, "-o", str(tmp_path / "out")]
    for option, file, flag in (
        ("source-parses", "parses.tree", "parse"),
        ("target-dependencies", "trees.conllu", "heads"),
    ):
        assert main([*command, f"--{option}", str(tmp_path / file), f"--no-{flag}"]) == 2
        assert f"--no-{flag} and --{option} contradict each other; expected one of them" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_command_makes_dependencies_of_trees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = parsed_pairs(60)
    files = written(tmp_path, [pair[:3] for pair in given])
    trees = {
        "source": [pair[3] or Tree() for pair in given],
        "target": [Tree.parse(f"(S {' '.join(f'(T {word})' for word in pair[1])})") for pair in given],
    }
    for side, values in trees.items():
        write(tmp_path / f"{side}.tree", values)
    made = {side: to_dependencies(values, load("english")) for side, values in trees.items()}
    out, size = tmp_path / "joint.bin", ["--embedding", "16", "--hidden", "16", "--epochs", "1", "--held-out", "10"]
    command = ["neural", "train", *files, "-o", str(out), *size]
    more = [f"--source-parses={tmp_path / 'source.tree'}", f"--target-dependencies={tmp_path / 'target.tree'}"]
    tables = [f"--{side}-heads=english" for side in trees]
    assert main([*command, *more, *tables]) == 0
    options = JointOptions(embedding=16, hidden=16, epochs=1, held_out=10, heads=True, parse=True)
    expected = [(*pair[:3], s, t) for pair, s, t in zip(given, made["source"], made["target"], strict=True)]
    train_joint(expected, options).write(str(tmp_path / "expected"))
    assert out.read_bytes() == (tmp_path / "expected").read_bytes()
    capsys.readouterr()
    for table, side in zip(tables, trees, strict=True):
        assert main([*command, table]) == 2
        problem = f"--{side}-heads makes dependencies of {side} trees; expected a file of them"
        assert problem in capsys.readouterr().err


def test_the_command_reads_target_dependencies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = [pair for pair in parsed_pairs(60) if pair[4] is not None]
    files = written(tmp_path, [pair[:3] for pair in given])
    write(tmp_path / "trees.conllu", [pair[4] for pair in given])
    out, size = tmp_path / "joint.bin", ["--embedding", "16", "--hidden", "16", "--epochs", "1", "--held-out", "10"]
    command = ["neural", "train", *files, "-o", str(out), *size]
    assert main([*command, "--target-dependencies", str(tmp_path / "trees.conllu")]) == 0
    options = JointOptions(embedding=16, hidden=16, epochs=1, held_out=10, heads=True)
    train_joint(given, options).write(str(tmp_path / "expected"))
    assert out.read_bytes() == (tmp_path / "expected").read_bytes()
    assert main([*command, "--heads"]) == 2
    assert "--heads needs a file; expected --target-dependencies" in capsys.readouterr().err


def test_the_command_trains_and_leaves_no_state(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = written(tmp_path, pairs(120))
    size = ["--embedding", "16", "--hidden", "16", "--epochs", "2", "--batch", "64", "--held-out", "10"]
    out = str(tmp_path / "joint.bin")
    assert main(["neural", "train", *files, "-o", out, *size]) == 0
    assert "epoch 2: perplexity" in capsys.readouterr().err
    assert load_joint(out).facts["hidden"] == 16
    assert sorted(path.name for path in tmp_path.iterdir()) == ["joint.bin", "links", "source", "target"]
    assert main(["neural", "info", out]) == 0
    assert "hidden\t16\n" in capsys.readouterr().out
    assert main(["neural", "train", *files, "-o", out, "--dev-source", files[0]]) != 0
    assert "belong together" in capsys.readouterr().err
