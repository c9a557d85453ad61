"""Parsing with several grammars against all trees of their forests' rules, one by one."""

import math
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from split_grammars import WORDS, Edge, Place, Split, Tree, edges_of, grammars, scored_trees

from treeglot._core import ProductParser, SplitGrammar
from treeglot.graph import posteriors
from treeglot.parse import ParsingOptions
from treeglot.parse.parser import GrammarParser
from treeglot.syntax import ParseForest

Grammars = tuple[Split, Split, SplitGrammar]
Scores = dict[Edge, float]
short_sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)
drawn_grammars = st.lists(st.one_of(grammars(cyclic=True), grammars(), grammars(closed=True)), min_size=2, max_size=3)
MISSING = 3.0
PARSED = ("parsed", "coarser")


def rule_posteriors(forest: ParseForest) -> Scores:
    """Of each rule of a forest the best score of its edges; a label above itself is no rule."""
    words = len(forest.words)
    out: Scores = {}
    for edge, score in zip(edges_of(forest)[words:], forest.scores[words:], strict=True):
        if edge[3] != (edge[:3],):
            out[edge] = max(out.get(edge, -math.inf), float(score))
    return out


def rule_probabilities(forest: ParseForest) -> Scores:
    """Of each rule log P(rule | head) among the forest's trees, over all nodes with one label and span."""
    words = len(forest.words)
    rules: Counter[Edge] = Counter()
    heads: Counter[Place] = Counter()
    for edge, p in zip(edges_of(forest)[words:], posteriors(forest.graph, forest.scores)[words:], strict=True):
        if edge[3] != (edge[:3],):
            rules[edge] += math.exp(p)
            heads[edge[:3]] += math.exp(p)
    return {edge: math.log(p / heads[edge[:3]]) for edge, p in rules.items()}


def means(several: list[Scores], missing: float) -> Scores:
    """The mean score of each rule that one of the grammars has."""
    rules = {edge for one in several for edge in one}
    return {e: math.fsum(max(one.get(e, -math.inf), -missing) for one in several) / len(several) for e in rules}


def trees_of(rules: Scores, goal: Place) -> Iterator[Tree]:
    """All trees of the rules whose unary chains pass no label twice."""
    by_head: dict[Place, list[Edge]] = {}
    for edge in rules:
        by_head.setdefault(edge[:3], []).append(edge)

    @cache
    def below(place: Place, above: frozenset[str]) -> tuple[Tree, ...]:
        return tuple(tree for edge in by_head.get(place, ()) for tree in of_edge(edge, above | {place[0]}))

    def of_edge(edge: Edge, passed: frozenset[str]) -> Iterator[Tree]:
        tails = edge[3]
        if len(tails) == 1:
            if tails[0][0] not in passed:
                yield from (tree | {edge} for tree in below(tails[0], passed))
            return
        made: list[Tree] = [frozenset({edge})]
        for tail in tails:
            made = [tree | more for tree in made for more in below(tail, frozenset())]
        yield from made

    return iter(below(goal, frozenset()))


def sums(trees: Iterator[Tree], scores: Scores) -> dict[Tree, float]:
    out: dict[Tree, float] = {}
    for tree in trees:
        assert tree not in out
        out[tree] = math.fsum(scores[edge] for edge in tree)
    return out


def parser_of(drawn: list[Grammars], options: ParsingOptions) -> GrammarParser:
    first, *others = (grammar for _, _, grammar in drawn)
    return GrammarParser(first, options, also=tuple(others))


def alone(drawn: list[Grammars], words: list[str], options: ParsingOptions) -> list[ParseForest]:
    """The forests of the grammars that have a parse."""
    found = [next(GrammarParser(grammar, options).forests([words])) for _, _, grammar in drawn]
    return [parsed.value for parsed in found if parsed.status in PARSED]


