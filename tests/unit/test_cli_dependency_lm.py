"""The language model commands with dependency models."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from lm_pieces import score_child

from treeglot.cli import main
from treeglot.lm import load_dependency
from treeglot.syntax.formats import read_dependencies

ARPA = Path(__file__).parents[1] / "golden/lm/pets.3.arpa"
TREES = """\
1\tthe\t_\tDET\t_\t_\t2\t_\t_\t_
2\tdog\t_\tNOUN\t_\t_\t3\t_\t_\t_
3\tsaw\t_\tVERB\t_\t_\t0\t_\t_\t_
4\ther\t_\tPRON\t_\t_\t3\t_\t_\t_

1\tdogs\t_\tNOUN\t_\t_\t2\t_\t_\t_
2\tsaw\t_\tVERB\t_\t_\t0\t_\t_\t_

"""
FALLBACK = "warning: no 1-grams have the adjusted count"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]):
    def command(*arguments: object) -> tuple[int, str, str]:
        code = main(["lm", *map(str, arguments)])
        out = capsys.readouterr()
        return code, out.out, out.err

    return command


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    path = tmp_path / "x.conllu"
    path.write_text(TREES)
    return path


@pytest.fixture
def model(run, trees: Path, tmp_path: Path) -> Path:
    path = tmp_path / "x.dlm"
    code, out, err = run("train", trees, "--dependency", "words", "--out", path)
    assert (code, out) == (0, "")
    assert FALLBACK in err
    return path


def test_train_says_what_it_saw(run, trees: Path, tmp_path: Path) -> None:
    code, out, err = run("train", trees, "--dependency", "tags", "-o", tmp_path / "t")
    assert (code, out) == (0, "")
    assert "2 trees: 3 left children, 1 right children, 2 roots\n" in err
    assert f"4 different tags in {(tmp_path / 't').stat().st_size:,} bytes\n" in err
    assert load_dependency(tmp_path / "t").unit == "tags"


def test_train_in_another_conditioning(run, trees: Path, tmp_path: Path) -> None:
    code, _, _ = run("train", trees, "--dependency", "words", "--conditioning", "sibling", "-o", tmp_path / "t")
    assert code == 0
    assert load_dependency(tmp_path / "t").conditioning == "sibling"
    assert "conditioning\tsibling\n" in run("info", tmp_path / "t")[1]


def test_score(run, model: Path, trees: Path) -> None:
    loaded = load_dependency(model)
    first, second = read_dependencies(trees)
    assert run("score", model, trees) == (
        0,
        f"{loaded.score(first):.6f}\t4\t0\n{loaded.score(second):.6f}\t2\t0\n",
        "",
    )
    assert run("score", model, trees, "--natural")[1].startswith(f"{loaded.score(first) * math.log(10):.6f}\t")


def test_score_words(run, model: Path, trees: Path) -> None:
    trees.write_text(TREES.replace("dogs", "cats"))
    code, out, _ = run("score", model, trees, "--words")
    assert code == 0
    lines = out.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["the", "dog", "saw", "her", "", "cats", "saw", ""]
    cats = score_child(load_dependency(model), "left", "cats", "saw")
    assert lines[5] == f"cats\t{cats:.6f}\t1\t<unk>"
    assert lines[6].endswith("\t1")


def test_score_total(run, model: Path, trees: Path) -> None:
    found = load_dependency(model).perplexity(read_dependencies(trees))
    assert run("score", model, trees, "--total")[1].splitlines() == [
        "sentences\t2",
        "tokens\t6",
        "unknown\t0",
        f"log10\t{found.log10:.4f}",
        f"perplexity with unknown words\t{found.including_oovs:.4f}",
        f"perplexity without unknown words\t{found.excluding_oovs:.4f}",
    ]


def test_info(run, model: Path) -> None:
    code, out, err = run("info", model)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "dependency model over\twords",
        "conditioning\ttrigram",
        f"bytes\t{model.stat().st_size}",
        "words\t8",
        "left 1-grams\t10",
        "left 2-grams\t3",
        "left 3-grams\t0",
        "right 1-grams\t9",
        "right 2-grams\t1",
        "right 3-grams\t0",
        "root 1-grams\t8",
    ]
    assert run("info", model, "--words")[1].split() == ["<unk>", "<s>", "</s>", "the", "dog", "saw", "her", "dogs"]


def test_refusals(run, model: Path, trees: Path, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("a b\n")

    def problem(*arguments: object) -> tuple[int, str]:
        code, _, err = run(*arguments)
        return code, err.splitlines()[-1].removeprefix("error: ")

    assert problem("train", trees, "--dependency", "words") == (
        2,
        "a dependency model cannot be written to standard output: give --out FILE",
    )
    assert problem("train", trees, "--dependency", "words", "--order", 3, "-o", tmp_path / "y") == (
        2,
        "--order, --prune, --memory, --scratch, --no-fallback, --threads, --classes, --engine and --master are "
        "for n-gram models",
    )
    assert problem("train", text, "--from", "conllu") == (
        2,
        "--conditioning, --from and --read-tags are for dependency models: give --dependency words or tags",
    )
    assert problem("train", text, "--conditioning", "sibling") == problem("train", text, "--from", "conllu")
    assert problem("score", ARPA, text, "--read-tags", "upos") == (
        2,
        f"{ARPA} is an n-gram model; --from and --read-tags are for dependency models",
    )
    assert problem("score", model, trees, "--no-eos") == (
        2,
        f"{model} is a dependency model; --no-bos and --no-eos are for n-gram models",
    )
    trees.write_text(TREES.replace("dogs", "<s>"))
    assert problem("train", trees, "--dependency", "words", "-o", tmp_path / "y") == (
        1,
        f"{trees}: sentence 2: '<s>' is a word of the model itself; expected others",
    )
    trees.write_text("1\tdogs\t_\t_\t_\t_\t7\t_\t_\t_\n\n")
    assert problem("train", trees, "--dependency", "words", "-o", tmp_path / "y")[1].startswith(f"{trees}:1: ")
    assert not (tmp_path / "y").exists()


def test_trees_without_tags(run, trees: Path, tmp_path: Path) -> None:
    run("train", trees, "--dependency", "tags", "-o", tmp_path / "t")
    untagged = tmp_path / "x.conll"
    untagged.write_text("1\tdogs\t_\t_\t_\t_\t0\t_\t_\t_\n\n")
    code, _, err = run("score", tmp_path / "t", untagged, "--from", "conllu")
    assert (code, err) == (1, f"error: {untagged}: tree 1 has no tags; the model is over tags\n")
