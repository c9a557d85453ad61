"""From predicate-argument structures to dependencies: every row of the table, the paper's example, bad input."""

import gzip
import warnings
from pathlib import Path

import pytest

from treeglot import FormatError, UsageError
from treeglot.cli import main
from treeglot.syntax import write
from treeglot.syntax.formats import enju, read_dependencies
from treeglot.syntax.formats import lines as records
from treeglot.syntax.formats.enju import UnknownPredicateWarning
from treeglot.syntax.predicates import Phrase, PredicateSentence, Token, predicate_arcs

# Written out from the page, `a b` for "a depends on b": the twin of the data file.
ROWS = {
    "adj_arg1": "pred arg1",
    "adj_arg12": "arg2 pred, pred arg1",
    "adj_mod_arg1": "pred arg1, arg1 mod",
    "adj_mod_arg12": "arg2 pred, pred arg1, arg1 mod",
    "aux_arg12": "arg1 arg2, pred arg2",
    "aux_mod_arg12": "arg1 arg2, pred arg2, arg2 mod",
    "conj_arg1": "pred arg1",
    "conj_arg12": "arg2 pred, pred arg1",
    "conj_arg123": "arg2 pred, arg3 pred, pred arg1",
    "comp_arg1": "pred arg1",
    "comp_arg12": "pred arg1, arg1 arg2",
    "comp_mod_arg1": "arg1 pred, pred mod",
    "noun_arg1": "pred arg1",
    "noun_arg2": "arg2 pred",
    "noun_arg12": "arg2 pred, pred arg1",
    "poss_arg2": "pred arg2",
    "poss_arg12": "pred arg2, arg2 arg1",
    "prep_arg12": "arg2 pred, pred arg1",
    "prep_arg123": "arg2 pred, arg3 pred, pred arg1",
    "prep_mod_arg12": "arg2 pred, pred arg1, arg1 mod",
    "prep_mod_arg123": "arg2 pred, arg3 pred, pred arg1, arg1 mod",
    "quote_arg2": "pred arg2",
    "quote_arg12": "arg1 pred, pred arg2",
    "quote_arg23": "arg3 pred, pred arg2",
    "quote_arg123": "arg1 pred, arg3 pred, pred arg2",
    "lparen_arg123": "pred arg3, arg2 arg3, arg3 arg1",
    "relative_arg1": "pred arg1",
    "relative_arg12": "arg2 pred, pred arg1",
    "verb_arg1": "arg1 pred",
    "verb_arg12": "arg1 pred, arg2 pred",
    "verb_arg123": "arg1 pred, arg2 pred, arg3 pred",
    "verb_arg1234": "arg1 pred, arg2 pred, arg3 pred, arg4 pred",
    "verb_mod_arg1": "arg1 pred, pred mod",
    "verb_mod_arg12": "arg1 pred, arg2 pred, pred mod",
    "verb_mod_arg123": "arg1 pred, arg2 pred, arg3 pred, pred mod",
    "verb_mod_arg1234": "arg1 pred, arg2 pred, arg3 pred, arg4 pred, pred mod",
    "app_arg12": "arg2 arg1, pred arg1",
    "coord_arg12": "arg2 arg1, pred arg1",
    "det_arg1": "pred arg1",
    "it_arg1": "pred arg1",
    "punct_arg1": "pred arg1",
    "dtv_arg2": "pred arg2",
    "lgs_arg2": "arg2 pred",
}


def test_the_table_has_the_rows_of_the_page() -> None:
    assert set(predicate_arcs()) == set(ROWS)


