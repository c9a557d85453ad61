"""Head tables: the format, its refusals, and what the three tables that come along choose."""

import lzma
import pickle
from pathlib import Path

import pytest

from treeglot import FormatError, UsageError
from treeglot._core import HeadTable
from treeglot.syntax import heads

MINIMAL = "%default first\n"


def chosen(table: HeadTable, production: str) -> str:
    """The head of `NP -> DT NN`, as label and position."""
    label, children = production.split(" -> ")
    labels = children.split()
    position = table.head_child(label, labels)
    return f"{labels[position]} {position}"


@pytest.mark.parametrize(
    ("production", "head"),
    [
        ("S -> NP VP .", "VP 1"),
        ("S -> `` NP VP '' .", "VP 2"),
        ("S -> S , CC S", "S 0"),
        ("VP -> MD RB VP", "MD 0"),
        ("VP -> TO VP", "TO 0"),
        ("VP -> ADVP VBD NP", "VBD 1"),
        ("VP -> VP CC VP", "VP 0"),
        ("PP -> ADVP IN NP", "IN 1"),
        ("PP -> IN CC IN NP", "IN 0"),
        # Collins' rules for NP, one after the other
        ("NP -> DT JJ NN NN", "NN 3"),
        ("NP -> NNP POS", "POS 1"),
        ("NP -> NP PP", "NP 0"),
        ("NP -> NP , NP ,", "NP 0"),
        ("NP -> DT ADJP", "ADJP 1"),
        ("NP -> DT $ CD", "$ 1"),
        ("NP -> DT CD", "CD 1"),
        ("NP -> DT JJ", "JJ 1"),
        ("NP -> PRP PRP", "PRP 1"),
        ("NP -> UH UH", "UH 1"),
        ("NX -> JJ NN", "NN 1"),
        # the adjustment for coordination
        ("NP -> DT NN CC NN", "NN 1"),
        ("NP -> NN , NN , CC NN", "NN 2"),
        ("NP -> NN CONJP NN", "NN 0"),
        ("NP -> CC NN", "NN 1"),
        ("NP -> JJ CC JJ NN", "NN 3"),
        ("NX -> NX CC NX", "NX 0"),
        ("UCP -> NN CC JJ", "NN 0"),
        ("NP -> , CC NN", "NN 2"),
        # clauses and questions
        ("SBAR -> IN S", "IN 0"),
        ("SBAR -> -NONE- S", "S 1"),
        ("SBARQ -> WHNP SQ .", "SQ 1"),
        ("SQ -> VBP NP VP", "VBP 0"),
        ("SINV -> `` S , '' VP NP .", "VP 4"),
        ("WHNP -> WDT NN", "NN 1"),
        ("WHADJP -> WRB JJ", "JJ 1"),
        ("ADJP -> ADVP JJ PP", "JJ 1"),
        ("ADVP -> RB RBR", "RBR 1"),
        ("QP -> JJR IN CD", "CD 2"),
        ("QP -> IN $ CD CD", "$ 1"),
        ("PRN -> -LRB- NP -RRB-", "NP 1"),
        # labels with tags, and unknown ones
        ("NP-SBJ-1 -> DT NN", "NN 1"),
        ("NP=2 -> DT NN", "NN 1"),
        ("NP^g -> DT NN", "NN 1"),
        ("S-TPC -> NP-SBJ VP", "VP 1"),
        ("ADVP|PRT -> IN RB", "RB 1"),
        ("FOO -> A B", "A 0"),
        ("FOO -> , B", "B 1"),
        ("FOO -> , .", ", 0"),
        ("PP -> , .", ". 1"),
    ],
)
def test_english(production: str, head: str) -> None:
    assert chosen(heads.load("english"), production) == head


