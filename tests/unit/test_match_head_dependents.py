"""The rules on the fly of the paper's Figure 4, and inputs that dependency-to-string models must survive."""

from dataclasses import replace
from itertools import product

import pytest
from extraction import pairs_of

from treeglot.decode import SearchOptions, Translator
from treeglot.decode.draw import to_html
from treeglot.decode.matchers import match_augmented, match_dependents
from treeglot.rules import (
    compile_table,
    extract,
    open_table,
    score_rules,
)
from treeglot.syntax import Alignment, Dependency, ParseForest, Tree, heads
from treeglot.syntax.constituents import to_dependencies

WORDS, TAGS = ["他", "今晚", "给", "你", "做", "饭"], ["PN", "NT", "P", "PN", "VV", "NN"]
TREE = Dependency(WORDS, [4, 4, 4, 2, -1, 4], TAGS)
WEIGHTS = {"p_target_given_source": 1.0, "phrase_p_target_given_source": 1.0, "unknown": -5.0, "pseudo": -1.0}
EXACT = SearchOptions(pop_limit=0, beam=0, threshold=0.0, per_source=0)
COLUMNS = ("p_target_given_source", "p_source_given_target", "lex_target_given_source", "lex_source_given_target")

# Figure 4: rule (a), labelled with a floating structure (今晚 给 你) and a fixed one (做 饭), and phrases (b) and (c).
FIGURE_4 = [
    ("H4", "[PN,1] [NT,2] [=给,3] [VV,4] [NN,5]", "[PN,1] [VV,4] [NN,5] [=给,3] [NT,2]", "2-3 4-5"),
    ("X", "今晚 给 你", "for you this evening", ""),
    ("X", "做 饭", "makes dinner", ""),
    *(
        ("X", source, target, "")
        for source, target in zip(WORDS, ["he", "tonight", "for", "you", "cooks", "rice"], strict=True)
    ),
]