@pytest.mark.parametrize(("predicate", "arcs"), ROWS.items())
def test_every_row(predicate: str, arcs: str) -> None:
    """A sentence of the predicate, its arguments and a root word of its own: the heads are the row's arcs."""
    names = ["pred", "arg1", "arg2", "arg3", "arg4", "mod", "root"]
    own = [name for name in names if name in arcs.replace(",", "").split()]
    tokens = [
        Token(name, name, "T", predicate if name == "pred" else "noun_arg0", {n: n for n in own if n != "pred"})
        for name in names
    ]
    found, unknown = PredicateSentence(tokens, {}, ["root"]).to_dependency()
    assert unknown == []
    heads = dict(arc.split() for arc in arcs.split(", "))
    assert len(heads) == arcs.count(",") + 1  # no word has two heads in any row
    expected = [-1 if name == "root" else names.index(heads.get(name, "root")) for name in names]
    assert found.heads.tolist() == expected


# Figure 1 as far as the paper's text gives it: t0 = when is conj_arg12, its arg1 = c16 has the syntactic head t10, its
# arg2 = c3 has t6. The words between are our own.
FIGURE = (Path(__file__).parents[1] / "golden/enju/figure1.enju").read_text()


def test_the_papers_example(tmp_path: Path) -> None:
    [tree] = read_dependencies(_written(tmp_path, FIGURE))
    heads = tree.heads.tolist()
    assert tree.words[0] == "when" and tree.words[6] == tree.words[10] == "is"
    assert heads[6] == 0 and heads[0] == 10  # t6(is) → t0(when) → t10(is)
    assert heads[10] == -1  # the syntactic head of the whole
    assert tree.tags is not None and tree.tags[:2] == ["WRB", "DT"]
    [semantic] = read_dependencies(_written(tmp_path, FIGURE), heads="semantic")
    assert semantic.heads.tolist()[7] == 0 and semantic.heads.tolist()[0] == 11
    assert semantic.heads.tolist()[11] == -1


def _written(tmp_path: Path, text: str, name: str = "x.enju") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def test_heads_that_lead_nowhere_and_cycles_are_left_out() -> None:
    tokens = [
        Token("t0", "a", "N", "verb_arg12", {"arg1": "c1", "arg2": "nowhere"}),
        Token("t1", "b", "N", "noun_arg0", {}),
    ]
    circle = {"c1": Phrase("c2", "c2"), "c2": Phrase("c1", "c1")}
    sentence = PredicateSentence(tokens, circle, ["c1", "t1"])
    assert sentence.head_word("c1") is None
    assert sentence.to_dependency()[0].heads.tolist() == [1, -1]


def sentence(inside: str, id: str = "s0") -> str:
    return f'<sentence id="{id}">{inside}</sentence>\n'


def test_a_line_of_beginnings_is_read_once(tmp_path: Path) -> None:
    """Looked at again from each of them, it would take hours."""
    with pytest.raises(FormatError, match=r"x\.enju:1: the file ends inside the sentence"):
        list(read_dependencies(_written(tmp_path, "<sentence " * 400_000)))
    with pytest.raises(FormatError, match=r"x\.enju:1: the file ends inside the sentence"):
        list(read_dependencies(_written(tmp_path, "<sentence>\n" + "<tok>\n" * 100_000)))


def test_lines_and_sentences_have_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "longest_line", lambda: 1000)
    monkeypatch.setattr(enju, "longest_line", lambda: 1000)
    for name in ("x.enju", "x.candc"):
        with pytest.raises(FormatError, match=rf"{name}:1: is longer than 1000 bytes; TREEGLOT_LONGEST_LINE sets"):
            list(read_dependencies(_written(tmp_path, "a" * 1001, name)))
    with pytest.raises(FormatError, match=r"x\.enju:2: the sentence that begins here is longer than 1000 bytes"):
        list(read_dependencies(_written(tmp_path, "\n<sentence>\n" + "<tok>\n" * 300)))


GOOD = sentence('<cons id="c0" head="t0" sem_head="t0"><tok id="t0" pos="VB" pred="verb_arg1" arg1="t1">go</tok> '
                '<tok id="t1" pos="NN" pred="noun_arg0">dog</tok></cons>')  # fmt: skip


