"""Searching a model's rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from treeglot import Alignment, FormatError
from treeglot.cli import main
from treeglot.corpus.pairs import Pair
from treeglot.rules import extract, score_rules
from treeglot.rules.find import find_rules


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    texts = [("das Haus", "the house"), ("das Haus", "the house"), ("das Hochhaus", "the tower")]
    links = Alignment.parse("0-0 1-1")
    pairs = [Pair(n, s.split(), t.split(), links) for n, (s, t) in enumerate(texts, start=1)]
    score_rules(extract("hiero", pairs, folder), folder / "rules.parquet")
    return folder / "rules.parquet"


def test_rules_are_found_by_whole_words_of_either_side(table: Path) -> None:
    total, found = find_rules(table, "Haus")
    assert total == len(found) >= 3
    assert all("Haus" in rule.source.split() for rule in found)
    counts = [rule.values["count"] for rule in found]
    assert counts == sorted(counts, reverse=True)
    assert find_rules(table, "hau") == (0, [])
    assert {rule.source for rule in find_rules(table, target="the tower")[1]} == {"das Hochhaus"}
    [rule] = find_rules(table, "das Haus", "the house", whole=True)[1]
    assert rule.values["p_target_given_source"] == 1.0 and rule.values["occurrences"] == 2
    assert str(rule).startswith("[X] ||| das Haus ||| the house ||| 0-0 1-1 ||| count=")
    total, few = find_rules(table, most=2)
    assert total > 5 and len(few) == 2


def test_the_command(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", str(table.parent), "--source", "das [X,1]", "--json"]) == 0
    out = capsys.readouterr()
    rules = [json.loads(line) for line in out.out.splitlines()]
    assert rules and all("das [X,1]" in rule["source"] for rule in rules)
    assert f"{len(rules)} rules, {len(rules)} of them shown" in out.err
    assert main(["rules", str(table.parent.parent)]) == 2
    assert "has no rules.parquet" in capsys.readouterr().err


def test_rules_do_not_command_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pair = Pair(1, ["das"], ["\x1b[2Jthe\x9b"], Alignment.parse("0-0"))
    score_rules(extract("hiero", [pair], tmp_path), tmp_path / "rules.parquet")
    assert main(["rules", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("[X] ||| das ||| \\x1b[2Jthe\\x9b ||| 0-0 ||| ")


def test_what_is_no_rule_table_is_named(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"source": ["a"]}), tmp_path / "rules.parquet")
    with pytest.raises(FormatError, match="has no column alignment; expected a rule table"):
        find_rules(tmp_path / "rules.parquet", "a")
