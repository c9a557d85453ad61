"""Files of a recipe that do not belong together are found before anything is made of them."""

import json
import lzma
import re
import shutil
from pathlib import Path

import pytest

from treeglot import sample
from treeglot.cli import main
from treeglot.experiment import Pipeline, load_recipe, steps_of

RECIPE = """
[corpus]
source = "train.zh"
target = "train.en"
alignments = "train.align"
source_forests = "train.zh.forest.jsonl"
target_trees = "train.en.tree"
[dev]
source = "dev.zh"
source_forests = "dev.zh.forest.jsonl"
references = ["dev.en", "more.en"]
[test.news]
source = "test.zh"
source_forests = "test.zh.forest.jsonl"
references = ["test.en"]
[lm]
order = 2
[[system]]
name = "c2d"
kind = "c2d"
tune = { iterations = 1, kbest = 5, options = { restarts = 0 } }
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    sample.write_corpus(folder, 60)
    shutil.copy(folder / "dev.en", folder / "more.en")
    return folder


@pytest.fixture
def recipe(tmp_path: Path, corpus: Path) -> Path:
    for path in corpus.iterdir():
        shutil.copy(path, tmp_path)
    path = tmp_path / "recipe.toml"
    path.write_text(RECIPE)
    return path


def refused(recipe: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What the run says; nothing but checks may have run."""
    assert main(["run", str(recipe)]) == 1
    made = [path.name for path in recipe.with_suffix("").glob("[!.]*.*/")]
    assert all(name.startswith("check-") for name in made), made
    return capsys.readouterr().err.partition("error: ")[2].replace(f"{recipe.parent}/", "")


def without_line(path: Path, number: int) -> None:
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[: number - 1] + lines[number:]))


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        ("more.en", "more.en: has 3 lines; expected 4, as dev.zh has lines"),
        ("test.en", "test.en: has 3 lines; expected 4, as test.zh has lines"),
        ("train.en", "train.en: has 51 lines; expected 52, as train.zh has lines"),
        ("train.align", "train.align: has 51 lines; expected 52, as train.zh has lines"),
        ("train.en.tree", r"train.en.tree: has 51 trees; expected 52, as train.zh has lines; the first that differs is "
         r"tree 2: .* line 2 of train.en .*; blank lines are no records: \(\(\)\) stands for a missing tree"),
        ("dev.zh.forest.jsonl", r"dev.zh.forest.jsonl: has 3 forests; expected 4, as dev.zh has lines; the first that "
         r"differs is forest 2: .* line 2 of dev.zh .*"),
    ],
)  # fmt: skip
def test_files_of_other_lengths(recipe: Path, file: str, problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    without_line(recipe.parent / file, 2)
    assert re.fullmatch(problem, refused(recipe, capsys).strip())


def test_links_that_point_outside(recipe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    links = recipe.parent / "train.align"
    without_line(links, 52)
    links.write_text(links.read_text() + "0-0 99-1\n")
    assert re.fullmatch(r"train.align:52: link 99-1: the source sentence has \d+ words\n", refused(recipe, capsys))


def test_compressed_files_and_those_of_one_system(recipe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    links = recipe.parent / "train.align"
    without_line(links, 52)
    (recipe.parent / "own.align.xz").write_bytes(lzma.compress(links.read_bytes()))
    shutil.copy(recipe.parent / "test.align", links)  # not used: the system has its own
    recipe.write_text(RECIPE + 'corpus = { alignments = "own.align.xz" }\n')
    assert refused(recipe, capsys).strip() == "own.align.xz: has 51 lines; expected 52, as train.zh has lines"


def test_empty_files(recipe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (recipe.parent / "test.zh").write_text("")
    assert refused(recipe, capsys).strip() == "test.zh: is empty; expected one sentence per line"


def test_a_text_that_changed_while_its_parses_did_not(recipe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = recipe.parent / "test.zh"
    first, second, *rest = text.read_text().splitlines()
    was = second.split()[0]
    text.write_text("\n".join([first, "新 " + second.partition(" ")[2], *rest]) + "\n")
    wanted = f"test.zh.forest.jsonl: forest 2: word 1 is '{was}'; in line 2 of test.zh it is '新'"
    assert refused(recipe, capsys).strip() == wanted
    recipe.write_text(RECIPE.replace('references = ["test.en"]', 'references = ["test.en"]\nsame_words = false'))
    assert main(["run", str(recipe)]) == 0
    said = capsys.readouterr().err.replace(f"{recipe.parent}/", "")
    counted = "1 of 4 forests have other words than test.zh; the first is forest 2"
    assert f"warning: test.zh.forest.jsonl: {counted}: word 1 is '{was}'; in line 2 of test.zh it is '新'\n" in said
    text.write_text("\n".join([first, second, *rest]) + "\n")
    recipe.write_text(RECIPE)
    assert main(["run", str(recipe)]) == 0
    [counts] = [
        json.loads((planned.folder / "counts.json").read_text())
        for planned in Pipeline(steps_of(load_recipe(recipe)), recipe.with_suffix("")).plan()
        if planned.step.name == "check test news"
    ]
    assert counts["source_forests"] == {"records": 4, "unparsed": 0, "different": 0}


def test_case_and_brackets_are_no_other_words(recipe: Path) -> None:
    text = recipe.parent / "train.en"
    text.write_text(text.read_text().upper())
    assert main(["run", str(recipe)]) == 0


def test_words_of_training_parses(recipe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Found before the work; with `skip_bad` the training leaves out what it must, and says so."""
    text = recipe.parent / "train.en"
    first, rest = text.read_text().split(" ", 1)
    text.write_text("another " + rest)
    wanted = f"train.en.tree: tree 1: word 1 is '{first}'; in line 1 of train.en it is 'another'"
    assert refused(recipe, capsys).startswith(wanted)
    recipe.write_text(RECIPE + "options = { skip_bad = true }\n")
    trees = recipe.parent / "train.en.tree"
    trees.write_text("(())\n" + trees.read_text().split("\n", 1)[1])
    [step] = [step for step in steps_of(load_recipe(recipe)) if step.name == "check train"]
    [done] = Pipeline([step], recipe.with_suffix("")).run()
    counts = json.loads((done.folder / "counts.json").read_text())
    assert counts["target_trees"] == {"records": 52, "unparsed": 1}
    assert counts["alignments"] == {"records": 52}


def test_what_is_not_used_need_not_be_there(recipe: Path) -> None:
    untuned = RECIPE.replace("[[system]]", '[tune]\nmethod = "none"\n[[system]]').replace("c2d", "hiero")
    recipe.write_text(untuned.replace("tune = { iter", "# ") + 'tune = { method = "none" }\n')
    for name in ("dev.zh", "train.en.tree", "test.zh.forest.jsonl"):
        (recipe.parent / name).unlink()
    checks = {step.name: list(step.inputs) for step in steps_of(load_recipe(recipe)) if step.name.startswith("check")}
    assert checks == {"check train": ["source", "target", "alignments"], "check test news": ["source", "reference 0"]}
    assert main(["run", str(recipe)]) == 0


def test_a_file_that_holds_something_else(recipe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe.write_text(RECIPE.replace('"test.zh.forest.jsonl"', '"test.zh.conllu"'))
    problem = "test news: source_forests test.zh.conllu: the format conllu holds dependencies, not forests or trees"
    assert refused(recipe, capsys).strip() == f"recipe.toml:14: {problem}"