def test_sentences_may_be_empty_or_share_a_line(tmp_path: Path) -> None:
    text = (
        '<?xml version="1.0"?>\n'
        + GOOD.strip()
        + GOOD
        + '<sentence id="s2" parse_status="failure"/>\n\n'
        + sentence("")
    )
    trees = list(read_dependencies(_written(tmp_path, text)))
    assert [tree.words for tree in trees] == [["go", "dog"], ["go", "dog"], [], []]
    assert trees[0].heads.tolist() == [-1, 0]


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (GOOD + '<sentence id="s1"><tok id="t0">a</tok>\n', 2, "the file ends inside the sentence that begins here"),
        ('<sentence id="s1"><tok id="t0">a</tok>\n' + GOOD, 1, "the sentence that begins here has no </sentence>"),
        (sentence('<tok id="t0">a</cons>'), 1, "not well-formed XML: mismatched tag"),
        (sentence('<tok id="t0">&x;</tok>'), 1, "not well-formed XML: undefined entity"),
        (GOOD + "stray\n", 2, "'stray' is outside of sentences; expected <sentence …> as of enju -xml"),
        (
            GOOD + "goes\tgo\tVBZ\n",
            2,
            "'goes\\tgo\\tVBZ' is outside of sentences; expected <sentence …> as of enju -xml",
        ),
        (
            GOOD + "<all>\n<tok id='t'/>\n",
            3,
            "\"<tok id='t'/>\" is outside of sentences; expected <sentence …> as of enju -xml",
        ),
        (sentence("<tok>a</tok>"), 1, "a <tok> without an id"),
        (sentence('<tok id="t0"> </tok>'), 1, "the token t0 is ''; expected a word"),
        (sentence('<tok id="t0">a b</tok>'), 1, "the token t0 is 'a b'; expected a word"),
        (sentence('<b id="t0">a</b>'), 1, "<b> is not known; expected sentence, cons or tok"),
        (sentence('<tok id="t0"><cons id="c"/></tok>'), 1, "<cons> inside a token"),
        (sentence('<cons id="c"/>\n<tok id="c">a</tok>'), 2, "two elements have the id 'c'"),
        ("<!DOCTYPE x>\n", 1, "'<!DOCTYPE': declarations are refused, sentences need none"),
    ],
)
def test_bad_xml(tmp_path: Path, text: str, line: int, problem: str) -> None:
    path = _written(tmp_path, text)
    with pytest.raises(FormatError) as error:
        list(read_dependencies(path))
    assert (error.value.line, error.value.problem) == (line, problem)
    records = read_dependencies(path, skip_bad=True)
    assert [tree.words for tree in records] == [["go", "dog"]] * text.count("dog")
    assert records.skipped == 1 and records.problems[0].problem == problem


def test_hostile_xml_is_refused(tmp_path: Path) -> None:
    """Entities that grow, and a declaration inside what looks like a sentence."""
    laughs = '<!DOCTYPE lolz [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>' + GOOD
    with pytest.raises(FormatError, match="declarations are refused"):
        list(read_dependencies(_written(tmp_path, laughs)))
    hidden = '<sentence id="s"><!DOCTYPE x [<!ENTITY a "b">]>&a;</sentence>\n'
    with pytest.raises(FormatError, match="not well-formed XML"):
        list(read_dependencies(_written(tmp_path, hidden)))
    deep = '<sentence id="s">' + "".join(f'<cons id="c{i}" head="c{i + 1}">' for i in range(20000))
    deep += '<tok id="c20000" pred="noun_arg0">a</tok>' + "</cons>" * 20000 + "</sentence>\n"
    [tree] = read_dependencies(_written(tmp_path, deep))
    assert tree.words == ["a"]