@given(drawn_grammars, short_sentences, st.sampled_from([0.0, 0.5, 3.0, math.inf]))
@settings(max_examples=80, deadline=None)
def test_the_product_has_the_trees_of_all_rules_and_their_mean_scores(
    drawn: list[Grammars], words: list[str], margin: float
) -> None:
    options = ParsingOptions(coarse=(math.inf,), prune=margin, missing=MISSING)
    parser = parser_of(drawn, options)
    (parsed,) = parser.forests([words])
    found = alone(drawn, words, options)
    if not found:
        assert parsed.status == "flat"
        assert parsed.log_probability == -math.inf
        return
    assert parsed.status in (("fewer",) if len(found) < len(drawn) else PARSED)
    scores = means([rule_posteriors(forest) for forest in found], MISSING)
    wanted = sums(trees_of(scores, ("ROOT", 0, len(words))), scores)
    best = max(wanted.values())
    held = scored_trees(parsed.value)
    good = {tree for tree, score in wanted.items() if score >= best - margin + 1e-9}
    assert good <= held.keys() <= wanted.keys()
    for tree, score in held.items():
        assert math.isclose(score, wanted[tree], abs_tol=1e-9)
    assert math.isclose(max(held.values()), best, abs_tol=1e-9)
    # Every edge is in a tree within the margin.
    near = [tree for tree, score in held.items() if score >= best - margin - 1e-6]
    assert {edge for tree in near for edge in tree} == set(edges_of(parsed.value)[len(words) :])
    assert parsed.cut == 0
    (tree,) = parser.trees([words])
    bests = [str(other) for score, other in parsed.value.kbest(len(held)) if score > best - 1e-9]
    assert str(tree.value) in [text.removeprefix("(ROOT ").removesuffix(")") for text in bests]
    assert (tree.status, tree.log_probability, tree.each) == (parsed.status, parsed.log_probability, parsed.each)


@given(drawn_grammars, short_sentences, st.sampled_from([0.5, math.inf]))
@settings(max_examples=50, deadline=None)
def test_probabilities_of_the_product_are_those_of_its_trees(
    drawn: list[Grammars], words: list[str], margin: float
) -> None:
    options = ParsingOptions(coarse=(math.inf,), prune=margin, missing=MISSING, scores="probability")
    found = alone(drawn, words, options)
    (parsed,) = parser_of(drawn, options).forests([words])
    if not found:
        assert parsed.status == "flat"
        return
    scores = means([rule_probabilities(forest) for forest in found], MISSING)
    held = scored_trees(parsed.value)
    weights = {tree: math.exp(math.fsum(scores[edge] for edge in tree)) for tree in held}
    total = math.fsum(weights.values())
    for tree, score in held.items():
        assert math.isclose(math.exp(score), weights[tree] / total, rel_tol=1e-9)


@given(st.one_of(grammars(cyclic=True), grammars(closed=True)), short_sentences)
@settings(max_examples=40, deadline=None)
def test_a_grammar_with_itself_scores_rules_as_it_does_alone(drawn: Grammars, words: list[str]) -> None:
    options = ParsingOptions(coarse=(math.inf,), prune=math.inf, missing=1000.0)
    (parsed,) = GrammarParser(drawn[2], options).forests([words])
    (twice,) = GrammarParser(drawn[2], options, also=(drawn[2],)).forests([words])
    assert twice.status == parsed.status
    assert twice.each == (parsed.status, parsed.status)
    if parsed.status not in PARSED:
        assert twice.value == parsed.value
        return
    assert twice.log_probability == parsed.log_probability
    assert rule_posteriors(twice.value) == rule_posteriors(parsed.value)


@given(drawn_grammars, st.lists(short_sentences, min_size=1, max_size=5))
@settings(max_examples=20, deadline=None)
def test_threads_change_nothing(drawn: list[Grammars], lines: list[list[str]]) -> None:
    one = list(parser_of(drawn, ParsingOptions()).forests(lines))
    assert list(parser_of(drawn, ParsingOptions(threads=3)).forests(lines)) == one
    trees = list(parser_of(drawn, ParsingOptions()).trees(lines))
    assert list(parser_of(drawn, ParsingOptions(threads=3)).trees(lines)) == trees


@given(grammars())
@settings(max_examples=5, deadline=None)
def test_each_grammar_has_a_level(drawn: Grammars) -> None:
    with pytest.raises(ValueError, match="2 grammars with 1 levels; expected one or more, and a level for each"):
        ProductParser([drawn[2], drawn[2]], [1])
    with pytest.raises(ValueError, match="level 7 of a grammar that has 2"):
        ProductParser([drawn[2], drawn[2]], [1, 7])
