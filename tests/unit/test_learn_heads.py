"""Head tables learnt from dependencies: those of tables are made again, those of parsers as far as possible."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syntax_strategies import trees

from treeglot import Dependency, Tree, UsageError
from treeglot._core import HeadTable
from treeglot.cli import main
from treeglot.sample.corpus import read_pairs
from treeglot.syntax import heads, read, write
from treeglot.syntax.constituents import to_dependencies, to_dependency
from treeglot.syntax.heads.learn import learn_heads

LABELS = ["A", "B", "C", "D", "N", "V", "S", "NP", "VP"]


@st.composite
def tables(draw: st.DrawFn) -> HeadTable:
    """A table with any rules, and without coordination."""

    def steps() -> str:
        labels = draw(st.permutations(LABELS))[: draw(st.integers(0, len(LABELS)))]
        ends = sorted({min(end, len(labels)) for end in draw(st.lists(st.integers(1, 9), max_size=3))} | {len(labels)})
        made, begin = [], 0
        for end in ends:
            made.append(" ".join([draw(st.sampled_from(["first", "last"])), *labels[begin:end]]))
            begin = end
        return " > ".join(made)

    rules = "".join(f"{label} = {steps()}\n" for label in LABELS)
    passed = draw(st.lists(st.sampled_from(LABELS), max_size=2, unique=True))
    return HeadTable.read(f"%default {steps()}\n%pass {' '.join(passed)}\n{rules}", "random")


def bush(draw: st.DrawFn, depth: int) -> str:
    """A tree in brackets whose words all have tags."""
    label = draw(st.sampled_from(LABELS))
    if depth == 0:
        return f"({label} {draw(st.sampled_from(['w', '.', ',']))})"
    children = [bush(draw, draw(st.integers(0, depth - 1))) for _ in range(draw(st.integers(1, 4)))]
    return f"({label} {' '.join(children)})"


bushes = st.composite(lambda draw: [Tree.parse(bush(draw, 3)) for _ in range(draw(st.integers(1, 8)))])


@given(bushes(), tables())
def test_dependencies_of_a_table_are_made_again(found: list[Tree], table: HeadTable) -> None:
    wanted = to_dependencies(found, table)
    if all(len(tree.words) == 1 for tree in found):  # no constituent has two children
        return
    learnt = learn_heads(zip(found, wanted, strict=True))
    assert (learnt.right, learnt.without_head) == (learnt.constituents, 0)
    assert [tree.heads.tolist() for tree in to_dependencies(found, learnt.table)] == [
        tree.heads.tolist() for tree in wanted
    ]


@given(st.lists(trees(), min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_any_dependencies_give_a_table(found: list[Tree], random: object) -> None:
    def scrambled(tree: Tree) -> Dependency:
        size = len(tree.words)
        choices = [[-2, -1, *(h for h in range(size) if h != w)] for w in range(size)]
        return Dependency(tree.words, [random.choice(each) for each in choices])  # type: ignore[attr-defined]

    try:
        learnt = learn_heads((tree, scrambled(tree)) for tree in found)
    except UsageError as error:
        assert "no constituent has two children and one head" in str(error)
        return
    assert 0 <= learnt.right <= learnt.constituents - learnt.without_head
    for tree in found:
        to_dependency(tree, learnt.table)


@pytest.mark.parametrize("name", heads.names())
def test_tables_that_come_along_are_learnt_from_the_sample(name: str) -> None:
    table = heads.load(name)
    for side in ("source_tree", "target_tree"):
        found = [getattr(pair, side) for pair in read_pairs(500)]
        wanted = to_dependencies(found, table)
        learnt = learn_heads(zip(found[:400], wanted[:400], strict=True))
        assert learnt.right == learnt.constituents
        assert to_dependencies(found[:400], learnt.table) == wanted[:400]
        words = right = 0
        for made, gold in zip(to_dependencies(found[400:], learnt.table), wanted[400:], strict=True):
            words += len(gold)
            right += int((made.heads == gold.heads).sum())
        assert right >= 0.99 * words


def test_punctuation_is_passed_over_and_conjunctions_give_way() -> None:
    brackets = ["(NP (NN a) (CC and) (NN b))", "(NP (DT a) (NN b) (NN c))", "(X (NP (NN b)) (. .))", "(X (. .) (NN b))"]
    found = [Tree.parse(each) for each in brackets]
    text = learn_heads(zip(found, to_dependencies(found, heads.load("english")), strict=True)).table.text
    assert "%pass .\n" in text
    assert "%conjunctions CC\n" in text
    assert "NP = last NN\n" in text


def test_mistakes_of_a_parser_are_outvoted() -> None:
    tree = Tree.parse("(NP (DT the) (NN dog))")
    right, wrong = Dependency(tree.words, [1, -1]), Dependency(tree.words, [-1, 0])
    learnt = learn_heads([(tree, right)] * 9 + [(tree, wrong)])
    assert (learnt.right, learnt.constituents) == (9, 10)
    assert learnt.table.head_child("NP", ["DT", "NN"]) == 1


def test_labels_that_a_table_cannot_name_are_left_out() -> None:
    tree = Tree.parse("(NP (first a) (NN dog))")
    learnt = learn_heads([(tree, Dependency(tree.words, [-1, 0])), (Tree(), Dependency([], []))])
    assert (learnt.trees, learnt.left_out) == (1, 1)
    assert "first first" not in learnt.table.text


def test_other_words_are_refused() -> None:
    with pytest.raises(UsageError, match="dependency tree 1: word 1 is 'b'; in tree 1 it is 'a'"):
        learn_heads([(Tree.parse("(X (A a))"), Dependency(["b"], [-1]))])
    with pytest.raises(UsageError, match="no constituent has two children and one head; expected some"):
        learn_heads([(Tree.parse("(X (A a))"), Dependency(["a"], [-1]))])


def test_other_commands_take_the_table_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = [pair.source_tree for pair in read_pairs(50)]
    write(tmp_path / "a.tree", found)
    write(tmp_path / "a.conllu", to_dependencies(found, heads.load("chinese")))
    paths = [str(tmp_path / name) for name in ("a.tree", "a.conllu")]
    out = str(tmp_path / "my.heads")
    assert main(["heads", "learn", *paths, "-o", out]) == 0
    assert "the table finds 100.00 % of the other heads" in capsys.readouterr().err
    assert main(["convert", paths[0], str(tmp_path / "b.conllu"), "--heads", out]) == 0
    assert list(read(tmp_path / "b.conllu")) == list(read(paths[1]))
    assert main(["heads", "learn", paths[1], paths[0], "-o", out]) == 2
    write(tmp_path / "a.conllu", [Dependency(["x"], [-1])] * len(found))
    assert main(["heads", "learn", *paths, "-o", out]) == 1
    assert "a.conllu: dependency tree 1: it has 1 words" in capsys.readouterr().err