def test_unknown_predicates_are_reported_by_name_and_count(tmp_path: Path) -> None:
    inside = '<tok id="t{0}" pred="{1}" arg1="t0">w</tok>'
    names = ["verb_arg0", "odd_arg1", "new_arg12", "odd_arg1"]
    text = sentence("".join(inside.format(i, name) for i, name in enumerate(names)))
    with pytest.warns(
        UnknownPredicateWarning,
        match=r"x\.enju: 3 predicates of unknown types, their arcs are skipped: new_arg12 \(1\), odd_arg1 \(2\)",
    ):
        [tree] = read_dependencies(_written(tmp_path, text))
    assert tree.heads.tolist() == [-1, 0, 0, 0]


TEXT = "The dog barks.\nGo away.\n"
STANDOFF = """0\t14\tsentence id="s0" parse_status="success"
0\t14\tcons id="c0.0" cat="S" head="c0.2" sem_head="c0.2"
0\t7\tcons id="c0.1" cat="NP" head="t0.1" sem_head="t0.1"
0\t3\ttok id="t0.0" pos="DT" pred="det_arg1" arg1="c0.1"
4\t7\ttok id="t0.1" pos="NN" lexentry="N&lt;3sg&gt;" pred="noun_arg0"
8\t13\tcons id="c0.2" cat="VP" head="t0.2" sem_head="t0.2"
8\t13\ttok id="t0.2" pos="VBZ" pred="verb_arg1" arg1="c0.1"
13\t14\ttok id="t0.3" pos="." pred="punct_arg1" arg1="c0.0"
15\t23\tsentence id="s1" parse_status="success"
15\t22\tcons id="c1.0" cat="S" head="t1.0"
15\t17\ttok id="t1.0" pos="VB" pred="verb_arg0"
18\t22\ttok id="t1.1" pos="RB" pred="adj_arg1" arg1="c1.0"
"""


def test_stand_off(tmp_path: Path) -> None:
    raw = tmp_path / "raw.txt"
    raw.write_text(TEXT)
    first, second = read_dependencies(_written(tmp_path, STANDOFF, "x.so"), text=str(raw))
    assert (first.words, first.heads.tolist()) == (["The", "dog", "barks", "."], [1, 2, -1, 2])
    assert (second.words, second.heads.tolist()) == (["Go", "away", "."], [-1, 0, 0])
    assert first.tags == ["DT", "NN", "VBZ", "."]


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        ("8\t13\ttok", "8\t130\ttok", 7, "offsets 8 to 130 do not fit the text, which has 24 bytes"),
        ("8\t13\ttok", "13\t8\ttok", 7, "offsets 13 to 8 do not fit the text, which has 24 bytes"),
        ("4\t7\ttok", "2\t7\ttok", 5, "the token t0.1 at 2 to 7 overlaps the one before it"),
        ("4\t7\ttok", "3\t4\ttok", 5, "the token t0.1 is ''; expected a word"),
        ("4\t7\ttok", "4\t7\tword", 5, "element 'word' is not known; expected sentence, cons or tok"),
        ("4\t7\ttok", "4-7 tok", 5, "'4-7 tok id=\"t0.1\" pos=\"NN\" lexentry=\"N&l' is not an annotation; "
         "expected BEGIN, END, element between tabs"),
        (' pos="NN"', " pos=NN", 5, '\'pos=NN lexentry="N&lt;3sg&gt;" pred="nou\' is not an attribute; '
         'expected NAME="VALUE"'),
        ('cons id="c0.1"', 'cons id="c0.0"', 3, "two elements have the id 'c0.0'"),
        ('tok id="t0.2"', 'tok id="c0.2"', 7, "two elements have the id 'c0.2'"),
        ('tok id="t0.2"', 'tok id="t0.2" id="t0.9"', 7, "the attribute id is given twice"),
        ("13\t14\ttok", "14\t16\ttok", 8, "the tok t0.3 at 14 to 16 is outside of its sentence, 0 to 14"),
        ("0\t7\tcons", "0\t17\tcons", 3, "the cons c0.1 at 0 to 17 is outside of its sentence, 0 to 14"),
        ("8\t13\ttok", "8\t" + "9" * 5000 + "\ttok", 7, "'8\\t" + "9" * 38 + "' is not an annotation; "
         "expected BEGIN, END, element between tabs"),
        ('tok id="t0.2" ', "tok ", 7, "a tok without an id"),
    ],
)  # fmt: skip
def test_bad_stand_off(tmp_path: Path, old: str, new: str, line: int, problem: str) -> None:
    raw = tmp_path / "raw.txt"
    raw.write_text(TEXT)
    path = _written(tmp_path, STANDOFF.replace(old, new, 1), "x.so")
    with pytest.raises(FormatError) as error:
        list(read_dependencies(path, text=str(raw)))
    assert (error.value.line, error.value.problem) == (line, problem)
    records = read_dependencies(path, text=str(raw), skip_bad=True)
    assert [tree.words for tree in records] == [["Go", "away", "."]]
    assert records.skipped == 1


