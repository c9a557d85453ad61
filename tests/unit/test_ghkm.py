"""Extraction from forests: the worked example of the c2d paper, counts, caps, refusals."""

import json
import math
from pathlib import Path

import bush
import pyarrow.parquet as pq
import pytest

from treeglot.rules import RULE_SETS, GhkmOptions, bitext, extract_ghkm, score

MINIMAL = {
    # source, target, structure
    ("IP( NP( [NPB,1] [CC,2] [NPB,3] ) [VPB,4] )", "[NPB,1] [VPB,4] [CC,2] [NPB,3]", "2 0 2 3"),
    ("IP( [NPB,1] [VP,2] )", "[NPB,1] [VP,2]", "2 0"),
    ("VP( [PP,1] [VPB,2] )", "[VPB,2] [PP,1]", "0 1"),
    ("PP( [P,1] [NPB,2] )", "[P,1] [NPB,2]", "0 1"),
    ("VPB( VV( jǔxíng ) AS( le ) [NPB,1] )", "held a [NPB,1]", "0 3 1"),
    ("NPB( Bùshí )", "Bush", "0"),
    ("CC( yǔ )", "with", "0"),
    ("P( yǔ )", "with", "0"),
    ("NPB( Shālóng )", "Sharon", "0"),
    ("NPB( huìtán )", "talk", "0"),
}


def rows(folder: Path, options: GhkmOptions, forests=None, pairs=None, dependencies=None, **how):
    pairs = pairs or [(bush.SOURCE, bush.TARGET, bush.ALIGNMENT)]
    forests = forests or [bush.forest({11: math.log(0.75), 12: math.log(0.25)})]
    dependencies = dependencies or [bush.DEPENDENCY]
    extraction = extract_ghkm(bitext(pairs), forests, folder / "counts", options, dependencies=dependencies, **how)
    score(extraction, folder / "rules.parquet")
    return pq.read_table(folder / "rules.parquet").to_pylist()


def sides(table):
    return {(r["source"], r["target"], r["structure"]) for r in table}


def test_the_worked_example(tmp_path):
    table = rows(tmp_path, GhkmOptions(True, True, "none", max_composed=1))
    assert sides(table) == MINIMAL
    assert {r["lhs"] for r in table} == {"IP", "VP", "PP", "VPB", "NPB", "CC", "P"}
    by_source = {r["source"]: r for r in table}
    held = by_source["VPB( VV( jǔxíng ) AS( le ) [NPB,1] )"]
    assert (held["labels"], held["alignment"], held["variables"]) == ("VBD DT", "2-0 2-1", 1)
    assert held["lex_target_given_source"] == pytest.approx(0.25)  # held and a are each half of what jǔxíng is
    assert held["lex_source_given_target"] == pytest.approx(1.0)  # jǔxíng has links alone, le none
    # Each edge into IP has its share, and so has what only one of the trees uses.
    assert by_source["IP( NP( [NPB,1] [CC,2] [NPB,3] ) [VPB,4] )"]["count"] == pytest.approx(0.75, abs=1e-6)
    assert by_source["CC( yǔ )"]["count"] == pytest.approx(0.75, abs=1e-6)
    assert by_source["VP( [PP,1] [VPB,2] )"]["count"] == pytest.approx(0.25, abs=1e-6)
    assert held["count"] == pytest.approx(1.0, abs=1e-6)
    assert by_source["P( yǔ )"]["p_source_given_target"] == pytest.approx(0.25)
    assert by_source["NPB( huìtán )"]["p_rule_given_root"] == pytest.approx(1 / 3)


def test_the_composed_rule_of_the_example(tmp_path):
    table = rows(tmp_path, RULE_SETS["c2d"])
    rule = ("IP( NP( [NPB,1] CC( yǔ ) [NPB,2] ) [VPB,3] )", "[NPB,1] [VPB,3] with [NPB,2]", "2 0 2 3")
    assert sides(table) > MINIMAL | {rule}
    (found,) = [r for r in table if (r["source"], r["target"], r["structure"]) == rule]
    assert (found["labels"], found["alignment"]) == ("IN", "4-2")


def test_strings_are_cut_more_often(tmp_path):
    table = rows(tmp_path, GhkmOptions(phrases="none", max_composed=1))
    found = {(r["source"], r["target"]) for r in table}
    # jǔxíng - held a is a phrase, though no structure.
    assert found == {r[:2] for r in MINIMAL if "held" not in r[1]} | {
        ("VPB( [VV,1] AS( le ) [NPB,2] )", "[VV,1] [NPB,2]"),
        ("VV( jǔxíng )", "held a"),
    }
    assert all(r["structure"] is None and r["labels"] is None for r in table)


def test_stripped_structures(tmp_path):
    table = rows(tmp_path, GhkmOptions(well_formed=True, phrases="none", max_composed=1))
    assert {(r["source"], r["target"]) for r in table} == {r[:2] for r in MINIMAL}
    assert all(r["structure"] is None and r["labels"] is None for r in table)


def test_phrases(tmp_path):
    found = {
        name: {(r["source"], r["target"], r["structure"]) for r in rows(tmp_path / name, options) if r["lhs"] == "X"}
        for name, options in RULE_SETS.items()
    }
    words = {("Bùshí", "Bush"), ("yǔ", "with"), ("Shālóng", "Sharon"), ("huìtán", "talk"), ("jǔxíng", "held a")}
    longer = {
        ("yǔ Shālóng", "with Sharon"),
        ("jǔxíng le huìtán", "held a talk"),
        ("yǔ Shālóng jǔxíng le huìtán", "held a talk with Sharon"),
        (" ".join(bush.SOURCE), " ".join(bush.TARGET)),
    }
    assert {p[:2] for p in found["c2s"]} == words | longer  # 举行 了 is no node
    assert found["c2s"] == found["c2s-wf-s2s"]
    assert {p[:2] for p in found["c2s-wf"]} == words - {("jǔxíng", "held a")} | longer
    assert {p[:2] for p in found["c2d-s2d"]} == {p[:2] for p in found["c2s-wf"]}
    assert {p[:2] for p in found["c2d"]} == words | longer
    assert found["c2d"] - found["c2d-s2d"] == {("jǔxíng", "held a", "0 0 1")}  # ill-formed: a number more
    assert ("jǔxíng le huìtán", "held a talk", "0 3 1") in found["c2d-s2d"]
    assert all(p[2] is None for name in ("c2s", "c2s-wf", "c2s-wf-s2s") for p in found[name])


def test_facts(tmp_path):
    rows(tmp_path, RULE_SETS["c2d"])
    facts = json.loads((tmp_path / "counts/extraction.json").read_text())
    assert (facts["extractor"], facts["labels"], facts["roots"]) == ("ghkm", True, True)
    assert {name: n for name, n in facts["counts"].items() if n} == {
        "pairs": 1, "nodes": 12, "frontier": 9, "minimal": 10, "composed": 26, "phrases": 9, "phrases_well_formed": 8,
    }  # fmt: skip
