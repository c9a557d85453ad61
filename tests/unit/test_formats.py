"""Formats by name and suffix; what each reads; files side by side; what is skipped and what is refused."""

import gzip
import lzma
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from treeglot import Alignment, Dependency, FormatError, ParseForest, Tree, TreeglotError, UsageError
from treeglot._core import ScoreKind
from treeglot.syntax import FORMATS, read, write
from treeglot.syntax.formats import (
    find_format,
    read_alignments,
    read_dependencies,
    read_forests,
    read_parallel,
    read_text,
    read_trees,
)
from treeglot.syntax.lattice import Lattice

FOREST = """sentence 1 :
time flies
NN[0,0] => time ||| -0.1
VBZ[1,1] => flies ||| -0.4
S^g[0,1] => NN[0,0] VBZ[1,1] ||| -0.25

"""


def values(name: str, text: str, **options: Any) -> list[Any]:
    reader = FORMATS[name].open_reader("file", False, options)
    return [*reader.feed(text.encode()), *reader.finish()]


# ---------------------------------------------------------------- what is read


def test_brackets_over_several_lines() -> None:
    text = """# a comment
( (S
    (NP-SBJ (PRP I) )
    (VP (VBD saw)
      (NP (-LRB- -LRB-)) )
    (. .) ))

(())

   (X y)
()
( (S (# #) (NN -LCB-x-RCB-)))
"""
    assert [str(tree) for tree in values("brackets", text)] == [
        "(S (NP-SBJ (PRP I)) (VP (VBD saw) (NP (-LRB- -LRB-))) (. .))",
        "(())",
        "(X y)",
        "(())",
        "(S (# #) (NN -LCB-x-RCB-))",
    ]
    assert values("brackets", text)[4].words == ["#", "{x}"]


def test_egret() -> None:
    text = FOREST + "sentence 2 :\n-LRB- no\n\n\nsentence 9 :\nx\nX^g[0,0] => X[0,0] ||| -1\nX[0,0] => x ||| 0\n\n"
    forest, unparsed, unary = values("egret", text)
    assert forest.labels == ["time", "flies", "NN", "VBZ", "S"]
    assert forest.spans.tolist() == [[0, 1], [1, 2], [0, 1], [1, 2], [0, 2]]
    assert forest.scores.tolist() == [0, 0, -0.1, -0.4, -0.25]
    assert forest.kind == ScoreKind.posterior
    assert (unparsed.words, unparsed.parsed) == (["(", "no"], False)
    # A phrase X^g and a tag X over one word stay two nodes; the edges came head first.
    assert str(unary.viterbi()) == "(X (X x))"
    assert [f.labels[-1] for f in values("egret", text, keep_suffix=True) if f] == ["S^g", "X^g"]


def test_egret_leaves_two_blanks_before_the_bar() -> None:
    text = "sentence 1 :\na b \nA[0,0] => a ||| -1\nB[1,1] =>  b  ||| 0\nS^g[0,1] => A[0,0]  B[1,1]   ||| -0.5\n\n"
    single = text.replace("b \n", "b\n").replace("   ", " ").replace("  ", " ")
    assert values("egret", text) == values("egret", single)


def test_nodes_of_one_label_and_span_are_told_apart_in_egrets_format() -> None:
    forest = ParseForest.from_kbest([(0.0, Tree.parse("(X (X (X (X a))))"))])
    text = FORMATS["egret"].open_writer({})(forest)
    edges = ["X[0,0] => a", "X^g[0,0] => X[0,0]", "X^g2[0,0] => X^g[0,0]", "X^g3[0,0] => X^g2[0,0]"]
    assert text.splitlines()[2:-1] == [f"{edge} ||| 0" for edge in edges]
    assert values("egret", text) == [forest]
    assert values("egret", text, keep_suffix=True)[0].labels == ["a", "X", "X^g", "X^g2", "X^g3"]
    (odd,) = values("egret", "sentence 1 :\na\n^g[0,0] => a ||| 0\n12[0,0] => ^g[0,0] ||| 0\n\n")
    assert odd.labels == ["a", "^g", "12"]


def test_egrets_own_scores_are_logarithms_to_the_base_2() -> None:
    for base in ("2", 2):
        scores = values("egret", FOREST, base=base)[0].scores.tolist()
        assert scores == [x * math.log(2) for x in (0, 0, -0.1, -0.4, -0.25)]
    with pytest.raises(UsageError, match=r"^unknown base of logarithms '10'; known: 2, e$"):
        values("egret", FOREST, base="10")


