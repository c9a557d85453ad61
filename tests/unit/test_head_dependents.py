"""The example of the paper's Figures 2 and 3, unaligned words, and trees that extraction must refuse or repair."""

import pytest
from extraction import bitext, pairs_of

from treeglot import _core
from treeglot.base.errors import UsageError
from treeglot.rules import extract, score_rules
from treeglot.rules.head_dependents import HeadDependentsOptions
from treeglot.syntax import Alignment, Dependency

# Figure 2: 给 has a dependent of its own, all else hangs from 做.
TREE = Dependency(["他", "今晚", "给", "你", "做", "饭"], [4, 4, 4, 2, -1, 4], ["PN", "NT", "P", "PN", "VV", "NN"])
TARGET = "he cooks dinner for you tonight"
LINKS = "0-0 1-5 2-3 3-4 4-1 5-2"


def rules_of(tmp_path, pairs, **options):
    """{(lhs, source, target): (labels, count)} of all rules, and the extraction's counts."""
    import pyarrow.parquet as pq

    built = pairs_of(
        ((tree.words, target.split(), Alignment.parse(links)) for tree, target, links in pairs),
        source_dependency=[tree for tree, _, _ in pairs],
    )
    extraction = extract("head-dependents", built, tmp_path / "counts", HeadDependentsOptions(**options))
    score_rules(extraction, tmp_path / "rules.parquet")
    rows = pq.read_table(tmp_path / "rules.parquet").to_pylist()
    rules = {(r["lhs"], r["source"], r["target"]): (r["labels"], r["count"]) for r in rows}
    return rules, extraction.counts


def test_figure_2_annotation():
    found = _core.annotate(TREE, 6, Alignment.parse(LINKS))
    assert [(head, span) for head, _, span, _ in found] == [
        ((0, 1), (0, 1)),  # 他: he
        ((5, 6), (5, 6)),  # 今晚: tonight
        ((3, 4), (3, 5)),  # 给: for, for you
        ((4, 5), (4, 5)),  # 你: you
        ((1, 2), (0, 6)),  # 做: cooks, everything
        ((2, 3), (2, 3)),  # 饭: dinner
    ]
    assert [acceptable for *_, acceptable in found] == [False, False, True, False, True, False]


def test_figure_3_eight_rules_with_their_structures(tmp_path):
    rules, counts = rules_of(tmp_path, [(TREE, TARGET, LINKS)])
    top = {rule: labels for rule, (labels, count) in rules.items() if rule[0] == "H4" and count == 1}
    # 2-3 floats (今晚 给 你), 4-5 is fixed on 做 (做 饭); longer ones of neighbours that stay together are structures
    # too: 给 你 做 饭 and 今晚 给 你 做 饭.
    assert top == {
        ("H4", "他 今晚 [=给,1] 做 饭", "he cooks dinner [=给,1] tonight"): "",
        ("H4", "他 今晚 [=给,1] [VV,2] 饭", "he [VV,2] dinner [=给,1] tonight"): "",
        ("H4", "他 今晚 [*P,1] 做 饭", "he cooks dinner [*P,1] tonight"): "",
        ("H4", "他 今晚 [*P,1] [VV,2] 饭", "he [VV,2] dinner [*P,1] tonight"): "",
        ("H4", "[PN,1] [NT,2] [=给,3] 做 [NN,4]", "[PN,1] cooks [NN,4] [=给,3] [NT,2]"): "2-3",
        ("H4", "[PN,1] [NT,2] [=给,3] [VV,4] [NN,5]", "[PN,1] [VV,4] [NN,5] [=给,3] [NT,2]"): "2-3 2-5 3-5 4-5",
        ("H4", "[PN,1] [NT,2] [*P,3] 做 [NN,4]", "[PN,1] cooks [NN,4] [*P,3] [NT,2]"): "2-3",
        ("H4", "[PN,1] [NT,2] [*P,3] [VV,4] [NN,5]", "[PN,1] [VV,4] [NN,5] [*P,3] [NT,2]"): "2-3 2-5 3-5 4-5",
    }
    # 给 你: no word with dependents among the dependents, so four rules in place of eight, and no structure.
    assert {rule for rule in rules if rule[0] == "H1"} == {
        ("H1", "给 你", "for you"),
        ("H1", "[P,1] 你", "[P,1] you"),
        ("H1", "给 [PN,1]", "for [PN,1]"),
        ("H1", "[P,1] [PN,2]", "[P,1] [PN,2]"),
    }
    assert rules["X", "今晚 给 你", "for you tonight"] == ("", 1)
    assert counts["acceptable"] == 2
    assert counts["relations"] == 2


def test_unaligned_words_go_to_either_neighbour_and_share_the_count(tmp_path):
    tree = Dependency(["他", "做"], [1, -1], ["PN", "VV"])
    rules, _ = rules_of(tmp_path, [(tree, "he will soon cook", "0-0 1-3")])
    assert {(s, t): count for (lhs, s, t), (_, count) in rules.items() if lhs == "H2"} == {
        ("他 做", "he will soon cook"): 1,
        ("他 [VV,1]", "he [VV,1]"): pytest.approx(1 / 3),
        ("他 [VV,1]", "he will [VV,1]"): pytest.approx(1 / 3),
        ("他 [VV,1]", "he will soon [VV,1]"): pytest.approx(1 / 3),
        ("[PN,1] 做", "[PN,1] cook"): pytest.approx(1 / 3),
        ("[PN,1] 做", "[PN,1] soon cook"): pytest.approx(1 / 3),
        ("[PN,1] 做", "[PN,1] will soon cook"): pytest.approx(1 / 3),
        ("[PN,1] [VV,2]", "[PN,1] [VV,2]"): 1,
    }


