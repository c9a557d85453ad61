"""Translating forests: the c2d page's example, fallbacks, limits, large and deep input."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import bush
import pytest
from extraction import pairs_of
from forest_rules import ForestRule, forest_table

from treeglot import ParseForest, Tree
from treeglot._core import ScoreKind
from treeglot.decode import SearchOptions, Translator
from treeglot.decode.matchers import match_forests
from treeglot.graph import Builder
from treeglot.lm import compile_dependency, train_dependency
from treeglot.rules import compile_table, extract, open_table, score_rules
from treeglot.rules.ghkm import GhkmOptions
from treeglot.syntax import heads

SCORES = {1: -0.2, 2: -1.7, 7: -0.2, 8: -1.7, 10: -1.7, 11: -0.2, 12: -1.7}  # the NP's tree is the better one
NPB, CC, VPB, VP, PP, P = ("NPB",), ("CC",), ("VPB",), ("VP",), ("PP",), ("P",)
MINIMAL = [
    ForestRule(("IP", ("NP", NPB, CC, NPB), VPB), ("1", "4", "2", "3"), heads=(2, 0, 2, 3)),
    ForestRule(("IP", NPB, VP), ("1", "2"), heads=(2, 0)),
    ForestRule(("VP", PP, VPB), ("2", "1"), heads=(0, 1)),
    ForestRule(("PP", P, NPB), ("1", "2"), heads=(0, 1)),
    ForestRule(("VPB", ("VV", "jǔxíng"), ("AS", "le"), NPB), ("held", "a", "1"), heads=(0, 3, 1), tags=("VBD", "DT")),
    ForestRule(("NPB", "Bùshí"), ("Bush",), heads=(0,), tags=("NNP",)),
    ForestRule(("CC", "yǔ"), ("with",), heads=(0,), tags=("IN",)),
    ForestRule(("P", "yǔ"), ("with",), heads=(0,), tags=("IN",)),
    ForestRule(("NPB", "Shālóng"), ("Sharon",), heads=(0,), tags=("NNP",)),
    ForestRule(("NPB", "huìtán"), ("talk",), heads=(0,), tags=("NN",)),
]
COMPOSED = ForestRule(
    ("IP", ("NP", NPB, ("CC", "yǔ"), NPB), VPB), ("1", "3", "with", "2"), heads=(2, 0, 2, 3), tags=("IN",)
)
TREES = {
    "np": "(IP (NP (NPB Bùshí) (CC yǔ) (NPB Shālóng)) (VPB (VV jǔxíng) (AS le) (NPB huìtán)))",
    "vp": "(IP (NPB Bùshí) (VP (PP (P yǔ) (NPB Shālóng)) (VPB (VV jǔxíng) (AS le) (NPB huìtán))))",
}


def example() -> ParseForest:
    return bush.forest(SCORES)


def translator(rules: list[ForestRule], weights: dict[str, float], options: SearchOptions | None = None) -> Translator:
    setup = match_forests(heads.load("chinese"))
    return Translator(forest_table(rules), weights, options=options or SearchOptions(), setup=setup)


@pytest.mark.parametrize(("parse", "tree"), [(1.0, "np"), (-1.0, "vp")])
def test_the_example_of_the_c2d_page_by_either_tree(parse: float, tree: str) -> None:
    forest = example()
    found = translator(MINIMAL, {"parse": parse}).translate(forest)
    assert found.text == "Bush held a talk with Sharon"
    assert str(forest.tree_with(found.derivation.parse_edges())) == TREES[tree]


def test_the_output_of_the_example_has_its_dependency_tree() -> None:
    tree = bush.DEPENDENCY
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one tree is little
        models = [compile_dependency(train_dependency([tree], unit)) for unit in ("words", "tags")]
    setup = match_forests(heads.load("chinese"), tuple(models))
    weights = {"dlm_words": 1.0, "dlm_tags": 1.0, "parse": 0.5, "ill_formed": -1.0}
    one = Translator(forest_table([*MINIMAL, COMPOSED]), weights, setup=setup)
    found = one.translate_batch([example()], kbest=100)[0]
    assert found.text == "Bush held a talk with Sharon"
    assert found.dependency == tree
    assert len(found.hypotheses) == 3  # by either tree of the forest, and by the composed rule
    for hypothesis in found.hypotheses:
        assert hypothesis.dependency == tree
        for name, model in zip(("dlm_words", "dlm_tags"), models, strict=True):
            assert hypothesis.features[name] == pytest.approx(model.score(tree) * math.log(10), abs=1e-5)


def test_the_rules_taken_from_the_example_translate_it(tmp_path: Path) -> None:
    parses = {"source_forest": [example()], "target_dependency": [bush.DEPENDENCY]}
    pairs = pairs_of([(bush.SOURCE, bush.TARGET, bush.ALIGNMENT)], **parses)
    minimal = GhkmOptions(True, True, "none", max_composed=1, prune=20.0)
    extraction = extract("ghkm", pairs, tmp_path / "counts", minimal)
    assert score_rules(extraction, tmp_path / "rules.parquet") == len(MINIMAL)
    compile_table(tmp_path / "rules.parquet", tmp_path / "rules.table")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = tuple(compile_dependency(train_dependency([bush.DEPENDENCY], unit)) for unit in ("words", "tags"))
    setup = match_forests(heads.load("chinese"), models)
    found = Translator(open_table(tmp_path / "rules.table"), {"parse": 1.0}, setup=setup).translate(example())
    assert found.dependency == bush.DEPENDENCY
    assert found.dependency.to_brackets() == "(Bush) held ((a) talk) (with (Sharon))"


def test_steps_print_their_fragments() -> None:
    forest = example()
    found = translator([*MINIMAL, COMPOSED], {"rule_penalty": -1.0, "parse": 0.01}).translate(forest)
    lines = str(found.derivation).split("\n")
    assert lines[:3] == [
        "[S] ||| [IP,1] ||| [IP,1]    0-6",
        "  [IP] ||| IP( NP( [NPB,1] CC( yǔ ) [NPB,2] ) [VPB,3] ) ||| [NPB,1] [VPB,3] with [NPB,2]    0-6",
        "    [NPB] ||| NPB( Bùshí ) ||| Bush    0-1",
    ]


def test_a_hyperedge_without_a_rule_gets_a_pseudo_rule_in_source_order() -> None:
    rules = [rule for rule in MINIMAL if rule.source[0] != "IP"]
    found = translator(rules, {"pseudo": -1.0, "parse": 1.0}).translate(example())
    assert found.text == "Bush with Sharon held a talk"
    assert found.features["pseudo"] == 2
    pseudo = [step.source for step in found.derivation.steps if step.local]
    assert pseudo == ["[IP,1]", "IP( [NP,1] [VPB,2] )", "NP( [NPB,1] [CC,2] [NPB,3] )"]


def test_phrases_stand_on_the_spans_of_nodes_alone() -> None:
    weights = {"p": 1.0, "pseudo": -1.0}
    on_node = ForestRule(("yǔ", "Shālóng"), ("with", "him"), 5.0, phrase=True)
    across = ForestRule(("Shālóng", "jǔxíng"), ("nobody", "held"), 50.0, phrase=True)
    found = translator([*MINIMAL, on_node, across], weights).translate(example())
    assert found.text == "Bush held a talk with him"
    assert [step.label for step in found.derivation.steps if step.source == "yǔ Shālóng"] == ["PP"]


def test_unknown_words_pass_through() -> None:
    rules = [rule for rule in MINIMAL if rule.target != ("Sharon",)]
    found = translator(rules, {"unknown": -1.0}).translate(example())
    assert found.text == "Bush held a talk with Shālóng"
    assert found.features["unknown"] == 1
    assert "NPB( Shālóng )" in str(found.derivation)


def test_without_a_parse_phrases_and_glue_translate_and_the_sentence_is_counted() -> None:
    rules = [*MINIMAL, ForestRule(("jǔxíng", "le"), ("held",), phrase=True)]
    words = example().words
    unparsed = ParseForest(Builder().freeze(None).graph, [], [], [], ScoreKind.posterior)
    assert translator(rules, {}).translate(unparsed).text == ""
    line = translator(rules, {"glue": -1.0}).translate(" ".join(words))
    assert line.text == "Bùshí yǔ Shālóng held huìtán"
    assert line.notes == ("no parse, translated by phrases and glue",)
    builder = Builder()
    builder.add_nodes(6)
    for node in range(6):
        builder.add_edge(node, [])
    graph = builder.freeze(None).graph
    spans = [(i, i + 1) for i in range(6)]
    forest = ParseForest(graph, words, spans, [0.0] * 6, ScoreKind.posterior)
    again = translator(rules, {"glue": -1.0}).translate(forest)
    assert (again.text, again.notes) == (line.text, line.notes)


CROSSED = "(S (NP (N a) (N b)) (VP (V c) (N d)))"
PHRASES = [ForestRule((word,), (word.upper(),), phrase=True) for word in "abcd"]


@pytest.mark.parametrize(
    ("source", "target", "wanted"),
    [
        (("b", "c"), ("BC",), "A BC D"),
        (("a", "b", "c"), ("ABC",), "ABC D"),
        (("a", ("X",), "d"), ("1", "AD"), "X AD"),
    ],
)
def test_phrases_that_cross_constituents(source: tuple[object, ...], target: tuple[str, ...], wanted: str) -> None:
    rules = [*PHRASES, ForestRule(source, target, phrase=True), ForestRule(("b", "c"), ("X",), -9.0, phrase=True)]
    weights = {"p": 1.0, "pseudo": -9.0, "glue": -1.0}
    forest = ParseForest.from_tree(Tree.parse(CROSSED))
    with_them = SearchOptions(crossing_phrases=True, pop_limit=0)
    assert translator(rules, weights, SearchOptions(pop_limit=0)).translate(forest).text == "A B C D"
    found = translator(rules, weights, with_them).translate(forest)
    assert found.text == wanted
    parts = len(wanted.split()) if ("X",) not in source else 1
    assert found.features.get("glue", 0.0) == parts - 1
    narrow = SearchOptions(crossing_phrases=True, pop_limit=0, span_limit=3)
    assert translator(rules, weights, narrow).translate(forest).text == "A B C D"


@pytest.mark.parametrize("limit", [2**31 - 1, 2**32 - 1])
def test_phrases_cross_constituents_with_any_span_limit(limit: int) -> None:
    rules = [*PHRASES, ForestRule(("b", "c"), ("BC",), phrase=True)]
    forest = ParseForest.from_tree(Tree.parse(CROSSED))
    options = SearchOptions(crossing_phrases=True, pop_limit=0, span_limit=limit)
    found = translator(rules, {"p": 1.0, "pseudo": -9.0, "glue": -1.0}, options)
    assert found.translate(forest).text == "A BC D"
    assert found.translate("a b c d").text == "A BC D"


def test_a_chain_of_fifty_thousand_unary_nodes() -> None:
    depth = 50_000
    tree = Tree.parse("(X " * depth + "w" + ")" * depth)
    rules = [ForestRule(("X", ("X",)), ("1",)), ForestRule(("w",), ("word",), phrase=True)]
    found = translator(rules, {"rule_penalty": 1.0}, SearchOptions(pop_limit=2)).translate(ParseForest.from_tree(tree))
    assert found.text == "word"
    assert found.features["rule_penalty"] == depth


def test_a_forest_of_a_hundred_thousand_edges_is_translated_within_its_limits() -> None:
    n = 85  # a dense chart of X → X X: some 100,000 edges
    builder = Builder()
    at: dict[tuple[int, int], int] = {}
    spans = [(i, i + 1) for i in range(n)]
    builder.add_nodes(n)
    for i in range(n):
        builder.add_edge(i, [])
    for width in range(1, n + 1):
        for begin in range(n - width + 1):
            end = begin + width
            node = builder.add_node()
            spans.append((begin, end))
            if width == 1:
                builder.add_edge(node, [begin])
            for middle in range(begin + 1, end):
                builder.add_edge(node, [at[begin, middle], at[middle, end]])
            at[begin, end] = node
    graph = builder.freeze(at[0, n]).graph
    assert graph.edges > 100_000
    labels = ["w"] * n + ["X"] * (len(spans) - n)
    forest = ParseForest(graph, labels, spans, [0.0] * graph.edges, ScoreKind.arbitrary)
    x = ("X",)
    rules = [
        ForestRule(("X", x, x), ("2", "1")),
        ForestRule(("X", ("X", x, x), ("X", x, x)), ("1", "2", "3", "4")),
        ForestRule(("X", "w"), ("v",)),
    ]
    options = SearchOptions(pop_limit=1, step_limit=300)
    found = translator(rules, {"rule_penalty": -1.0}, options).translate(forest)
    assert found.text == " ".join(["v"] * n)
    assert found.notes == ("the step limit of matching was hit",)


def test_margins_below_zero_are_refused() -> None:
    with pytest.raises(ValueError, match="margin"):
        translator(MINIMAL, {}, SearchOptions(forest_margin=-1.0)).translate(example())
    assert translator(MINIMAL, {}, SearchOptions(forest_margin=math.inf)).translate(example()).text
