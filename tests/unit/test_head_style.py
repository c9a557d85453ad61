"""Where dependencies depart from the head table."""

import pytest

from treeglot import UsageError
from treeglot.syntax import Tree, heads, to_dependency
from treeglot.syntax.head_style import STYLES, HeadStyle, head_style

COORDINATED = "(NP (NP (NNS cats)) (, ,) (NP (NNS dogs)) (CC and) (NP (JJ old) (NNS cows)))"
EXAMPLES = [
    (HeadStyle(), COORDINATED, "cats (,) (dogs) (and) ((old) cows)"),
    (HeadStyle("chain"), COORDINATED, "cats (,) (dogs (and ((old) cows)))"),
    (HeadStyle("conjunction"), COORDINATED, "(cats) (,) (dogs) and ((old) cows)"),
    (HeadStyle("chain"), "(NP (DT the) (NN cat) (CC and) (NN dog))", "(the) cat (and (dog))"),
    (HeadStyle("chain"), "(NP (CC both) (NN cat) (CC and) (NN dog))", "(both) cat (and (dog))"),
    (HeadStyle("chain"), "(S (CC And) (NP (PRP he)) (VP (VBD came)))", "(And) (he) came"),
    (HeadStyle("chain"), "(S (S (VP (VB Go))) (, ,) (CC or) (S (VP (VB stay))) (. .))", "Go (,) (or (stay)) (.)"),
    (HeadStyle("conjunction"), "(NP (NN a) (CC or) (NN b) (CC and) (NN c))", "(a) (or) (b) and (c)"),
    (HeadStyle(), "(PP (IN with) (NP (DT the) (NN dog)))", "with ((the) dog)"),
    (HeadStyle(prepositions="object"), "(PP (IN with) (NP (DT the) (NN dog)))", "(with) (the) dog"),
    (HeadStyle(prepositions="object"), "(PP (IN with) (. .))", "with (.)"),
    (HeadStyle(prepositions="object"), "(VP (VB go) (PP (TO to) (NP (NN bed))))", "go ((to) bed)"),
    (HeadStyle(), "(S (NP (PRP he)) (VP (MD will) (VP (VB be) (VP (VBG eating)))))", "(he) will (be (eating))"),
    (
        HeadStyle(auxiliaries="verb"),
        "(S (NP (PRP he)) (VP (MD will) (RB not) (VP (VB be) (VP (VBG eating)))))",
        "(he) (will) (not) (be) eating",
    ),
    (HeadStyle(auxiliaries="verb"), "(S (NP (PRP he)) (VP (VBZ is) (NP (NN king))))", "(he) is (king)"),
    (HeadStyle(), "(VP (VB want) (S (VP (TO to) (VP (VB go)))))", "want (to (go))"),
    (HeadStyle(infinitives="verb"), "(VP (VB want) (S (VP (TO to) (VP (VB go)))))", "want ((to) go)"),
    (HeadStyle(), "(SBAR (IN that) (S (NP (PRP he)) (VP (VBD came))))", "that ((he) came)"),
    (HeadStyle(subordinators="clause"), "(SBAR (IN that) (S (NP (PRP he)) (VP (VBD came))))", "(that) (he) came"),
    (HeadStyle(), "(SBAR (WHNP (WP who)) (S (VP (VBD came))))", "who (came)"),
    (HeadStyle(questions="clause"), "(SBAR (WHNP (WP who)) (S (VP (VBD came))))", "(who) came"),
    (HeadStyle(), "(NP (NP (NNP John) (POS 's)) (NN dog))", "((John) 's) dog"),
    (HeadStyle(possessives="noun"), "(NP (NP (NNP John) (POS 's)) (NN dog))", "(John ('s)) dog"),
]


@pytest.mark.parametrize(("style", "tree", "expected"), EXAMPLES)
def test_each_option(style: HeadStyle, tree: str, expected: str) -> None:
    assert to_dependency(Tree.parse(tree), heads.load("english"), style).to_brackets() == expected


def test_styles_by_name_and_by_what_differs() -> None:
    assert head_style("table") == HeadStyle()
    assert head_style("content, coordination=conjunction") == HeadStyle(
        "conjunction", "object", "verb", "verb", "clause", "clause", "noun"
    )
    with pytest.raises(UsageError, match="unknown style of heads 'collins'"):
        head_style("collins")
    with pytest.raises(UsageError, match="unknown option of a style of heads 'verbs'"):
        head_style("verbs=object")


@pytest.mark.parametrize("style", STYLES.values())
def test_every_style_makes_projective_trees(style: HeadStyle) -> None:
    from treeglot import sample

    for pair in sample.read_pairs(150):
        tree = to_dependency(pair.target_tree, heads.load("english"), style)
        assert tree.is_tree() and tree.is_projective()
        assert tree.words == pair.target_tree.words