def table_of(tmp_path, rules):
    """A compiled table in which every probability is a half."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = dict(zip(("lhs", "source", "target", "labels"), zip(*rules, strict=True), strict=True))
    columns |= {name: [0.5] * len(rules) for name in COLUMNS}
    pq.write_table(pa.table(columns), tmp_path / "rules.parquet")
    compile_table(tmp_path / "rules.parquet", tmp_path / "rules.table")
    return open_table(tmp_path / "rules.table")


def rules_at_the_top(translator, tree=TREE):
    """Source and target sides of all rules that the k-best list has for the whole tree."""
    kbest = translator.translate(tree).kbest(1000)
    whole = (0, len(tree))
    steps = [step for h in kbest for step in h.derivation.steps if step.span == whole and step.label != "S"]
    return {(step.source, step.target) for step in steps}


def test_figure_4_three_rules_on_the_fly(tmp_path):
    table = table_of(tmp_path, FIGURE_4)
    plain = Translator(table, WEIGHTS, options=EXACT, setup=match_dependents())
    augmented = Translator(table, WEIGHTS, options=EXACT, setup=match_augmented())
    # The subtree of 给 is translated in source order: no rule has it.
    rule = ("[PN,1] [NT,2] [X,3] [VV,4] [NN,5]", "[PN,1] [VV,4] [NN,5] [X,3] [NT,2]")
    assert rules_at_the_top(plain) == {rule}
    assert rules_at_the_top(augmented) == {
        rule,
        ("[PN,1] [X,2] [VV,3] [NN,4]", "[PN,1] [VV,3] [NN,4] [X,2]"),  # with X23
        ("[PN,1] [NT,2] [X,3] [X,4]", "[PN,1] [X,4] [X,3] [NT,2]"),  # with X45
        ("[PN,1] [X,2] [X,3]", "[PN,1] [X,3] [X,2]"),  # with both
    }
    best = augmented.translate(TREE)
    assert best.text == "he makes dinner for you this evening"
    # The rule's own probability and the word's count as such, the two phrases' apart; new rules inherit the old one's.
    ln_half = pytest.approx(-0.6931472)
    assert best.features["p_target_given_source"] / 2 == ln_half
    assert best.features["phrase_p_target_given_source"] / 2 == ln_half
    assert best.features["rule_penalty"] == 4
    assert plain.translate(TREE).text == "he cooks rice for you tonight"
    assert "phrase_p_target_given_source" not in plain.features


def test_extracted_structures_are_used_end_to_end(tmp_path):
    triple = (WORDS, ["he", "cooks", "dinner", "for", "you", "tonight"], Alignment.parse("0-0 1-5 2-3 3-4 4-1 5-2"))
    extraction = extract("head-dependents", pairs_of([triple], source_dependency=[TREE]), tmp_path / "counts")
    score_rules(extraction, tmp_path / "rules.parquet")
    compile_table(tmp_path / "rules.parquet", tmp_path / "rules.table")
    translator = Translator(open_table(tmp_path / "rules.table"), WEIGHTS, options=EXACT, setup=match_augmented())
    kbest = translator.translate(TREE).kbest(3000)
    assert {h.text for h in kbest} == {"he cooks dinner for you tonight"}
    # Structures 2-3, 4-5, 3-5, 2-5 of the rule with variables alone, and 2-3 with 4-5.
    tops = {h.derivation.steps[2].source for h in kbest}
    assert {
        "[PN,1] [X,2] [VV,3] [NN,4]",
        "[PN,1] [NT,2] [*P,3] [X,4]",
        "[PN,1] [X,2] [X,3]",
        "[PN,1] [NT,2] [X,3]",
        "[PN,1] [X,2]",
    } <= tops


def test_structures_whose_variables_are_apart_are_left_alone(tmp_path):
    rule = ("H1", "[A,1] [B,2] [C,3]", "[A,1] [C,3] [B,2]", "1-2")
    words = [("X", word, word.upper(), "") for word in "abc"]
    table = table_of(tmp_path, [rule, *words, ("X", "a b", "AB", "")])
    tree = Dependency(list("abc"), [-1, 0, 0], list("ABC"))
    augmented = Translator(table, WEIGHTS, options=EXACT, setup=match_augmented())
    assert rules_at_the_top(augmented, tree) == {("[A,1] [B,2] [C,3]", "[A,1] [C,3] [B,2]")}


def test_relations_without_a_rule_have_phrases_on_structures_too(tmp_path):
    phrases = [("X", word, word.upper(), "") for word in "abcd"] + [("X", "a b", "AB", ""), ("X", "b c d", "BCD", "")]
    table, tree = table_of(tmp_path, phrases), Dependency(list("abcd"), [-1, 0, 0, 0], list("ABCD"))
    for wanted, expected in ((True, {"A B C D", "AB C D", "A BCD"}), (False, {"A B C D"})):
        search = replace(EXACT, pseudo_structures=wanted)
        kbest = Translator(table, WEIGHTS, options=search, setup=match_augmented()).translate(tree).kbest(10)
        assert {h.text for h in kbest} == expected
        assert len(kbest) == len(expected)
        assert {h.features["pseudo"] for h in kbest} == {1}


def test_hierarchical_phrases_translate_structures(tmp_path):
    words = [("X", word, word.upper(), "") for word in "abcd"]
    table = table_of(tmp_path, [*words, ("X", "b [X,1] d", "D [X,1] B", ""), ("X", "a [X,1]", "[X,1] A", "")])
    tree = Dependency(list("abcd"), [-1, 0, 0, 0], list("ABCD"))  # bcd is a floating structure, abcd a subtree

    def texts(setup, **options):
        made = Translator(table, WEIGHTS, options=replace(EXACT, **options), setup=setup)
        return {h.text for h in made.translate(tree).kbest(10)}

    assert texts(match_augmented()) == {"A B C D", "A D C B", "D C B A", "B A C D"}
    assert texts(match_augmented(), span_limit=3) == {"A B C D", "A D C B", "B A C D"}
    assert texts(match_augmented(), pseudo_structures=False) == {"A B C D", "D C B A"}
    assert texts(match_dependents()) == {"A B C D"}


def test_a_leaf_may_be_a_word_where_others_are_tags(tmp_path):
    rules = [("H1", "[A,1] b [C,2]", "[C,2] [A,1]", ""), *(("X", word, word.upper(), "") for word in "abc")]
    tree = Dependency(list("abc"), [-1, 0, 0], list("ABC"))
    found = Translator(table_of(tmp_path, rules), WEIGHTS, options=EXACT, setup=match_dependents()).translate(tree)
    assert found.text == "C A"
    assert [str(step) for step in found.derivation.steps[2:]] == [
        "[X] ||| [A,1] b [C,2] ||| [C,2] [A,1]",
        "[A] ||| a ||| A",
        "[C] ||| c ||| C",
    ]


def translator(tmp_path, **options):
    search = SearchOptions(**{"pop_limit": 50, "per_source": 100, **options})
    return Translator(table_of(tmp_path, FIGURE_4), WEIGHTS, options=search, setup=match_augmented())


def test_several_roots_stand_side_by_side(tmp_path):
    found = translator(tmp_path).translate(Dependency(["他", "做", "x"], [-1, -1, -1], ["PN", "VV", "XX"]))
    assert (found.text, found.notes, found.problem) == ("he cooks x", ("several roots were put side by side",), "")
    assert found.features["glue"] == 2


def test_trees_that_are_none_are_repaired_and_noted(tmp_path):
    made = translator(tmp_path)
    cycle = made.translate(Dependency(["他", "做", "饭"], [1, 2, 1], ["PN", "VV", "NN"]))
    assert (cycle.text, cycle.notes) == ("he makes dinner", ("a cycle in the tree was cut",))
    headless = made.translate(Dependency(["他", "做"], [-2, -1], ["PN", "VV"]))
    notes = ("words without a head became roots", "several roots were put side by side")
    assert (headless.text, headless.notes) == ("he cooks", notes)
    crossing = made.translate(Dependency(["他", "做", "饭", "你"], [2, 3, -1, 2], ["PN", "VV", "NN", "PN"]))
    assert (crossing.text, crossing.notes) == ("he makes dinner you", ("the tree was not projective and was made so",))


def test_what_has_no_tree_is_translated_with_phrases(tmp_path):
    made = translator(tmp_path)
    line = made.translate("他 做 饭")
    assert (line.text, line.notes) == ("he makes dinner", ("without a tree: translated with phrases and glue",))
    assert line.tree is None
    untagged = made.translate(Dependency(["他", "做", "饭"], [1, -1, 1]))
    assert (untagged.text, untagged.problem, untagged.tree) == ("he makes dinner", "", None)
    assert untagged.notes == ("a tree without tags: translated with phrases and glue",)


def test_failed_parses_are_noted_and_empty_lines_are_not(tmp_path):
    made = translator(tmp_path)
    failed = made.translate(Dependency([], [], []))
    assert (failed.text, failed.notes, failed.problem) == ("", ("a failed parse, without words",), "")
    empty = made.translate("")
    assert (empty.text, empty.notes, empty.problem) == ("", (), "")


def test_a_head_outside_the_sentence_is_refused():
    with pytest.raises(ValueError, match="head"):
        Dependency(["他", "做"], [7, -1], ["PN", "VV"])


def test_sixty_dependents_keep_within_the_limit_which_is_noted(tmp_path):
    width = 60
    symbols = " ".join(f"[A,{i}]" for i in range(1, width + 2))
    labels = " ".join(f"{i}-{i + k}" for i, k in product(range(1, width), (1, 2)) if i + k <= width + 1)
    rules = [("H1", symbols, symbols, labels), *(("X", " ".join("a" * n), "b" * n, "") for n in (1, 2, 3))]
    tree = Dependency(["a"] * (width + 1), [-1, *([0] * width)], ["A"] * (width + 1))
    table = table_of(tmp_path, rules)
    more = ("more combinations of structures than max_combinations",)
    for augmented, limit, notes in ((True, 64, more), (True, 0, more), (False, 0, ())):
        search = SearchOptions(pop_limit=50, per_source=100, max_combinations=limit)
        found = Translator(
            table, WEIGHTS, options=search, setup=match_augmented() if augmented else match_dependents()
        ).translate(tree)
        assert found.text.replace(" ", "") == "b" * (width + 1)
        assert found.notes == notes
        if limit == 0:  # the rule alone
            assert [step.children for step in found.derivation.steps[2:]] == [width + 1, *([0] * (width + 1))]


def test_forests_become_dependency_trees_by_a_head_table(tmp_path):
    tree = Tree.parse("(IP (NP (PN 他)) (VP (VV 做) (NP (NN 饭))))")
    table = table_of(tmp_path, [*FIGURE_4, ("H2", "[PN,1] [VV,2] [NN,3]", "[NN,3] [VV,2] [PN,1]", "")])
    forest = ParseForest.from_tree(tree)
    with_heads = Translator(table, WEIGHTS, options=EXACT, setup=match_dependents(heads.load("chinese")))
    assert with_heads.translate(forest).text == "rice cooks he"
    without = Translator(table, WEIGHTS, options=EXACT, setup=match_dependents())
    assert without.translate(forest).problem == "a forest needs a head table to become a dependency tree"


def test_pictures_of_forests_show_the_dependency_tree_made_of_them(tmp_path):
    table = table_of(tmp_path, FIGURE_4)
    tree = Tree.parse("(IP (NP (PN 他)) (VP (VV 做) (NP (NN 饭))))")
    forest, made = ParseForest.from_tree(tree), to_dependencies([tree], heads.load("chinese"))[0]
    one = Translator(table, WEIGHTS, options=EXACT, setup=match_augmented(heads.load("chinese")))
    assert one.translate(forest).tree == made
    assert to_html(one.translate(forest), forest) == to_html(one.translate(made), made)
    assert ">root<" in to_html(one.translate(forest), forest)


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ([2, 3, -1, 2], [2, 2, -1, 2]),  # lifted
        ([1, 2, 1, 2], [1, -1, 1, 2]),  # a cycle
        ([-2, -1, 1, 2], [-1, -1, 1, 2]),  # without a head
    ],
)
def test_pictures_show_the_tree_that_was_translated(tmp_path, given, used):
    one = translator(tmp_path)
    words, tags = ["他", "做", "饭", "你"], ["PN", "VV", "NN", "PN"]
    tree, better = Dependency(words, given, tags), Dependency(words, used, tags)
    found = one.translate(tree)
    assert found.tree == better
    assert to_html(found, tree) == to_html(one.translate(better), better)
