"""Pcfg: what is read off trees, and what is refused."""

from math import exp, log

import pytest

from treeglot.parse import Pcfg
from treeglot.syntax import ScoreKind, Tree

TREES = [
    Tree.parse("(TOP (S (NP (N I)) (VP (V saw) (NP (N stars)))))"),
    Tree.parse("(TOP (S (NP (N I)) (VP (VP (V saw) (NP (N stars))) (PP (P with) (NP (N eyes))))))"),
    Tree.parse("(TOP (S (NP (NP (N stars)) (PP (P with) (NP (N eyes)))) (VP (V saw))))"),
]


def test_rules_are_relative_frequencies() -> None:
    rules = {(head, *body): (lexical, count, logprob) for head, body, lexical, count, logprob in Pcfg(TREES).rules}
    assert rules["VP", "V", "NP"] == (False, 2.0, log(2 / 4))
    assert rules["VP", "V"] == (False, 1.0, log(1 / 4))
    assert rules["N", "stars"] == (True, 3.0, log(3 / 7))
    totals: dict[str, float] = {}
    for head, _, _, _, logprob in Pcfg(TREES).rules:
        totals[head] = totals.get(head, 0.0) + exp(logprob)
    assert totals == pytest.approx(dict.fromkeys(totals, 1.0))


def test_forest_of_both_attachments() -> None:
    (forest,) = Pcfg(TREES).forests([["I", "saw", "stars", "with", "eyes"]])
    assert forest.kind == ScoreKind.conditional
    assert forest.label(forest.graph.goal or 0) == "TOP"
    nodes = {(forest.label(n), *forest.span(n)): n for n in range(forest.graph.nodes)}
    into = forest.graph.first_edge
    assert into[nodes["VP", 1, 5] + 1] - into[nodes["VP", 1, 5]] == 2
    assert ("S", 1, 5) not in nodes


def test_no_parse() -> None:
    forests = Pcfg(TREES).forests([["stars", "stars"], ["nobody", "saw"], []])
    assert [forest.parsed for forest in forests] == [False, False, False]
    assert forests[0].words == ["stars", "stars"]


def test_others_add_productions_but_no_counts() -> None:
    other = Tree.parse("(TOP (S (NP (N you)) (VP (V saw) (NP (N stars)))))")
    pcfg = Pcfg(TREES, others=[other], unseen=0.5)
    counts = {(head, *body): count for head, body, _, count, _ in pcfg.rules}
    assert counts["N", "you"] == 0.5
    assert counts["VP", "V", "NP"] == 2.0
    assert pcfg.forests([["you", "saw"]])[0].parsed


def test_empty_trees_are_passed_over() -> None:
    assert Pcfg([Tree(), *TREES]).rules == Pcfg(TREES).rules
    assert not Pcfg([]).forests([["a"]])[0].parsed


@pytest.mark.parametrize(
    ("trees", "message"),
    [
        (["(S (N a))", "(Q (N a))"], "trees with the roots 'S' and 'Q'; expected one"),
        (["(S (N a) b)"], "the word 'b' has siblings below 'S'; expected a tag above every word"),
        (["(S (A (B (N a))))", "(S (B (A (N a))))"], "unary rules form a cycle among or below 'S', 'A', 'B'"),
    ],
)
def test_refusals(trees: list[str], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        Pcfg([Tree.parse(tree) for tree in trees])
    assert str(caught.value) == message


@pytest.mark.parametrize("unseen", [0.0, -1.0, float("inf"), float("nan")])
def test_unseen_counts_something(unseen: float) -> None:
    with pytest.raises(ValueError) as caught:
        Pcfg(TREES, unseen=unseen)
    assert str(caught.value) == "unseen productions must count more than 0"


def test_a_deep_tree_does_not_overflow() -> None:
    deep = Tree.parse("(S" * 5000 + " (N a)" + " (N a))" * 5000)
    forest = Pcfg([deep]).forests([["a"] * 40])[0]
    assert forest.parsed
