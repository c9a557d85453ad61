"""Constituents to dependencies."""

import lzma
from pathlib import Path

import pytest

from treeglot._core import HeadTable
from treeglot.syntax import Tree, heads, to_dependency
from treeglot.syntax.constituents import to_dependencies

SHARED = Path(__file__).parents[2].parent / "shared/data"


def brackets(table: str, text: str) -> str:
    return to_dependency(Tree.parse(text), heads.load(table)).to_brackets()


@pytest.mark.parametrize(
    ("table", "tree", "expected"),
    [
        (
            "english",
            "(S (NP (PRP$ My) (NN father)) (VP (VBZ is) (ADJP (RB very) (JJ angry) (PP (IN with) (NP (PRP me)))))"
            " (. .))",
            "((My) father) is ((very) angry (with (me))) (.)",
        ),
        (
            "english",
            "(S (NP-SBJ-1 (NP (NNS cats)) (CC and) (NP (NNS dogs))) (VP (VBP have) (VP (VBN been) (VP (VBN fed)))))",
            "(cats (and) (dogs)) have (been (fed))",
        ),
        (
            "english",
            "(SBARQ (WHADVP (WRB Where)) (SQ (VBD did) (NP (PRP you)) (VP (VB come) (PP (IN from)))) (. ?))",
            "(Where) did (you) (come (from)) (?)",
        ),
        (
            "chinese",
            "(IP (NP (QP (CD 一) (CLP (M 个))) (CP (IP (VP (VV 穿) (NP (NN 条纹) (NN 衬衫)))) (DEC 的)) (NP (NN 女人)))"
            " (VP (ADVP (AD 正在)) (VP (VV 切) (NP (NN 披萨)))) (PU 。))",
            "(((一) 个) ((穿 ((条纹) 衬衫)) 的) 女人) (正在) 切 (披萨) (。)",
        ),
        (
            "chinese",
            "(IP (NP (PN 她)) (VP (PP (P 在) (LCP (NP (NN 纸)) (LC 上))) (VP (VV 画) (AS 了) (NP (NN 圈)))) (PU 。))",
            "(她) (在 ((纸) 上)) 画 (了) (圈) (。)",
        ),
        (
            "german",
            "(S (NP-SB (ART-NK Der) (NN-NK Mann)) (VAFIN-HD hat) (VP-OC (PP-MO (APPR-AC in) (ART-NK dem)"
            " (NN-NK Garten)) (VVPP-HD gearbeitet)) ($. .))",
            "((Der) Mann) hat ((in (dem) (Garten)) gearbeitet) (.)",
        ),
    ],
)
def test_sentences(table: str, tree: str, expected: str) -> None:
    assert brackets(table, tree) == expected


def test_tags_are_the_base_labels_of_the_words_parents() -> None:
    tree = Tree.parse("(NP (DT-X the) (-LRB- -LRB-) (PRP$ his) big (NN dog))")
    dependency = to_dependency(tree, heads.load("english"))
    assert dependency.words == ["the", "(", "his", "big", "dog"]
    assert dependency.tags == ["DT", "-LRB-", "PRP$", "NP", "NN"]
    assert list(dependency.heads) == [4, 4, 4, 4, -1]


def test_a_word_among_phrases_is_not_taken_for_a_label() -> None:
    table = HeadTable.read("%default first\nX = last NN\n", "t")
    assert to_dependency(Tree.parse("(X a (NN b) NN)"), table).to_brackets() == "(a) b (NN)"
    assert to_dependency(Tree.parse("(X NN a)"), table).to_brackets() == "(NN) a"


def test_failed_parses_and_single_words() -> None:
    english = heads.load("english")
    empty, one = to_dependencies([Tree(), Tree.parse("(UH Yes)")], english)
    assert (len(empty), empty.words, empty.to_brackets()) == (0, [], "")
    assert list(one.heads) == [-1]


@pytest.mark.parametrize("right", [True, False])
def test_deep_trees(right: bool) -> None:
    depth = 50_000
    verbs = "(VP (VB v) " * depth + "(VB v)" + ")" * depth
    nouns = "(NP " * depth + "(NN n)" + " (PP p))" * depth
    dependency = to_dependency(Tree.parse(verbs if right else nouns), heads.load("english"))
    assert dependency.is_tree()
    assert dependency.is_projective()
    if right:
        assert list(dependency.heads) == list(range(-1, depth))
    else:
        assert list(dependency.heads) == [-1] + [0] * depth


@pytest.mark.parametrize(("language", "table"), [("en", "english"), ("zh", "chinese")])
def test_real_trees(language: str, table: str) -> None:
    path = SHARED / f"zh-en/train.{language}.tree.xz"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        trees = [Tree.parse(line) for line, _ in zip(lines, range(10_000), strict=False)]
    dependencies = to_dependencies(trees, heads.load(table))
    assert len(dependencies) == 10_000
    parsed = [(tree, dependency) for tree, dependency in zip(trees, dependencies, strict=True) if len(tree)]
    assert len(parsed) > 9_900
    assert all(dependency.words == tree.words for tree, dependency in parsed)
    assert all(dependency.tags == tree.tags for tree, dependency in parsed)
    assert all(dependency.is_tree() and dependency.is_projective() for _, dependency in parsed)


def test_real_trees_with_traces_and_tags() -> None:
    path = SHARED / "ptb-sample/train.en.tree"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    trees = [Tree.parse(line) for line in path.read_text(encoding="utf-8").splitlines()]
    dependencies = to_dependencies(trees, heads.load("english"))
    assert all(dependency.is_tree() and dependency.is_projective() for dependency in dependencies)
    # A trace heads nothing, unless a constituent has nothing else: (NP-SBJ (-NONE- *)), (ADVP (-NONE- *) (-NONE- *)).
    headed_by_traces = sum(
        1
        for dependency in dependencies
        for head in dependency.heads
        if head >= 0 and dependency.tags is not None and dependency.tags[head] == "-NONE-"
    )
    assert headed_by_traces < 0.01 * sum(map(len, dependencies))