def test_unaligned_words_beside_a_word_of_nobody_go_to_their_neighbour_or_nobody(tmp_path):
    tree = Dependency(["给", "你", "做"], [2, 0, -1], ["P", "PN", "VV"])
    # "cook" is between "for" and "you", but no part of their relation; "so" is beside neither of them.
    rules, _ = rules_of(tmp_path, [(tree, "for just cook so cook now you", "0-0 1-6 2-2 2-4")])
    assert {(s, t): count for (lhs, s, t), (_, count) in rules.items() if lhs == "H1"} == {
        ("给 你", "for you"): 0.25,
        ("给 你", "for just you"): 0.25,
        ("给 你", "for now you"): 0.25,
        ("给 你", "for just now you"): 0.25,
        ("给 [PN,1]", "for [PN,1]"): 0.5,
        ("给 [PN,1]", "for just [PN,1]"): 0.5,
        ("[P,1] 你", "[P,1] you"): 0.5,
        ("[P,1] 你", "[P,1] now you"): 0.5,
        ("[P,1] [PN,2]", "[P,1] [PN,2]"): 1,
    }


def test_more_variants_than_allowed_are_counted(tmp_path):
    tree = Dependency(["他", "做"], [1, -1], ["PN", "VV"])
    rules, counts = rules_of(tmp_path, [(tree, "he will soon cook", "0-0 1-3")], max_variants=2)
    assert counts["capped"] == 2
    assert rules["H2", "他 [VV,1]", "he will [VV,1]"] == ("", 0.5)
    assert ("H2", "他 [VV,1]", "he will soon [VV,1]") not in rules


def test_a_leaf_without_target_words_stays_a_word(tmp_path):
    tree = Dependency(["他", "做", "了"], [1, -1, 1], ["PN", "VV", "AS"])
    rules, _ = rules_of(tmp_path, [(tree, "he cooked", "0-0 1-1")])
    assert ("H2", "他 做 了", "he cooked") in rules
    assert ("H2", "[PN,1] [VV,2] 了", "[PN,1] [VV,2]") in rules
    assert not any("[AS" in source for _, source, _ in rules)


def test_tags_and_words_never_look_like_each_other(tmp_path):
    tree = Dependency(["P", "=", "*"], [1, 2, -1], ["=P", "*", "\\"])
    rules, _ = rules_of(tmp_path, [(tree, "a b c", "0-0 1-1 2-2")])
    assert ("H2", "[==,1] *", "[==,1] c") in rules
    assert ("H2", "[**,1] *", "[**,1] c") in rules
    assert ("H2", "[\\=P,1] [\\*,2]", "[\\=P,1] [\\*,2]") in rules
    assert ("H2", "[**,1] [\\\\,2]", "[**,1] [\\\\,2]") in rules


def test_trees_that_cannot_be_used_give_phrases_alone_and_are_counted(tmp_path):
    words, tags = ["a", "b"], ["A", "B"]
    broken = [Dependency(words, [1, 0], tags), Dependency(words, [-2, 0], tags), Dependency([], [], [])]
    pairs = pairs_of([(words, ["x", "y"], Alignment.parse("0-0 1-1"))] * 3, source_dependency=broken)
    extraction = extract("head-dependents", pairs, tmp_path / "counts")
    counts = extraction.counts
    assert (counts["broken"], counts["unparsed"], counts["rules"], counts["phrases"]) == (2, 1, 0, 9)
    assert score_rules(extraction, tmp_path / "rules.parquet") == 3


def test_crossing_trees_are_lifted_and_counted(tmp_path):
    tree = Dependency(["a", "b", "c", "d"], [2, 3, -1, 2], ["A", "B", "C", "D"])
    assert tree.nonprojective_arcs() == [1]
    _, counts = rules_of(tmp_path, [(tree, "w x y z", "0-0 1-1 2-2 3-3")])
    assert (counts["lifted"], counts["lifts"]) == (1, 1)
    assert tree.projectivise()[0] == Dependency(["a", "b", "c", "d"], [2, 2, -1, 2], ["A", "B", "C", "D"])


def test_projectivising_refuses_a_cycle():
    with pytest.raises(ValueError, match=r"^the heads form a cycle: 0 → 2 → 0$"):
        Dependency(["a", "b", "c"], [2, -1, 0]).projectivise()


@pytest.mark.parametrize(
    ("tree", "problem"),
    [
        (Dependency(["a"], [-1], ["A"]), "pair 1: the tree has 1 words, the source sentence 2"),
        (Dependency(["a", "b"], [-1, 0]), "pair 1: the tree has no tags"),
    ],
)
def test_trees_that_do_not_fit_are_refused(tmp_path, tree, problem):
    pair = (["a", "b"], ["x"], Alignment.parse("0-0"))
    with pytest.raises(ValueError, match=f"^{problem}$"):
        extract("head-dependents", pairs_of([pair], source_dependency=[tree]), tmp_path)
    with pytest.raises(ValueError, match=r"^there are 0 source trees for 1 sentence pairs$"):
        _core.HeadDependentsExtractor(bitext([pair]), [], HeadDependentsOptions())
    with pytest.raises(UsageError, match=r"^max_variants is 0; expected at least 1$"):
        HeadDependentsOptions(max_variants=0)


def test_parts_and_threads_give_the_same_bytes(tmp_path):
    triple = (TREE.words, TARGET.split(), Alignment.parse(LINKS))
    pairs = pairs_of([triple] * 2000, source_dependency=[TREE] * 2000)
    for name, threads in (("one", 1), ("three", 3)):
        extraction = extract("head-dependents", pairs, tmp_path / name, threads=threads, memory=1)
        assert extraction.facts["parts"] == 2
        score_rules(extraction, tmp_path / f"{name}.parquet")
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "three.parquet").read_bytes()
