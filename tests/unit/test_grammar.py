"""Grammars of cdec, Joshua and Moses: what is read, to the letter, and what is refused."""

import gzip
from pathlib import Path

import pytest

from treeglot import FormatError, UsageError
from treeglot._core import RuleTable
from treeglot.foreign import read_grammar
from treeglot.foreign.grammar import write_grammar

NT = 0x80000000


def table_of(tmp_path: Path, text: str, format: str = "cdec", **how: object) -> RuleTable:
    path = tmp_path / "grammar"
    path.write_text(text)
    return read_grammar(path, format, **how)


def shown(table: RuleTable) -> list[str]:
    """The rules as lines, variables numbered from left to right on the source side."""
    lines = []
    for i in range(len(table)):
        lhs, source, target, dense, links = table.rule(i)
        count = 0
        side = []
        for symbol in source:
            count += (symbol & NT) != 0
            side.append(f"{table.labels[symbol ^ NT]}:{count}" if symbol & NT else table.source_words[symbol])
        values = dict(zip(table.features, dense, strict=False)) | {
            table.features[f]: v for f, v in table.sparse_features(i)
        }
        features = " ".join(f"{n}={v:g}" for n, v in sorted(values.items()) if v)
        words = [table.target_words[s] if s >= 0 else f":{-s}" for s in target]
        aligned = " ".join(f"{s}-{t}" for s, t in links)
        lines.append(f"{table.labels[lhs]} | {' '.join(side)} | {' '.join(words)} | {features} | {aligned}")
    return lines


def test_cdec(tmp_path):
    table = table_of(
        tmp_path,
        "[X] ||| das [X,1] von [Y,2] ||| the [2] 's [X,1] ||| EgivenF=0.5 0.25;-1e-3 ; F=+2 ||| 0-0 2-2 1-3\n"
        "[X] ||| a ||| b\n"
        "[X] ||| [X] [a,b] [ ] || ||| [X] [1] ||| \n"
        "\n"
        "[Y] ||| b ||| ||| A=1\t||| ||| (S (NP x))\n",
    )
    assert shown(table) == [
        "X | a | b |  | ",
        "Y | b |  | A=1 | ",
        "X | das X:1 von Y:2 | the :2 's :1 | EgivenF=0.5 F=2 PhraseModel_1=0.25 PhraseModel_2=-0.001 | 0-0 2-2",
        "X | X:1 [a,b] [ ] || | [X] :1 |  | ",
    ]


def test_joshua(tmp_path):
    table = table_of(
        tmp_path,
        "[X] ||| [X,1] 的 [X,2] ||| [X,2] of [X,1] ||| 0.5 Sparse=3 -1 tm_pt_4=7 ||| 1-1\n[S] ||| [ ||| [] ||| 0\n",
        "joshua",
    )
    assert shown(table) == [
        "S | [ | [] |  | ",
        "X | X:1 的 X:2 | :2 of :1 | Sparse=3 tm_pt_0=-0.5 tm_pt_1=1 tm_pt_4=7 | 1-1",
    ]
    other = table_of(tmp_path, "[X] ||| a ||| b ||| 2\n", "joshua", prefix="tm_glue")
    assert other.features == ["tm_glue_0"]


def test_moses(tmp_path):
    table = table_of(
        tmp_path,
        "[X][X] von [X][NP] [X] ||| [X][NP] 's [X][X] [S] ||| 0.5 0 ||| 0-2 1-1 2-0 ||| 9 5 2 ||| dom 1.5 ||| {{C 3}}\n"
        "das [X] ||| the [X] ||| 1 0.25 ||| 0-0 |||\n",
        "moses",
    )
    assert shown(table) == [
        "X | das | the | TranslationModel0_1=-1.38629 | 0-0",
        "S | X:1 von NP:2 | :2 's :1 | TranslationModel0_0=-0.693147 TranslationModel0_1=-100 "
        "TranslationModel0_dom=1.5 | 1-1",
    ]
    one = table_of(tmp_path, "a [X] ||| b [X] ||| 2.718 |||\n", "moses", prefix="TranslationModel1")
    assert shown(one) == ["X | a | b | TranslationModel1=0.999896 | "]


