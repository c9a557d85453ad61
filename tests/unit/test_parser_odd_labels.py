"""Treebanks with labels and roots that others do not have: tags that begin with @, tags below themselves, ROOT."""

from pathlib import Path

import pytest

from treeglot._core import SplitGrammar
from treeglot.base.errors import FormatError
from treeglot.parse import ParserTraining, load_parser, train_parser, treebank
from treeglot.parse.parser import GrammarParser
from treeglot.parse.train import train_in
from treeglot.syntax import Tree

PLAIN = ParserTraining(cycles=0)


def parser_of(*trees: str) -> GrammarParser:
    """Trained on ten of each tree, such that no word is rare: rare ones lean on what others like them are."""
    return GrammarParser(train_parser(treebank(Tree.parse(tree) for tree in trees * 10)[0], PLAIN))


def every_way(parser: GrammarParser, sentence: str) -> list[str]:
    """The best tree by itself, that of the forest, and the first of the list."""
    words = [sentence.split()]
    (tree,), (forest,), (best,) = parser.trees(words), parser.forests(words), parser.kbest(words, 1)
    return [str(tree.value), str(forest.value.viterbi()), str(best[0][1])]


def test_the_tag_at_is_a_tag() -> None:
    tree = "(TOP (S (NP (@ john)) (VP (V runs) (NP (D the) (@ mary) (N race)))))"
    assert every_way(parser_of(tree), "john runs the mary race") == [tree] * 3


def test_other_labels_with_the_mark_of_parts_are_refused() -> None:
    trees = ("(S (@NP (N a)) (V b))", "(S (@ (N a) (V b)))", "(S (@V b))", "(S (N @b))")
    bank, report = treebank(Tree.parse(tree) for tree in trees)
    assert len(bank) == 1
    assert report.problems == tuple(
        f"tree {number}: the label '{label}' begins with @, as parts of rules do; expected another"
        for number, label in ((1, "@NP"), (2, "@"), (3, "@V"))
    )


def test_a_tag_of_a_grammar_from_elsewhere_is_no_part() -> None:
    states = b"ROOT\t0\t1 [0]\nS\t1\t1 [0]\n@X\t2\t1 [0]\n"
    rules = b"ROOT_0 -> S_0 1\nS_0 -> @X_0 @X_0 1\n"
    grammar = SplitGrammar.read([(("s", states), ("g", rules), ("l", b"@X a [1.0]\n"))])
    tree = "(S (@X a) (@X a))"
    assert every_way(GrammarParser(grammar), "a a") == [tree, f"(ROOT {tree})", tree]


@pytest.mark.parametrize("vertical", [1, 2])
def test_a_tag_below_itself_is_cut_and_breaks_no_chain(tmp_path: Path, vertical: int) -> None:
    options = ParserTraining(cycles=0, vertical=vertical)
    trees = ["(TOP (S (VP (V go))))", "(TOP (S (NP (N dogs)) (VP (V go) (X (X hm)))))"]
    bank, report = treebank((Tree.parse(tree) for tree in trees), options)
    assert (report.unary_cycles, report.first_cycle) == (1, "X > X")
    train_in(tmp_path, bank, options)
    rules = (tmp_path / "level0.grammar").read_text().splitlines()
    assert not [rule for rule in rules if rule.split()[0] == rule.split()[2]]
    assert every_way(load_parser(tmp_path), "go") == ["(TOP (S (VP (V go))))"] * 3
    assert every_way(load_parser(tmp_path), "dogs go hm") == ["(TOP (S (NP (N dogs)) (VP (V go) (X hm))))"] * 3


def test_rules_of_grammars_trained_here_are_single_steps(tmp_path: Path) -> None:
    bank, _ = treebank([Tree.parse("(TOP (S (VP (V go))))")], PLAIN)
    train_in(tmp_path, bank, PLAIN)
    assert "steps = true" in (tmp_path / "parser.toml").read_text()
    files = [(name, (tmp_path / f"level0.{name}").read_bytes()) for name in ("stateInfo", "grammar", "lexicon")]
    files[1] = ("grammar", files[1][1] + b"S_0 -> S_0 1\n")
    with pytest.raises(FormatError, match=r"'S_0 -> S_0 1' is a rule of a label by itself; expected none"):
        SplitGrammar.read([(files[0], files[1], files[2])], steps=True)


def test_root_stays_where_more_or_less_than_a_node_is_below_it() -> None:
    trees = ["(ROOT (S (NP (N dogs)) (VP (V run))) (. .))", "(ROOT (S (VP (V go))))", "(ROOT (N cats))", "(ROOT hey)"]
    parser = parser_of(*trees)
    assert every_way(parser, "dogs run .") == [trees[0]] * 3
    assert every_way(parser, "hey") == [trees[3]] * 3
    assert every_way(parser, "go") == ["(S (VP (V go)))", trees[1], "(S (VP (V go)))"]
    assert every_way(parser, "cats") == ["(N cats)", trees[2], "(N cats)"]


def test_flat_trees_have_no_tag_over_tags() -> None:
    trees = ["(ROOT (N dogs))", "(ROOT (N dogs))", "(ROOT (S (N dogs) (V run)))"]  # ROOT → N is likelier
    assert every_way(parser_of(*trees), "run run") == [
        "(S (V run) (V run))",
        "(ROOT (S (V run) (V run)))",
        "(S (V run) (V run))",
    ]
    assert every_way(parser_of("(ROOT (N dogs))"), "dogs dogs") == ["(ROOT (N dogs) (N dogs))"] * 3