def test_sentences_may_not_overlap(tmp_path: Path) -> None:
    raw = tmp_path / "raw.txt"
    raw.write_text(TEXT)
    path = _written(tmp_path, STANDOFF.replace("15\t23\tsentence", "10\t23\tsentence"), "x.so")
    with pytest.raises(FormatError, match=r":9: the sentence at 10 to 23 overlaps the one before it"):
        list(read_dependencies(path, text=str(raw)))
    records = read_dependencies(path, text=str(raw), skip_bad=True)
    assert [len(tree) for tree in records] == [4] and records.skipped == 1


@pytest.mark.parametrize("name", ["bom", "gz", "crlf"])
def test_the_annotated_text_as_files_have_it(tmp_path: Path, name: str) -> None:
    """A byte order mark is three bytes and no character, a carriage return is both, and it may be compressed."""
    raw = tmp_path / ("raw.txt.gz" if name == "gz" else "raw.txt")
    text = TEXT.replace("\n", "\r\n") if name == "crlf" else TEXT
    data = text.encode("utf-8-sig" if name == "bom" else "utf-8")
    raw.write_bytes(gzip.compress(data) if name == "gz" else data)
    annotation = STANDOFF
    if name == "crlf":
        annotation = STANDOFF.replace("15\t23", "16\t24").replace("15\t", "16\t").replace("\t17", "\t18")
        annotation = annotation.replace("\t22", "\t23").replace("18\t23", "19\t23")
    for unit in ("bytes", "characters"):
        if name == "bom" and unit == "bytes":
            annotation = moved(STANDOFF, 3).replace("3\t", "0\t")  # the first word begins with the mark
        trees = list(read_dependencies(_written(tmp_path, annotation, "x.so"), text=str(raw), offsets=unit))
        assert [tree.words for tree in trees] == [["The", "dog", "barks", "."], ["Go", "away", "."]]
        annotation = STANDOFF if name == "bom" else annotation


def moved(standoff: str, by: int) -> str:
    """Return the annotation with all offsets moved."""
    fields = [line.split("\t") for line in standoff.splitlines()]
    return "".join(f"{int(begin) + by}\t{int(end) + by}\t{rest}\n" for begin, end, rest in fields)


def test_what_is_not_utf8_is_named_by_file_and_line(tmp_path: Path) -> None:
    raw = tmp_path / "raw.txt"
    raw.write_bytes(b"The dog\nb\xe4rks\n")
    with pytest.raises(FormatError, match=r"raw\.txt:2: byte 0xe4 is not UTF-8"):
        read_dependencies(_written(tmp_path, STANDOFF, "x.so"), text=str(raw))
    path = tmp_path / "x.enju"
    path.write_bytes(GOOD.encode() + GOOD.replace("dog", "d\xf6g").encode("latin-1"))
    records = read_dependencies(path)
    assert next(records).words == ["go", "dog"]
    with pytest.raises(FormatError, match=r"x\.enju:2: the byte 0xf6 at byte \d+ is not UTF-8"):
        next(records)


