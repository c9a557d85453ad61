"""Benchmarks write their figures as tables that the page of results can show."""

import json
import sys
from pathlib import Path

import pytest
from benches import BENCH, load_bench

from treeglot import sample
from treeglot.cli import main


@pytest.mark.parametrize("name", sorted(path.stem for path in BENCH.glob("*.py")))
def test_benchmarks_import_what_exists(name: str) -> None:
    assert load_bench(name)["__doc__"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("benches")
    sample.write_corpus(folder, 120)
    source, target = str(folder / "train.zh"), str(folder / "train.en")
    files = ["--source", source, "--target", target, "--alignments", str(folder / "train.align")]
    assert main(["train", "hiero", *files, "-o", str(folder / "hiero")]) == 0
    return folder


@pytest.mark.parametrize(
    ("name", "arguments", "columns", "rows"),
    [
        ("heads", ["train.en.tree"], 4, 3),
        ("parse", ["sample", "--cycles", "0", "--threads", "1"], 7, 1),
        ("dependency_lm", ["train.en.tree"], 4, 2),
        ("extract", ["train.zh", "train.en", "train.align", "--threads", "1"], 4, 5),
        ("decode", ["test.zh", "--model", "hiero", "--pops", "5,20"], 6, 2),
        ("decode", ["test.zh", "--model", "hiero", "--pops", "5,20", "--errors"], 6, 2),
        ("reachable", ["test.zh", "test.en", "hiero", "--threads", "1"], 5, 1),
        ("confidence", ["hiero", "dev.zh", "dev.en", "test.zh", "test.en", "--threads", "1"], 3, 4),
    ],
)
def test_a_benchmark_writes_its_table(
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    arguments: list[str],
    columns: int,
    rows: int,
) -> None:
    monkeypatch.chdir(corpus)
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *arguments, "--json", str(tmp_path / "table.json")])
    load_bench(name)["main"]()
    table = json.loads((tmp_path / "table.json").read_text())
    assert (len(table["columns"]), len(table["rows"])) == (columns, rows)
    text = load_bench("render")["table_text"](tmp_path / "table.json")
    assert len(text.splitlines()) == rows + 4  # the head, the rule below it, and the origin after a blank line