def test_conllu() -> None:
    text = (
        "# text = don't go\n"
        "1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "1\tdo\tdo\tAUX\tVBP\t_\t3\taux\t_\t_\n"
        "2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_\n"
        "2.1\tyou\tyou\tPRON\t_\t_\t_\t_\t3:nsubj\t_\n"
        "3\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n"
        "\n"
        "1\tsome thing\t_\t_\t_\t_\t_\t_\t_\t_\n"
    )
    first, second = values("conllu", text)
    assert first == Dependency(["do", "n't", "go"], [2, 2, -1], ["AUX", "PART", "VERB"], ["aux", "advmod", "root"])
    assert second == Dependency(["some thing"], [Dependency.NO_HEAD])
    assert values("conllu", text, tags="xpos")[0].tags == ["VBP", "RB", "VB"]


def test_conllx() -> None:
    text = "1\ta\t_\tN\tNN\t_\t2\tnsubj\t_\t_\n2\tb\t_\tV\tVB\t_\t0\tROOT\t_\t_\n\n"
    assert values("conllx", text) == [Dependency(["a", "b"], [1, -1], ["NN", "VB"], ["nsubj", "ROOT"])]
    assert values("conllx", text, tags="cpostag")[0].tags == ["N", "V"]


def test_one_blank_at_the_end_of_a_line_is_dropped() -> None:
    assert values("text", "a b \n\n \nc") == [["a", "b"], [], [], ["c"]]
    assert values("pharaoh", "0-0 1-1 \n\n \n2-2") == [Alignment.parse(t) for t in ("0-0 1-1", "", "", "2-2")]


def test_json_of_a_forest() -> None:
    forest = values("egret", FOREST)[0]
    text = FORMATS["jsonl"].open_writer({})(forest)
    assert text == (
        '{"words": ["time", "flies"], "scores": "posterior", "goal": 4, "nodes": ['
        '{"label": "NN", "span": [0, 1], "edges": [[-0.1, 0]]}, '
        '{"label": "VBZ", "span": [1, 2], "edges": [[-0.4, 1]]}, '
        '{"label": "S", "span": [0, 2], "edges": [[-0.25, 2, 3]]}]}\n'
    )
    assert values("jsonl", text) == [forest]


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".zst"])
def test_files_by_suffix(tmp_path: Path, suffix: str) -> None:
    trees = [Tree.parse("(S (NP I) (VP run))"), Tree(), Tree.parse("(X 一)")]
    path = tmp_path / f"dev.tree{suffix}"
    assert write(path, iter(trees)) == 3
    assert list(read(path)) == trees
    assert list(read_trees(path)) == trees
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_every_format_by_its_suffixes() -> None:
    assert {name: format.holds for name, format in FORMATS.items()} == {
        "text": list,
        "brackets": Tree,
        "egret": ParseForest,
        "jsonl": ParseForest,
        "lattice": Lattice,
        "conllu": Dependency,
        "conllx": Dependency,
        "pharaoh": Alignment,
    }
    for format in FORMATS.values():
        for suffix in format.suffixes:
            assert find_format(f"some/dev.zh{suffix}.xz") is format
    assert find_format("-", "conllu").name == "conllu"


def test_formats_that_cannot_be_told(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"^the suffix of 'dev.zh' names no format; give one of text, brackets, egret,"
    ):
        read("dev.zh")
    with pytest.raises(
        UsageError, match=r"^unknown format 'conlu'; did you mean 'conllu'\? known: brackets, candc, conllu,"
    ):
        read("dev.zh", "conlu")
    with pytest.raises(UsageError, match=r"^dev.forest: the format egret holds forests, not trees$"):
        read_trees("dev.forest")
    with pytest.raises(UsageError, match=r"^unknown option of egret 'tags'; known: base, keep_suffix$"):
        read_forests("dev.forest", tags="upos")
    with pytest.raises(UsageError, match=r"^unknown column of tags 'pos'; did you mean 'xpos'\? known: upos, xpos$"):
        read_dependencies("dev.conllu", tags="pos")
    with pytest.raises(UsageError, match=r": the format brackets holds trees, not alignments$"):
        write(tmp_path / "dev.tree", [Alignment()])
    assert list(tmp_path.iterdir()) == []


def test_values_before_a_bad_record_come_first(tmp_path: Path) -> None:
    path = tmp_path / "dev.align"
    path.write_text("0-0\n1-1\nx\n2-2\n")
    records = read_alignments(path)
    assert [next(records), next(records)] == [Alignment([(0, 0)]), Alignment([(1, 1)])]
    with pytest.raises(FormatError) as caught:
        next(records)
    assert str(caught.value) == f"{path}:3: 'x' is not a link; expected SOURCE-TARGET such as 3-0"