BAD = [
    ("cdec", "[X] ||| a", "2 fields; expected [LHS] ||| SOURCE ||| TARGET ||| FEATURES"),
    ("cdec", "X ||| a ||| b", "the left-hand side is 'X'; expected a label in brackets such as [X]"),
    ("cdec", "[X,1] ||| a ||| b", "the left-hand side is '[X,1]'; expected a label in brackets such as [X]"),
    ("cdec", "||| a ||| b", "the left-hand side is ''; expected a label in brackets such as [X]"),
    (
        "cdec",
        " [X] ||| a ||| b",
        "begins with a blank, as rules of a coarse-to-fine grammar do; expected rules of one level",
    ),
    ("cdec", "[X] ||| ||| b", "a rule needs a source side"),
    ("cdec", "[X] ||| a ||| [1]", "the target side uses variable 1, which the source side lacks"),
    ("cdec", "[X] ||| [X,1] [X,2] ||| [1] [1]", "the target side uses variable 1 twice"),
    ("cdec", "[X] ||| [X,1] [X,2] ||| [1]", "the source side has 2 variables, the target side uses 1"),
    ("cdec", "[X] ||| [X,1] [X,1] ||| [1] [2]", "the source side has variable 1 twice"),
    ("cdec", "[X] ||| [X,2] a [X,1] ||| [1] [2]", "the source side has variable 2 where 1 is expected"),
    ("joshua", "[X] ||| [X,2] a [X,1] ||| [X,1] [X,2]", "the source side has variable 2 where 1 is expected"),
    ("joshua", "[X] ||| [X] a ||| [X] b", "found '[X]'; expected a word, or a variable such as [X,1]"),
    ("cdec", "(NP (DT the) [NN]", "1 fields; expected TREE ||| TARGET ||| FEATURES"),
    ("cdec", "(NP (DT the) [NN] ||| le [1]", "the tree '(NP (DT the) [NN]' is not closed"),
    ("cdec", "(NP (DT the)) x ||| le", "found 'x' after the tree; expected |||"),
    ("cdec", "(NP ((the))) ||| le", "a node without a label in '(NP ((the)))'; expected (LABEL child …)"),
    ("cdec", "(NP (DT) [NN]) ||| [1]", "the node 'DT' has no children"),
    ("cdec", "(NP [NN]) ||| [2]", "the target side uses variable 2, which the source side lacks"),
    ("travatar", 'NP ( "a" ) ||| "b"', "2 fields; expected TREE ||| TARGET ||| FEATURES"),
    ("travatar", 'NP ( "a" ||| "b" ||| f=1', "a tree that is not closed; expected LABEL ( child … )"),
    ("travatar", 'NP ( ) ||| "b" ||| f=1', "the node 'NP' has no children"),
    (
        "travatar",
        '"a" x0:X @ X ||| x0:X "b" @ X ||| f=1',
        'found \'"a"\'; expected a tree such as NP ( DT ( "das" ) x0:NN )',
    ),
    (
        "travatar",
        'NP ( "a" ) @ X ||| "b" ||| f=1',
        "found '@' after the tree: rules of strings are not read; expected |||",
    ),
    ("travatar", "NP ( x0:A ) ||| x1 ||| f=1", "the target side uses variable x1, which the source side lacks"),
    ("travatar", "NP ( x1:A ) ||| x1 ||| f=1", "the source side has variable x1 where x0 is expected"),
    ("travatar", "NP ( x0:A ) ||| b x0 ||| f=1", "found 'b'; expected \"WORD\" or a variable such as x0"),
    (
        "cdec",
        "der Hund ||| the dog ||| F=1",
        "the left-hand side is 'der Hund'; expected a label in brackets such as [X]",
    ),
    ("cdec", "[X] ||| a ||| b ||| F=.", "the feature 'F' is '.'; expected a finite number"),
    ("cdec", "[X] ||| [X,1] ||| [Y,1]", "variable 1 is 'Y' on the target side and 'X' on the source side"),
    ("cdec", "[X] ||| a ||| b ||| F=x", "the feature 'F' is 'x'; expected a finite number"),
    ("cdec", "[X] ||| a ||| b ||| F=1 0.5x", "feature 2 is '0.5x'; expected a finite number"),
    ("cdec", "[X] ||| a ||| b ||| F=inf", "the feature 'F' is 'inf'; expected a finite number"),
    ("cdec", "[X] ||| a ||| b ||| F=1 F=2", "the feature 'F' is given twice"),
    ("cdec", "[X] ||| a ||| b ||| =1", "found '=1'; expected NAME=VALUE"),
    ("cdec", "[X] ||| a ||| b ||| F=1 ||| 0:0", "found '0:0'; expected a link SOURCE-TARGET such as 3-0"),
    ("cdec", "[X] ||| a ||| b ||| F=1 ||| 0-1", "link 0-1 is outside a rule of 1 source and 1 target symbols"),
    ("cdec", "[X] ||| [X,1] a ||| [1] b ||| F=1 ||| 0-1", "link 0-1 joins a word and a variable"),
    ("moses", "a [X] ||| b [X]", "2 fields; expected SOURCE ||| TARGET ||| SCORES ||| LINKS"),
    ("moses", "a ||| b [X] ||| 1", "the left-hand side is 'a'; expected a label in brackets such as [X]"),
    ("moses", "||| b [X] ||| 1", "a side is empty; expected at least its label such as [X]"),
    ("moses", "a [X] ||| b [X] ||| 1 2", "2 scores; expected 1 as in the first rule"),
    ("moses", "a [X] ||| b [X] ||| -1", "score 1 is '-1'; expected a probability"),
    (
        "moses",
        "[X][X] [X] ||| [X][X] [X] ||| 1 |||",
        "the source variable at position 0 has 0 links to target variables; expected one",
    ),
    (
        "moses",
        "[X][X] a [X] ||| [X][X] [X][X] [X] ||| 1 ||| 0-0 0-1",
        "the source variable at position 0 has 2 links to target variables; expected one",
    ),
    (
        "moses",
        "[X][X] a [X] ||| [X][X] [X][X] [X] ||| 1 ||| 0-0",
        "the target variable at position 1 has no link",
    ),
    ("moses", "a [X] ||| b [X] ||| 1 ||| 0-0 ||| ||| dom", "a sparse feature without a value; expected NAME VALUE"),
]


