"""Benchmarks of the quality of trees: failures gain nothing, and other inputs have other files."""

import argparse
from argparse import Namespace
from pathlib import Path

import pytest
from benches import load_bench

GOLD, QUALITY, RESTRICTED = map(load_bench, ("gold_spans", "parser_quality", "restricted_hiero"))
TOGETHER = load_bench("parses_together")


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


def test_each_system_is_compared_with_its_own_first_parses() -> None:
    one, several = (TOGETHER["read_parses"](text) for text in ("a/zh:b/en", "a/zh,c/self:b/en:14.5"))
    assert TOGETHER["shown"]("c2d", one) == ("a/zh", "b/en", "10.0")
    assert TOGETHER["shown"]("c2s", several) == ("a/zh,c/self", "", "14.5")
    assert TOGETHER["shown"]("dep2str-aug", several) == ("a/zh,c/self", "", "14.5")
    outputs = {one: [["a b c d x"], ["a b c d x"]], several: [["a b c d e"], ["a b c d e"]]}
    rows = TOGETHER["rows_of"]("c2d", outputs, [["a b c d e"]], {("c2d", one): 7, ("c2d", several): 8})
    assert [row[:5] for row in rows] == [["`c2d`", "zh", "en", 10.0, 7], ["`c2d`", "zh, self", "en", 14.5, 8]]
    assert rows[0][-3:] == [None, None, None]
    assert rows[1][5] == pytest.approx([100, 100])
    assert rows[1][-3]["mean"] > 0


def test_grammars_of_one_name_are_found() -> None:
    same_name, one, other = TOGETHER["same_name"], *map(TOGETHER["read_parses"], ("a/zh:b/en", "a/zh,c/self:b/en"))
    assert same_name([one, other]) is None
    assert same_name([one, TOGETHER["read_parses"]("a/zh:c/en")]) == "en"


@pytest.mark.parametrize("text", ["zh", "zh:", ":en", "zh:en:1:2"])
def test_parses_name_both_sides(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        TOGETHER["read_parses"](text)