def test_bad_records_are_skipped_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "dev.tree"
    path.write_text("(S a)\n(S (NP b)\n(S c))\n(S d)\n(S\n  (NP e)\n  oops))\n  more)\n\n(S f)\n(S g\n")
    records = read(path, skip_bad=True)
    assert [str(tree) for tree in records] == ["(S a)", "(S d)", "(S f)"]
    assert records.skipped == 4
    assert [(e.line, e.problem) for e in records.problems] == [
        (2, "the tree that begins here is still open at line 3, where another begins"),
        (3, "')' after the end of a tree; expected a new line"),
        (7, "')' after the end of a tree; expected a new line"),
        (11, "the tree that begins here is not closed at the end of the file"),
    ]
    assert str(records.problems[0]).startswith(f"{path}:2: ")


@pytest.mark.parametrize(
    ("name", "text", "places"),
    [
        ("egret", FOREST + "sentence 2 :\nx y\nA[0,0] => b ||| 0\nB[1,1] => y ||| 0\n\n" + FOREST, [1, 0, 1]),
        ("egret", FOREST.rstrip("\n") + "\n" + FOREST, [0, 1]),
        ("conllu", "1\ta\t_\t_\t_\t_\t5\t_\t_\t_\n\n# c\n1\tb\t_\t_\t_\t_\t0\t_\t_\t_\n\n", [0, 1]),
        ("conllu", "1\ta\n\xff\n3\n\n1\tb\t_\t_\t_\t_\t0\t_\t_\t_\n", [0, 1]),
        ("text", "a\nb\tb\nc\n", [1, 0, 1]),
        ("jsonl", "{}\n" * 3, [0, 0, 0]),
        ("jsonl", "\n" * 1000 + '{"words": ["a"], "scores": "posterior", "goal": null, "nodes": []}', [0] * 1000 + [1]),
        ("lattice", '{}\n{"arcs": [[0, 1, "a", 0]]}\n', [0, 1]),
        ("pharaoh", "0\n0-0\n", [0, 1]),
    ],
)
def test_holes_keep_files_in_step(name: str, text: str, places: list[int]) -> None:
    reader = FORMATS[name].open_reader("file", True, {})
    found = [*reader.feed(text.encode("latin-1")), *reader.finish()]
    assert [int(value is not None) for value in found] == places
    assert reader.skipped == places.count(0)


def test_only_the_first_problems_are_kept() -> None:
    reader = FORMATS["pharaoh"].open_reader("file", True, {})
    reader.feed(b"x\n" * 1000)
    assert reader.skipped == 1000
    assert len(reader.problems) == 100


def test_files_side_by_side(tmp_path: Path) -> None:
    words, links = tmp_path / "dev.zh", tmp_path / "dev.align"
    words.write_text("a  b \nc\td\ne\n")
    links.write_text("0-0\n1-1\nx\n")
    files: list[tuple[Path, str]] = [(words, "text"), (links, "pharaoh")]
    assert list(read_parallel(*files, skip_bad=True)) == [(["a", "b"], Alignment([(0, 0)]))]
    with pytest.raises(FormatError, match=r"dev.zh:2: a tab at byte 2"):
        list(read_parallel(*files))
    words.write_text("a\nb\nc\nd\n")
    with pytest.raises(FormatError) as caught:
        list(read_parallel((words, "text"), links, skip_bad=True))
    assert str(caught.value) == f"{links}: has 3 records, fewer than {words}"


@pytest.mark.parametrize(
    ("suffix", "compress"), [("gz", gzip.compress), ("xz", lzma.compress), ("zst", zstandard.compress)]
)
def test_damaged_compression(tmp_path: Path, suffix: str, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / f"dev.txt.{suffix}"
    whole = compress(b"a b\n" * 1000)
    path.write_bytes(whole + whole)
    assert list(read_text(path)) == [["a", "b"]] * 2000
    for cut in (len(whole) // 2, len(whole) - 3, len(whole) + 9, len(whole) * 2 - 3):
        path.write_bytes((whole + whole)[:cut])
        with pytest.raises(FormatError, match=rf"is not a complete .{suffix} file"):
            list(read_text(path))


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("brackets", Tree.from_nested(("S", "a b")), "the word 'a b' cannot be written: it contains ' '"),
        (
            "brackets",
            Tree.from_nested(("S", "-LRB-")),
            "the word '-LRB-' cannot be written: it would be read back as '('",
        ),
        ("brackets", Tree.from_nested(("S P", "a")), "the label 'S P' cannot be written in brackets: it contains ' '"),
        ("text", ["a", ""], "the token '' cannot be written as plain text: it is empty"),
        ("text", ["a\n"], "the token 'a\\x0a' cannot be written as plain text: it contains '\\x0a'"),
        ("conllu", Dependency([], []), "a sentence without words cannot be written in CoNLL"),
        ("conllu", Dependency(["a"], [-1], ["_"]), "the tags are all '_', which would be read back as none"),
        ("conllu", Dependency(["a\tb"], [-1]), "the FORM 'a\\x09b' cannot be written: it contains '\\x09'"),
        ("conllx", Dependency(["a b"], [-1]), "the FORM 'a b' cannot be written: it contains ' '"),
        (
            "egret",
            ParseForest.from_tree(Tree.parse("(S a)")),
            "a forest whose scores are no posteriors cannot be written in Egret's format",
        ),
        (
            "egret",
            ParseForest.from_kbest([(0.0, Tree.parse("(S (X a) b)"))]),
            "the word 'b' beside other tails cannot be written in Egret's format",
        ),
        (
            "egret",
            ParseForest.from_kbest([(0.0, Tree.parse("(X^g a)"))]),
            "the label 'X^g' cannot be written in Egret's format: its end ^g would be taken off",
        ),
        (
            "egret",
            ParseForest.from_kbest([(0.0, Tree.parse("(X^g12 a)"))]),
            "the label 'X^g12' cannot be written in Egret's format: its end ^g12 would be taken off",
        ),
    ],
)
def test_values_that_a_format_cannot_hold(tmp_path: Path, name: str, value: Any, message: str) -> None:
    path = tmp_path / "out"
    with pytest.raises(TreeglotError) as caught:
        write(path, [value], name)
    assert str(caught.value) == f"{path}: record 1: {message}"
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- size


