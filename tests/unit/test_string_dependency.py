"""String-to-dependency extraction by example: what is kept, what is counted, what is refused."""

import pytest
from extraction import bitext, pairs_of, run

from treeglot._core import DependencyBank, TargetStructures
from treeglot.rules import compile_table, extract, open_table, score_rules
from treeglot.rules.hiero import HieroOptions, StructureOptions
from treeglot.syntax import Alignment, Dependency

# (Bush) held ((a) talk) (with (Sharon)), the sentence of the c2d page
TARGET = Dependency(
    ["Bush", "held", "a", "talk", "with", "Sharon"], [1, -1, 3, 1, 1, 4], ["NNP", "VBD", "DT", "NN", "IN", "NNP"]
)
PAIR = (["Bushi", "yu", "Shalong", "juxing", "huitan"], TARGET.words, Alignment.parse("0-0 1-4 2-5 3-1 3-2 4-3"))


def test_structures_and_tags_go_with_the_rules(tmp_path):
    pairs = pairs_of([PAIR], target_dependency=[TARGET])
    extraction = extract("string-dependency", pairs, tmp_path / "counts")
    facts = extraction.facts
    assert facts["extractor"] == "string-dependency" and facts["labels"]
    assert facts["counts"]["unparsed"] == 0
    score_rules(extraction, tmp_path / "rules.parquet")
    compile_table(tmp_path / "rules.parquet", tmp_path / "rules.table")
    table = open_table(tmp_path / "rules.table")
    import pyarrow.parquet as pq

    rows = {
        (row["source"], row["target"]): (row["structure"], row["labels"])
        for row in pq.read_table(tmp_path / "rules.parquet").to_pylist()
    }
    assert rows["yu Shalong", "with Sharon"] == ("0 1", "IN NNP")
    # "held a" is no structure, and neither is what has it in a variable or as a phrase: a's head is outside.
    assert ("juxing", "held a") not in rows
    assert rows["juxing huitan", "held a talk"] == ("0 3 1", "VBD DT NN")
    assert rows["[X,1] yu Shalong juxing huitan", "[X,1] held a talk with Sharon"][0] == "2 0 4 2 2 5"
    assert len(table) == len(rows)


def test_ill_formed_rules_are_marked_when_they_are_taken(tmp_path):
    pairs = pairs_of([PAIR], target_dependency=[TARGET])
    rows, counts, _ = run("string-dependency", pairs, StructureOptions(ill_formed=True))
    structures = {(row.source, row.target): row.structure for row in rows}
    assert structures["juxing", "held a"] == "0 0 1"
    assert structures["[X,1] huitan", "[X,1] talk"] == "0 1 1"  # the variable is "held a"
    assert structures["juxing huitan", "held a talk"] == "0 3 1"  # well-formed as before
    assert counts["refused"] == 0
    hiero, *_ = run("hiero", pairs, HieroOptions())
    assert {(row.source, row.target) for row in hiero} == set(structures)


def test_phrases_lost_to_ill_formedness_are_counted(tmp_path):
    pairs = pairs_of([PAIR, PAIR], target_dependency=[TARGET, Dependency([], [])])
    hiero, s2d = (extract(name, pairs, tmp_path / name).counts for name in ("hiero", "string-dependency"))
    assert s2d["unparsed"] == 1
    assert s2d["phrases"] == hiero["phrases"]
    assert s2d["refused"] > hiero["phrases"] // 2  # the whole of the second pair, some of the first
    assert s2d["flat"] < hiero["flat"] and s2d["gappy"] < hiero["gappy"]


def test_trees_must_be_those_of_the_pairs():
    bank = DependencyBank()
    bank.append(TARGET)
    bank.append(TARGET)
    with pytest.raises(ValueError, match="there are 2 trees for 1 sentence pairs"):
        TargetStructures(bitext([PAIR]), bank, True)


def test_trees_must_have_the_words_of_their_sentences(tmp_path):
    pairs = pairs_of([PAIR], target_dependency=[Dependency(["a", "b"], [-1, 0])])
    with pytest.raises(ValueError, match="tree 1 has 2 words; expected 6, as the target sentence has"):
        extract("string-dependency", pairs, tmp_path)
