"""The larger test that is held back from training data: no sentence is near another, and files stay parallel."""

import itertools
import json
import lzma
import sys
from pathlib import Path

import pytest
from benches import load_bench

from treeglot.base.errors import UsageError
from treeglot.base.files import read_lines
from treeglot.syntax.formats import read

HELD_OUT = load_bench("held_out")
KINDS = load_bench("kinds")

WORDS = "abcdefghijklmnopqrstuvwxyz"
SOURCES = [
    *(" ".join(f"{WORDS[n]}{place}" for place in range(5)) for n in range(20)),  # nothing in common
    "u0 u1 u2 u3 u4",  # near the next: four words of five
    "u0 u1 u2 u3 U4 ,",
    "v0 v1 v2 v3 v4",  # near a sentence of dev
    "w0 w1 w2",  # short
    "x0 x1 x2 x3 x4",  # without a parse
]
TARGETS = [line.upper().lower().replace(" ", " the ") for line in SOURCES]


def forest(number: int, words: list[str], parsed: bool) -> str:
    edges = [f"NN[{n},{n}] => {word} ||| -0.1" for n, word in enumerate(words)]
    edges.append(f"S^g[0,{len(words) - 1}] => {' '.join(f'NN[{n},{n}]' for n in range(len(words)))} ||| -0.2")
    return "\n".join([f"sentence {number} :", " ".join(words), *(edges if parsed else [""]), "", ""])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    unparsed = SOURCES.index("x0 x1 x2 x3 x4")
    files = {
        "train.zh": SOURCES,
        "train.lc.en": TARGETS,
        "train.failures.tsv": [f"{unparsed + 1}\tzh\tno parse\t{SOURCES[unparsed]}"],
        "dev.zh": ["v0 v1 v2 v3 v4 . !"],
        "dev.lc.en": ["no such words"],
        "test.zh": ["no such words"],
        "test.lc.en": ["a0 the b1 the c2 the d3 the e4"],  # near no target
        "test.origin.xz": ["3am"],
        "train.origin.xz": [("3am", "tatoeba\tsomebody")[n % 2] for n in range(len(SOURCES))],
        "train.zh.tree.xz": [f"(S {line})" for line in SOURCES],
        "train.en.tree.xz": [f"(S {line})" for line in TARGETS],
    }
    for name, lines in files.items():
        text = "".join(f"{line}\n" for line in lines).encode()
        (folder / name).write_bytes(lzma.compress(text) if name.endswith(".xz") else text)
    forests = "".join(forest(n + 1, line.split(), n != unparsed) for n, line in enumerate(SOURCES))
    (folder / "train.zh.forest.xz").write_bytes(lzma.compress(forests.encode()))
    return folder


def test_pairs_that_are_like_others_stay_in_training(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "split"
    HELD_OUT["make_split"](data, out, 20)
    assert read_lines(out / "test.zh") == SOURCES[:20]  # the only ones that may be held back
    assert read_lines(out / "train.zh") == SOURCES[20:]


def test_the_files_of_both_parts_stay_parallel(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "split"
    HELD_OUT["make_split"](data, out, 8)
    places = [SOURCES.index(line) for line in read_lines(out / "test.zh")]
    assert len(places) == 8
    assert sum(n % 2 for n in places) == 4  # half of each origin
    rest = [n for n in range(len(SOURCES)) if n not in places]
    for part, chosen in (("test", places), ("train", rest)):
        for suffix in ("zh", "lc.en", "origin.xz", "zh.tree.xz", "en.tree.xz"):
            whole = read_lines(data / f"train.{suffix}")
            assert read_lines(out / f"{part}.{suffix}") == [whole[n] for n in chosen]
        forests = list(read(out / f"{part}.zh.forest.xz"))
        assert [list(one.words) for one in forests] == [SOURCES[n].split() for n in chosen]


def test_too_few_pairs_are_an_error(data: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="3am has 10 pairs that can be held back; expected at least 11"):
        HELD_OUT["make_split"](data, tmp_path / "split", 22)


def test_bags_near_another_are_those_that_enumeration_finds() -> None:
    bags = [set(words) for size in range(7) for words in itertools.combinations([(c, 0) for c in "abcdefg"], size)]
    bags = bags[::3] + bags[40:50]  # the last ones twice, or near others

    def near(one: set[tuple[str, int]], other: set[tuple[str, int]]) -> bool:
        return bool(one | other) and len(one & other) >= 0.8 * len(one | other)

    wanted = {i for i, one in enumerate(bags) if any(near(one, two) for j, two in enumerate(bags) if i != j)}
    assert HELD_OUT["near_another"](bags) == wanted
    assert 0 < len(wanted) < len(bags)


def test_the_sets_are_described_without_a_run(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(HELD_OUT["main"].__globals__, "make_split", lambda a, b: HELD_OUT["make_split"](a, b, 20))
    table = tmp_path / "sets.json"
    arguments = [str(data), "--work", str(tmp_path / "work"), "--split", "--sets", str(table)]
    monkeypatch.setattr(sys, "argv", ["held_out.py", *arguments])
    assert HELD_OUT["main"]() == 0
    rows = json.loads(table.read_text())["rows"]
    assert rows[0] == ["held-out", 20, 50.0, 5.0, 9.0, 100.0, pytest.approx(100 * 5 / 9, abs=0.01)]
    assert rows[1][:3] == ["the data's test", 1, 0.0]


RECIPE = """
[corpus]
source = "train.zh"
target = "train.lc.en"
source_trees = "train.zh.tree.xz"
{more}
[dev]
source = "dev.zh"
references = ["dev.lc.en"]
[test.test]
source = "dev.zh"
references = ["dev.lc.en"]
[[system]]
name = "hiero"
kind = "hiero"
"""


def test_a_recipe_can_have_the_first_pairs_alone(data: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(RECIPE.format(more=""))
    folder = KINDS["first_pairs"](recipe, [data], tmp_path / "work", 7)
    assert sorted(path.name for path in folder.iterdir()) == ["train.lc.en", "train.zh", "train.zh.tree.xz"]
    for path in folder.iterdir():
        assert read_lines(path) == read_lines(data / path.name)[:7]
    with pytest.raises(UsageError, match="has 25 lines; expected 26 or more"):
        KINDS["first_pairs"](recipe, [data], tmp_path / "work", 26)
    recipe.write_text(RECIPE.format(more='source_forests = "train.zh.forest.xz"'))
    with pytest.raises(UsageError, match=r"corpus\.source_forests is given; --pairs expects none but source, target"):
        KINDS["first_pairs"](recipe, [data], tmp_path / "work", 7)