@pytest.mark.parametrize(("format", "line", "problem"), BAD)
def test_refusals(tmp_path, format, line, problem):
    goods = {"moses": "a [X] ||| b [X] ||| 1 ||| 0-0\n", "travatar": 'X ( "a" ) ||| "b" ||| F=1\n'}
    good = goods.get(format, "(X a) ||| b ||| F=1\n" if line.startswith("(") else "[X] ||| a ||| b ||| F=1\n")
    with pytest.raises(FormatError) as caught:
        table_of(tmp_path, good + line + "\n", format)
    assert str(caught.value) == f"{tmp_path / 'grammar'}:2: {problem}"
    problems: list[FormatError] = []
    assert len(table_of(tmp_path, good + line + "\n" + good, format, skip_bad=True, report=problems.append)) == 2
    assert [str(p) for p in problems] == [str(caught.value)]


def test_several_files_and_compression(tmp_path):
    (tmp_path / "a").write_text("[X] ||| a ||| b ||| F=1\n")
    with gzip.open(tmp_path / "b.gz", "wt") as stream:
        stream.write("[S] ||| [S] [X] ||| [1] [2] ||| G=1")
    table = read_grammar([tmp_path / "a", tmp_path / "b.gz"])
    assert shown(table) == ["X | a | b | F=1 | ", "S | S:1 X:2 | :1 :2 | G=1 | "]


@pytest.mark.parametrize("format", ["cdec", "joshua", "moses"])
def test_written_and_read_again(tmp_path, format):
    names = {"cdec": "PhraseModel", "joshua": "tm_pt", "moses": "TranslationModel0"}[format]
    rules = (
        f"[X] ||| das [X,1] von [Y,2] ||| the [Y,2] 's [X,1] ||| {names}_0=-0.5 {names}_1=-1.25 ||| 0-0 2-2\n"
        f"[Y] ||| a ||| b c ||| {names}_0=-3.333333 {names}_1=-0.1 {names}_rare=2 ||| 0-1\n"
        f"[X] ||| [ ||| ] ||| {names}_0=0 {names}_1=-1e-7 |||\n"
    )
    table = table_of(tmp_path, rules)
    write_grammar(table, tmp_path / "out.gz", format)
    assert shown(read_grammar(tmp_path / "out.gz", format)) == shown(table)


@pytest.mark.parametrize(
    ("format", "rule", "problem"),
    [
        ("cdec", "[X] a [X] ||| b [X] ||| 1", "the word '[X]' would be read as something else in this format"),
        ("joshua", "a [X] ||| [a,b] [X] ||| 1", "the word '[a,b]' would be read as something else in this format"),
        ("moses", "[X] a [X] ||| b [X] ||| 1", "the word '[X]' would be read as something else in this format"),
        ("cdec", "a [X] ||| b [PUNC,] ||| 1", "the label 'PUNC,' cannot be written in this format"),
    ],
)
def test_what_a_format_cannot_hold(tmp_path, format, rule, problem):
    table = table_of(tmp_path, rule + "\n", "moses")  # where [X] is a word, and a label may have a comma
    with pytest.raises(ValueError) as caught:
        write_grammar(table, tmp_path / "out", format)
    assert str(caught.value) == problem
    assert not (tmp_path / "out").exists()


def test_numbers_as_c_reads_them(tmp_path):
    table = table_of(tmp_path, "[X] ||| a ||| b ||| 1. .5 -.25e1 +2. -0 G=+3.e-1\n")
    values = "G=0.3 PhraseModel_0=1 PhraseModel_1=0.5 PhraseModel_2=-2.5 PhraseModel_3=2"
    assert shown(table) == [f"X | a | b | {values} | "]


def test_moses_labels_and_sparse_features_come_back(tmp_path):
    rules = "a [X][PUNC,] [X] ||| [X][PUNC,] b [PUNC,] ||| 0.5 ||| 1-0 ||| 3 ||| dom 1 rare -2 |||\n"
    table = table_of(tmp_path, rules, "moses")
    features = "TranslationModel0=-0.693147 TranslationModel0_dom=1 TranslationModel0_rare=-2"
    assert shown(table) == [f"PUNC, | a PUNC,:1 | :1 b | {features} | "]
    write_grammar(table, tmp_path / "out", "moses")
    assert shown(read_grammar(tmp_path / "out", "moses")) == shown(table)


def test_unknown_format(tmp_path):
    with pytest.raises(UsageError) as caught:
        table_of(tmp_path, "", "hiero")
    assert str(caught.value) == "unknown grammar format 'hiero'; known: cdec, joshua, moses, travatar"