@pytest.mark.parametrize(
    ("production", "head"),
    [
        ("IP -> NP VP PU", "VP 1"),
        ("IP -> IP PU IP PU", "IP 2"),
        ("IP -> CP PU IP", "IP 2"),
        ("IP -> NP NP PU", "NP 1"),
        ("VP -> ADVP PP VP", "VP 2"),
        ("VP -> VV VP", "VV 0"),
        ("VP -> VV AS NP", "VV 0"),
        ("VP -> VP PU VP", "VP 0"),
        ("VP -> BA IP", "BA 0"),
        ("VP -> SB VP", "VP 1"),
        ("VP -> MSP VP", "VP 1"),
        ("VP -> VV DER VP", "VV 0"),
        ("CP -> IP DEC", "DEC 1"),
        ("CP -> IP SP", "IP 0"),
        ("CP -> ADVP IP", "IP 1"),
        ("NP -> NPB CC NPB", "NPB 2"),
        ("NP -> QP CP NP", "NP 2"),
        ("NP-SBJ -> NN NN ETC", "NN 1"),
        ("NP -> NN PRN", "NN 0"),
        ("DNP -> NP DEG", "DEG 1"),
        ("DVP -> VP DEV", "DEV 1"),
        ("LCP -> NP LC", "LC 1"),
        ("PP -> P LCP", "P 0"),
        ("DP -> DT CLP", "DT 0"),
        ("QP -> CD CLP", "CLP 1"),
        ("QP -> QP PU QP", "QP 2"),
        ("CLP -> ADJP M", "M 1"),
        ("VRD -> VV VA", "VV 0"),
        ("VCD -> VV VV", "VV 0"),
        ("VSB -> VV VV", "VV 1"),
        ("VNV -> VC AD VC", "VC 0"),
        ("VPT -> VV AD VA", "VV 0"),
        ("VCP -> VV VC", "VV 0"),
        ("PRN -> PU NP PU", "NP 1"),
        ("FRAG -> NP PRN PU", "NP 0"),
        ("UCP -> NP CC IP ETC", "IP 2"),
        ("LST -> PU CD PU", "CD 1"),
        ("WHNP -> DP WHNP", "WHNP 1"),
    ],
)
def test_chinese(production: str, head: str) -> None:
    assert chosen(heads.load("chinese"), production) == head


@pytest.mark.parametrize(
    ("production", "head"),
    [
        ("CP -> IP DEC", "IP 0"),
        ("CP -> WHNP CP", "CP 1"),
        ("CP -> VP DEC", "VP 0"),
        ("CP -> CP SP", "CP 0"),
        ("DNP -> NP DEG", "NP 0"),
        ("DNP -> PP DEG", "PP 0"),
        ("DVP -> VP DEV", "VP 0"),
        ("LCP -> NP LC", "LC 1"),
        ("PP -> P LCP", "P 0"),
        ("VP -> VV VP", "VV 0"),
    ],
)
def test_chinese_particles(production: str, head: str) -> None:
    assert chosen(heads.load("chinese-particles"), production) == head


@pytest.mark.parametrize(
    ("production", "head"),
    [
        ("S -> NP-SB VVFIN-HD NP-OA $.", "VVFIN-HD 1"),
        ("S -> KOUS NP VP VAFIN", "VAFIN 3"),
        ("VP -> NP PP VVPP", "VVPP 2"),
        ("VP -> NP VZ", "VZ 1"),
        ("VZ -> PTKZU VVINF", "VVINF 1"),
        ("NP -> ART AP NN PP", "NN 2"),
        ("NP -> NN PN", "NN 0"),
        ("PN -> NE NE", "NE 1"),
        ("PP -> APPR ART ADJA NN", "APPR 0"),
        ("AP -> ADV ADJA", "ADJA 1"),
        ("AVP -> ADV ADV", "ADV 1"),
        ("CNP -> NN KON NN", "NN 0"),
        ("CS -> S $, KON S", "S 0"),
    ],
)
def test_german(production: str, head: str) -> None:
    assert chosen(heads.load("german"), production) == head


def test_base_keeps_labels_that_begin_with_a_mark() -> None:
    table = heads.load("english")
    assert [table.base(label) for label in ["NP-SBJ-1", "-LRB-", "-NEW-", "PRP$", "NP=2", "-", ""]] == [
        "NP",
        "-LRB-",
        "-NEW-",
        "PRP$",
        "NP",
        "-",
        "",
    ]


def test_a_label_with_its_tag_in_the_table() -> None:
    table = HeadTable.read("%default last\n%pass X-PUNC\nS = first NP-PRD > NP\nVP = first NP\nNP = first\n", "t")
    assert table.head_child("S", ["NP", "NP-PRD"]) == 1
    assert table.head_child("S", ["VP", "NP-SBJ", "NP"]) == 1
    assert table.head_child("VP", ["A", "NP-PRD"]) == 1  # by its base, where the rule does not name it
    assert table.head_child("NP-PRD", ["A", "B"]) == 0  # the rule of its base
    assert table.head_child("S", ["NP", "X-PUNC"]) == 0
    assert table.head_child("Z", ["A", "X-PUNC"]) == 0
    assert table.head_child("Z", ["A", "X"]) == 1
    assert table.base("NP-PRD") == "NP-PRD"


def test_continuation_lines_comments_and_directions() -> None:
    table = HeadTable.read("# a table\n\n%default first\r\n%tags\nA B = last X Y\n   > first # Z\n", "t")
    assert table.head_child("A", ["X", "Y", "Q"]) == 1
    assert table.head_child("B", ["Q", "Z", "#"]) == 1
    assert table.head_child("B", ["Q", "R"]) == 0
    assert table.head_child("A-B", ["Q", "X"]) == 0  # no tag marks: an unknown label
    assert table.head_child("C", ["Q", "R"]) == 0


