"""Benchmarks of the quality of trees: failures gain nothing, and other inputs have other files."""

from argparse import Namespace
from pathlib import Path

import pytest
from benches import load_bench

GOLD, QUALITY, RESTRICTED = map(load_bench, ("gold_spans", "parser_quality", "restricted_hiero"))


def test_a_failed_parse_leaves_no_gold_span_whole() -> None:
    gold = [{(0, 2), (2, 4)}, {(1, 3), (1, 4)}]
    flat = GOLD["shares"](gold, [{(0, 4), (0, 2)}, {(0, 5)}])
    assert (flat.uncrossed, flat.found, flat.spans, flat.failures) == (1, 0.25, 4, 0)
    failed = GOLD["shares"](gold, [{(0, 4), (0, 2)}, None])
    assert (failed.uncrossed, failed.found, failed.spans, failed.failures) == (0.5, 0.25, 4, 1)
    crossed = GOLD["shares"](gold, [{(1, 3)}, {(0, 2)}])
    assert (crossed.uncrossed, crossed.found) == (0, 0)


def test_files_are_named_by_what_they_depend_on(tmp_path: Path) -> None:
    files = {QUALITY["trees_of"](Namespace(work=tmp_path, seed=seed), "random", "dev") for seed in (1, 2)}
    assert len(files) == 2
    files = {QUALITY["trees_of"](Namespace(work=tmp_path, seed=seed), "left", "dev") for seed in (1, 2)}
    assert len(files) == 1
    digest = RESTRICTED["digest_of"]
    assert digest({"a": 1.0, "b": 2.0}) == digest({"b": 2.0, "a": 1.0})
    assert digest({"a": 1.0, "b": 2.0}) != digest({"a": 1.0, "b": 2.5})


def test_outputs_keep_lines_with_odd_separators(tmp_path: Path) -> None:
    (tmp_path / "steps/cards").mkdir(parents=True)
    card = '{"scores": {"test": {"outputs": [{"file": "out"}]}}}'
    (tmp_path / "steps/cards/dep2str.json").write_text(card)
    (tmp_path / "steps/out").write_text("a\u2028b\nc\n", encoding="utf-8")
    assert QUALITY["read_outputs"](tmp_path, "dep2str") == [["a\u2028b", "c"]]


@pytest.mark.parametrize("size", [1, 2, 5])
def test_words_without_heads_are_a_failure(size: int) -> None:
    dependency, other_heads = QUALITY["Dependency"], QUALITY["other_heads"]
    words, tags = ["w"] * size, ["X"] * size
    assert QUALITY["has_heads"](dependency(words, other_heads("left", size, None), tags))
    assert not QUALITY["has_heads"](dependency(words, [dependency.NO_HEAD] * size, tags))