def test_words_without_tags(tmp_path: Path) -> None:
    text = sentence('<tok id="t0" pred="verb_arg0">go</tok>') + sentence(
        '<tok id="t0" pos="VB" pred="verb_arg0">go</tok> <tok id="t1" pos="" pred="adj_arg1" arg1="t0">on</tok>'
    )
    first, second = read_dependencies(_written(tmp_path, text))
    assert (first.tags, second.tags) == (None, ["VB", "_"])
    write(tmp_path / "x.conllu", [first, second])


def test_stand_off_before_a_sentence_and_without_text(tmp_path: Path) -> None:
    raw = tmp_path / "raw.txt"
    raw.write_text(TEXT)
    path = _written(tmp_path, STANDOFF.partition("\n")[2], "x.so")
    with pytest.raises(FormatError, match="a cons before the first sentence"):
        list(read_dependencies(path, text=str(raw)))
    assert len(list(read_dependencies(path, text=str(raw), skip_bad=True))) == 1
    with pytest.raises(UsageError, match="give it as the option text"):
        read_dependencies(path)


def test_formats_of_parsers_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="enju is a format of another program: it can be read, not written"):
        write(tmp_path / "x.enju", [])
    with pytest.raises(UsageError, match="heads is 'lexical'; expected syntactic or semantic"):
        read_dependencies(_written(tmp_path, GOOD), heads="lexical")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(read_dependencies(_written(tmp_path, GOOD)))) == 1


def test_conversion_by_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _written(tmp_path, FIGURE.replace("noun_arg1", "odd_arg1"))
    assert main(["convert", str(path), str(tmp_path / "x.conllu"), "--read", "heads=semantic"]) == 0
    assert "2 predicates of unknown types, their arcs are skipped: odd_arg1 (2)" in capsys.readouterr().err
    [tree] = read_dependencies(tmp_path / "x.conllu")
    assert tree.heads.tolist()[11] == -1
    assert main(["convert", str(path), str(tmp_path / "x.conllu"), "--read", "semantic"]) == 2
    assert "'semantic' sets no option; expected NAME=VALUE" in capsys.readouterr().err


def test_failed_parses_keep_their_places_with_the_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """CoNLL cannot hold a sentence without words; with its words it can, and later lines stay where they are."""
    path = _written(tmp_path, '<sentence id="s" parse_status="failure"/>\n' + GOOD)
    text, out = tmp_path / "x.txt", tmp_path / "x.conllu"
    text.write_text("it fails\nGo dog\n")
    assert main(["convert", str(path), str(out)]) == 1
    assert main(["convert", str(path), str(out), "--text", str(text)]) == 0
    first, second = read_dependencies(out)
    assert (first.words, first.heads.tolist()) == (["it", "fails"], [-2, -2])
    assert (second.words, second.heads.tolist()) == (["go", "dog"], [-1, 0])
    capsys.readouterr()
    for lines, message in {
        "it fails\n": f"{text}: has 1 sentences; {path} has more",
        "it fails\ngo dog\nmore\n": f"{path}: has 2 sentences; {text} has more",
        "it fails\ngo cat\n": f"{path}: sentence 2: word 2 is 'dog'; in {text} it is 'cat'",
    }.items():
        text.write_text(lines)
        assert main(["convert", str(path), str(out), "--text", str(text)]) == 1
        assert message in capsys.readouterr().err
    assert main(["convert", str(path), str(out), "--text", str(text), "--skip-bad"]) == 2
    assert "--skip-bad would move dependencies away from the sentences of --text" in capsys.readouterr().err
    assert main(["convert", str(path), "-", "--to", "text", "--text", str(text)]) == 2
    assert "--text is for dependencies; text holds text" in capsys.readouterr().err