def test_no_children() -> None:
    with pytest.raises(ValueError, match=r"^a constituent without children has no head$"):
        heads.load("english").head_child("NP", [])


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", 1, "the table has no %default rule, such as %default first"),
        ("NP = last NN\n", 1, "the table has no %default rule, such as %default first"),
        (
            MINIMAL + "NP last NN\n",
            2,
            "'NP' begins a line without '='; expected LABEL ... = first or last, LABEL ..., with blanks around '='",
        ),
        (
            MINIMAL + "NP= last NN\n",
            2,
            "'NP=' begins a line without '='; expected LABEL ... = first or last, LABEL ..., with blanks around '='",
        ),
        (MINIMAL + "= last NN\n", 2, "no label before '='"),
        (MINIMAL + "NP =\n", 2, "an empty rule; expected first or last"),
        (MINIMAL + "NP = NN\n", 2, "'NN' where the rule must say first or last"),
        (MINIMAL + "NP = last NN >\n", 2, "nothing after '>'"),
        (MINIMAL + "NP = last > NN\n", 2, "no label before '>'"),
        (MINIMAL + "NP = last NN\n   > > NP\n", 3, "no label before '>'"),
        (MINIMAL + "NP = last NN first NP\n", 2, "'first' inside a step; expected '>' before it"),
        (MINIMAL + "NP = last NN > first NP\n  > NN\n", 3, "'NN' stands in the rule twice"),
        (MINIMAL + "NP = last = NN\n", 2, "'=' where a label is expected"),
        (MINIMAL + "NP first = last NN\n", 2, "'first' where a label is expected"),
        (MINIMAL + "NP = last NN\nVP = first VV\nX NP = first\n", 4, "a second rule for 'NP'; the first is in line 2"),
        (MINIMAL + "%default last\n", 2, "a second %default; the first is in line 1"),
        (MINIMAL + "%head NP\n", 2, "unknown directive '%head'; expected %default, %tags, %pass or %conjunctions"),
        (MINIMAL + "%tags - --\n", 2, "'--' is not one (ASCII) character"),
        (MINIMAL + "%pass , >\n", 2, "'>' where a label is expected"),
        ("%default\n", 1, "an empty rule; expected first or last"),
        ("%default NN\n", 1, "'NN' where the rule must say first or last"),
        ("# a comment\n  NP = last NN\n", 2, "the line begins with a blank but continues no rule"),
    ],
)
def test_bad_tables(tmp_path: Path, text: str, line: int, problem: str) -> None:
    path = tmp_path / "own.heads"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        heads.load(path)
    assert (caught.value.file, caught.value.line, caught.value.problem) == (str(path), line, problem)


def test_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "own.heads"
    path.write_bytes(b"%default first\n# \xff\n")
    with pytest.raises(FormatError, match=r"own\.heads:2: byte 0xff is not UTF-8$"):
        heads.load(path)


def test_load_by_path_and_compressed(tmp_path: Path) -> None:
    path = tmp_path / "own.heads.xz"
    path.write_bytes(lzma.compress("\ufeff%default last\nＮＰ = first 名\n".encode()))
    for name in (path, str(path)):
        assert heads.load(name).head_child("ＮＰ", ["x", "名"]) == 1


def test_unknown_name() -> None:
    names = "chinese, chinese-particles, english, first, german, last"
    with pytest.raises(UsageError, match=rf"^no head table 'klingon': expected a file or one of {names}$"):
        heads.load("klingon")
    with pytest.raises(FileNotFoundError):
        heads.load("/nowhere/own.heads")
    with pytest.raises(FileNotFoundError):
        heads.load(Path("klingon"))


def test_pickle_and_repr() -> None:
    table = pickle.loads(pickle.dumps(heads.load("english")))
    assert table.head_child("NP", ["DT", "NN", "CC", "NN"]) == 1
    assert repr(table) == "<HeadTable english.heads>"


def test_the_table_in_the_docs() -> None:
    text = (Path(__file__).parents[2] / "docs/formats.md").read_text(encoding="utf-8")
    block = text.split("You can write a table yourself:\n\n")[1].split("\n\n")[0]
    table = HeadTable.read("\n".join(line[4:] for line in block.splitlines()), "docs")
    assert chosen(table, "NP-SBJ -> DT NN CC NNS") == "NN 1"
    assert chosen(table, "NP -> CD JJ") == "CD 0"
    assert chosen(table, "NP -> X Y ,") == "Y 1"
    assert chosen(table, "PP -> X Y") == "X 0"