def test_deep_trees(tmp_path: Path) -> None:
    depth = 50_000
    deep = Tree.parse("(X " * depth + "a" + ")" * depth)
    lines = "\n ".join(["(X"] * depth) + " a" + "\n )" * depth + "\n"
    path = tmp_path / "deep.tree"
    path.write_text(lines)
    assert list(read(path)) == [deep]
    write(path, [deep])
    assert list(read(path)) == [deep]
    forest = ParseForest.from_tree(deep)
    write(tmp_path / "deep.jsonl", [forest])
    assert list(read(tmp_path / "deep.jsonl")) == [forest]
    top_down = Tree.from_nested(_chain(depth))
    packed = ParseForest.from_kbest([(0.0, top_down)])
    text = FORMATS["egret"].open_writer({})(packed).split("\n")
    text[2:-2] = reversed(text[2:-2])
    assert values("egret", "\n".join(text))[0].viterbi() == top_down


def _chain(depth: int) -> tuple[Any, ...]:
    node: tuple[Any, ...] = ("X0", "a")
    for i in range(1, depth):
        node = (f"X{i}", node)
    return node


def test_forests_of_a_million_nodes(tmp_path: Path) -> None:
    n = 250_000
    sizes = [4 * n + 1] + [4, 3, 2, 1] * n
    tree = Tree(["S"] + ["A", "B", "C", "w"] * n, sizes)
    forest = ParseForest.from_kbest([(0.0, tree)])
    assert forest.graph.nodes == 4 * n + 1
    for name in ("big.jsonl", "big.forest"):
        write(tmp_path / name, [forest])
        assert list(read(tmp_path / name)) == [forest]
    write(tmp_path / "big.tree", [tree])
    assert list(read(tmp_path / "big.tree")) == [tree]


# ---------------------------------------------------------------- real data

SHARED = Path(__file__).parents[2].parent / "shared/data"
needs_data = pytest.mark.skipif(not SHARED.exists(), reason=f"there is no real data in {SHARED}")


@needs_data
@pytest.mark.parametrize("part", ["dev", "test"])
def test_real_forests_and_trees(part: str) -> None:
    folder = SHARED / "zh-en"
    rows: Iterator[tuple[Any, ...]] = read_parallel(
        (folder / f"{part}.zh", "text"), folder / f"{part}.zh.forest.xz", folder / f"{part}.zh.tree.xz"
    )
    count = 0
    for words, forest, tree in rows:
        assert forest.words == tree.words == words
        best = forest.viterbi()
        assert best.label(0) == "ROOT"
        assert best.root.children[0].subtree() == tree
        count += 1
    assert count == 1000
    english = [tree.words for tree in read_trees(folder / f"{part}.en.tree.xz")]
    assert english == list(read_text(folder / f"{part}.en"))


@needs_data
def test_real_alignments() -> None:
    folder = SHARED / "zh-en"
    source, target = ([len(words) for words in read_text(folder / f"train.{side}")] for side in ("zh", "en"))
    for links, f, e in zip(read_alignments(folder / "train.gdfa"), source, target, strict=True):
        links.check(f, e)
    assert len(source) == 50_707


@needs_data
def test_real_treebanks() -> None:
    assert sum(1 for _ in read_trees(SHARED / "ptb-sample/train.en.tree")) == 3501
    for language in ("zh", "en"):
        path = SHARED / f"pud/{language}_pud-ud-test.conllu"
        assert len(list(read_dependencies(path))) == 1000
