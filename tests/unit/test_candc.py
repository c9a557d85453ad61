"""The output of the C&C parser: dependencies, grammatical relations, roots from another parser, bad input."""

from pathlib import Path

import pytest

from treeglot import FormatError
from treeglot.syntax import Dependency, write
from treeglot.syntax.ccg import argument_depends, parse_category
from treeglot.syntax.formats import read_dependencies
from treeglot.syntax.formats.candc import UnknownRelationWarning

TOKENS = (
    "<c> The|the|DT|I-NP|O|NP[nb]/N dog|dog|NN|I-NP|O|N will|will|MD|I-VP|O|(S[dcl]\\NP)/(S[b]\\NP) "
    "bark|bark|VB|I-VP|O|S[b]\\NP at|at|IN|I-PP|O|((S\\NP)\\(S\\NP))/NP us|we|PRP|I-NP|O|NP .|.|.|O|O|.\n"
)
DEPENDENCIES = """# this file was made by hand
(The_1 (NP[nb]{Y}/N{Y}<1>){_} 1 dog_2 0)
will_3 (S[dcl]\\NP)/(S[b]\\NP) 1 dog_2 0
will_3 (S[dcl]\\NP)/(S[b]\\NP) 2 bark_4 0
bark_4 S[b]\\NP 1 dog_2 0
at_5 ((S\\NP)\\(S\\NP))/NP 1 bark_4 0
at_5 ((S\\NP)\\(S\\NP))/NP 2 us_6 0
"""
RELATIONS = """(det dog_1 The_0)
(aux bark_3 will_2)
(ncsubj bark_3 dog_1 _)
(ncmod _ bark_3 at_4)
(dobj at_4 us_5)
(passive bark_3)
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "x.candc"
    path.write_text(text)
    return path


@pytest.mark.parametrize("lines", [DEPENDENCIES, RELATIONS])
def test_both_kinds_of_output(tmp_path: Path, lines: str) -> None:
    first, second = read_dependencies(written(tmp_path, lines + TOKENS + "\n\n" + lines + TOKENS))
    assert first == second
    assert first.words == ["The", "dog", "will", "bark", "at", "us", "."]
    assert first.tags == ["DT", "NN", "MD", "VB", "IN", "PRP", "."]
    # The full stop hangs from the root. Of will and bark, dog keeps the verb: nobody needs will to reach it.
    heads = first.heads.tolist()
    assert [heads[i] for i in (0, 2, 3, 4, 5, 6)] == [1, 3, -1, 3, 4, 3]
    assert heads[1] in (2, 3)


@pytest.mark.parametrize(
    ("category", "slot", "word", "depends"),
    [
        ("(S[dcl]\\NP)/NP", 1, "saw", True),
        ("(S[dcl]\\NP)/NP", 2, "saw", True),
        ("((S[dcl]\\NP)/NP)/NP", 3, "gave", True),
        ("N/N", 1, "old", False),
        ("(N/N)/(N/N)", 1, "very", False),
        ("NP[nb]/N", 1, "the", False),
        ("(NP[nb]/N)\\NP", 1, "'s", False),
        ("(NP[nb]/N)\\NP", 2, "'s", True),
        ("PP/NP", 1, "to", True),
        ("(NP\\NP)/NP", 1, "of", False),
        ("(NP\\NP)/NP", 2, "of", True),
        ("(NP\\NP)/(S[dcl]\\NP)", 1, "who", False),
        ("(NP\\NP)/(S[dcl]\\NP)", 2, "who", True),
        ("((S\\NP)\\(S\\NP))/NP", 1, "with", False),
        ("((S\\NP)\\(S\\NP))/NP", 2, "with", True),
        ("S[em]/S[dcl]", 1, "that", True),
        ("(S[to]\\NP)/(S[b]\\NP)", 2, "to", False),
        ("(S[dcl]\\NP)/(S[to]\\NP)", 2, "wants", True),
        ("(S[dcl]\\NP)/(S[pt]\\NP)", 2, "has", False),
        ("(S[dcl]\\NP)/(S[pss]\\NP)", 2, "was", False),
        ("(S[dcl]\\NP)/(S[ng]\\NP)", 2, "Is", False),
        ("(S[dcl]\\NP)/(S[ng]\\NP)", 2, "starts", True),
        ("(S[dcl]\\NP)/(S[b]\\NP)", 1, "will", True),
    ],
)
def test_which_way_arcs_go(category: str, slot: int, word: str, depends: bool) -> None:
    assert argument_depends(category, slot, word) is depends


@pytest.mark.parametrize("text", ["", "(S", "S)", "S//NP", "/NP", "S NP/", "()", "(" * 200 + "S" + ")" * 200])
def test_what_is_no_category(text: str) -> None:
    with pytest.raises(ValueError, match="is not a category"):
        parse_category(text)


def test_words_that_introduce_hang_from_what_they_introduce(tmp_path: Path) -> None:
    text = "(xcomp to_1 wants_0 go_2)\n<c> wants|VBZ|X to|TO|X go|VB|X\n"
    [tree] = read_dependencies(written(tmp_path, text))
    assert (tree.heads.tolist(), tree.tags) == ([-1, 2, 0], ["VBZ", "TO", "VB"])


def test_marks_of_slots_on_atoms_change_nothing(tmp_path: Path) -> None:
    """Clark and Curran (2007) print `N/N_1` and `((S[dcl]\\NP_1)/NP_2)/NP_3`."""
    words = "<c> Old|JJ|N/N dogs|NNS|N gave|VBD|x us|PRP|NP the|DT|NP/N stick|NN|N\n"
    plain = "Old_1 N/N 1 dogs_2\ngave_3 ((S[dcl]\\NP)/NP)/NP 1 dogs_2\ngave_3 ((S[dcl]\\NP)/NP)/NP 3 us_4\n"
    marked = plain.replace("N/N ", "N/N_1 ").replace("((S[dcl]\\NP)/NP)/NP", "((S[dcl]\\NP_1)/NP_2)/NP_3")
    rest = "the_5 NP[nb]/N_1 1 stick_6\ngave_3 ((S[dcl]\\NP)/NP)/NP 2 stick_6\n"
    [tree], [same] = (list(read_dependencies(written(tmp_path, text + rest + words))) for text in (plain, marked))
    assert tree == same
    assert tree.heads.tolist() == [1, 2, -1, 2, 5, 2]


def test_a_conjunction_at_the_beginning_has_an_empty_type(tmp_path: Path) -> None:
    text = "(ncsubj bark_2 dogs_1 _)\n(conj _ bark_2 And_0)\n<c> And|CC|S/S dogs|NNS|N bark|VBP|S[dcl]\\NP\n"
    [tree] = read_dependencies(written(tmp_path, text))
    assert tree.heads.tolist() == [2, 2, -1]


def test_words_may_be_brackets(tmp_path: Path) -> None:
    text = "(dobj (_1 cats_2)\n(ncmod _ dogs_0 (_1)\n<c> dogs|NNS|N (|LRB|(NP\\NP)/NP cats|NNS|N )|RRB|RRB\n"
    [tree] = read_dependencies(written(tmp_path, text))
    assert tree.heads.tolist() == [-1, 0, 1, 0]


def test_words_of_dependencies_may_be_brackets_and_hashes(tmp_path: Path) -> None:
    """Neither the bracket nor the hash that begins a line is a mark of the format."""
    words = "<c> dogs|NNS|N (|LRB|(NP\\NP)/NP cats|NNS|N )|RRB|RRB #|#|N/N 5|CD|N\n"
    lines = "(_2 (NP\\NP)/NP 2 cats_3 0\n(_2 (NP\\NP)/NP 1 dogs_1 0\n#_5 N/N 1 5_6 0\n"
    bracketed = "".join(f"({line})\n" for line in lines.splitlines())
    header = "# this file was generated by a_1\n#\n#comment\n\n"
    for text in (lines, bracketed):
        [tree] = read_dependencies(written(tmp_path, header + text + words))
        assert tree.heads.tolist() == [-1, 0, 1, 0, 5, 0]


def test_joined_words_depend_on_the_conjunction(tmp_path: Path) -> None:
    """As in grammatical relations, `(conj and_1 dogs_0)`."""
    words = "<c> dogs|NNS|N and|CC|conj cats|NNS|N bark|VBP|S[dcl]\\NP\n"
    tree: list[Dependency] = []
    for lines in (
        "and_2 conj 1 cats_3 0\nand_2 conj{_} 1 dogs_1 0\nbark_4 S[dcl]\\NP 1 dogs_1 0\n",
        "(conj and_1 cats_2)\n(conj and_1 dogs_0)\n(ncsubj bark_3 dogs_0 _)\n",
    ):
        tree += read_dependencies(written(tmp_path, lines + words))
    assert tree[0] == tree[1]
    assert tree[0].heads[2] == 1


def test_a_failed_parse_has_words_without_heads(tmp_path: Path) -> None:
    """Only the line of tokens is printed then. One word with punctuation has no dependencies either."""
    text = '<c> Dogs|NNS|N bark|VBP|N .|.|.\n\n<c> "|LQU|LQU Yes|UH|N .|.|.\n\n'
    text += "(passive bark_1)\n<c> Dogs|NNS|N bark|VBP|N\n"
    failed, one, parsed = read_dependencies(written(tmp_path, text))
    assert (failed.words, failed.tags) == (["Dogs", "bark", "."], ["NNS", "VBP", "."])
    assert failed.heads.tolist() == [Dependency.NO_HEAD] * 3
    assert one.heads.tolist() == [-1, 0, 0]
    assert parsed.heads.tolist() == [-1, 0]


def test_roots_come_from_another_parser_where_they_are_not_told(tmp_path: Path) -> None:
    line = "<c> a|X|N b|X|N c|X|N d|X|N\n"
    text = "(dobj a_0 b_1)\n(dobj c_2 d_3)\n" + line + "\n(dobj b_1 a_0)\n(dobj b_1 c_2)\n" + line + "\n" + line
    path = written(tmp_path, text)
    roots = tmp_path / "roots.conllu"
    write(roots, [Dependency(list("abcd"), heads) for heads in ([2, 2, -1, 2], [-1, 0, 0, 0], [3, 3, 3, -1])])
    without = [tree.heads.tolist() for tree in read_dependencies(path)]
    assert without == [[-1, 0, 0, 2], [1, -1, 1, 1], [-2, -2, -2, -2]]
    found = [tree.heads.tolist() for tree in read_dependencies(path, roots=str(roots))]
    assert found == [[2, 0, -1, 2], [1, -1, 1, 1], [3, 3, 3, -1]]


@pytest.mark.parametrize("more", [0, 3])
def test_roots_are_those_of_the_same_sentences(tmp_path: Path, more: int) -> None:
    path, roots = written(tmp_path, "<c> a|X|N\n\n<c> b|X|N\n"), tmp_path / "roots.conllu"
    write(roots, [Dependency(["w"], [-1])] * (1 if more == 0 else more))
    records = read_dependencies(path, roots=str(roots))
    assert next(records).words == ["a"]
    problem = "x.candc:3: there is no tree for sentence 2 among" if more == 0 else "has 2 sentences; the roots are"
    with pytest.raises(FormatError, match=problem):
        list(records)


def test_a_sentence_without_words_asks_for_no_root(tmp_path: Path) -> None:
    roots = tmp_path / "roots.conllu"
    write(roots, [Dependency(["w"], [-1])])
    [tree] = read_dependencies(written(tmp_path, "<c>\n"), roots=str(roots))
    assert len(tree) == 0


def test_unknown_relations_are_reported(tmp_path: Path) -> None:
    text = "(dobj a_0 b_1)\n(odd a_0 b_1)\n(odd b_1 a_0)\n<c> a|X|N b|X|N\n"
    expected = r"x\.candc: 2 relations of unknown types, their arcs are skipped: odd \(2\)"
    with pytest.warns(UnknownRelationWarning, match=expected):
        [tree] = read_dependencies(written(tmp_path, text))
    assert tree.heads.tolist() == [-1, 0]


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("(dobj a_0 b_1)\n", 1, "the block has 0 lines that begin with <c>; expected one"),
        ("<c> a|X\n", 1, "a token is not WORD|LEMMA|TAG|CHUNK|NAME|CATEGORY or WORD|TAG|CATEGORY"),
        ("<c> a|X|N\n(dobj a_0 b_1)\n", 2, "'b_1' is not in the sentence: its words count from 0"),
        ("<c> a|X|N b|X|N\na_1 N/N 1 b_1 0\n", 2, "'b_1' is not in the sentence: its words count from 1"),
        ("<c> a|X|N b|X|N\na_1 N/N 2 b_2 0\n", 2, "slot 2 of 'N/N', which has 1"),
        ("<c> a|X|conj b|X|N\na_1 conj 2 b_2 0\n", 2, "slot 2 of 'conj', which has 1"),
        ("<c> a|X|N b|X|N\na_1 N 1 b_2 0\n", 2, "slot 1 of 'N', which has 0"),
        ("<c> a|X|N b|X|N\na_1 (N/N 1 b_2 0\n", 2, "'(N/N' is not a category: a bracket is not closed"),
        ("<c> a|X|N\n(dobj a_0)\n", 2, "'(dobj a_0)' has too few words; expected a head and a dependent"),
        ("<c> a|X|N\n()\n", 2, "'()' is not a dependency or relation"),
        ("<c> a|X|N\n(\n", 2, "'(' is not a dependency or relation"),
        ("<c> a|X|N\n(dobj a_0 a_" + "9" * 5000 + ")\n", 2, "'a_" + "9" * 38 + "' is not a word with its number, "
         "such as dog_2"),
        ("<c> a|X|N\n(dobj a_0 x)\n", 2, "'x' is not a word with its number, such as dog_2"),
    ],
)  # fmt: skip
def test_bad_output(tmp_path: Path, text: str, line: int, problem: str) -> None:
    path = written(tmp_path, text + "\n<c> b|X|N\n")
    with pytest.raises(FormatError) as error:
        list(read_dependencies(path))
    assert (error.value.line, error.value.problem) == (line, problem)
    records = read_dependencies(path, skip_bad=True)
    assert [tree.words for tree in records] == [["b"]]
    assert records.skipped == 1
