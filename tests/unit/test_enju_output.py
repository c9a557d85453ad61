"""Enju's output as public samples have it: full stops in no token, failures with text, several parses, roots around."""

from pathlib import Path
from typing import Any

import pytest

from treeglot import Dependency, FormatError, UsageError
from treeglot.syntax.formats import read_dependencies
from treeglot.syntax.formats.enju import FurtherParsesWarning

# Our own sentences in the shape of Enju 2.4: one line each, attributes in its order, ids that count on.
BARKS = (
    '<sentence id="s7" parse_status="success" fom="-1.25"><cons id="c40" cat="S" xcat="" head="c43" sem_head="c43" '
    'schema="subj_head"><cons id="c41" cat="NP" xcat="" head="c42" sem_head="c42" schema="empty_spec_head"><cons '
    'id="c42" cat="NX" xcat="" head="t20" sem_head="t20"><tok id="t20" cat="N" pos="NNS" base="dog" '
    'lexentry="[D&lt;N.3pl&gt;]" pred="noun_arg0">Dogs</tok></cons></cons> <cons id="c43" cat="VP" xcat="" head="t21" '
    'sem_head="t21"><tok id="t21" cat="V" pos="VBP" base="bark" lexentry="[NP.nom&lt;V.bse&gt;]" pred="verb_arg1" '
    'tense="present" aspect="none" type="none" voice="active" aux="minus" arg1="c41">bark</tok></cons></cons>'
)
ASKED = (
    '<sentence id="s8" parse_status="success" fom="-2"><cons id="c50" cat="S" xcat="" head="c52" sem_head="c53" '
    'schema="subj_head"><cons id="c51" cat="NP" xcat="" head="t30" sem_head="t30"><tok id="t30" cat="N" pos="PRP" '
    'base="i" pred="noun_arg0">I</tok></cons> <cons id="c52" cat="VP" xcat="" head="t31" sem_head="c53"><tok id="t31" '
    'cat="V" pos="VBD" base="do" pred="aux_arg12" arg1="c51" arg2="c53">did</tok><tok id="t32" cat="ADV" pos="RB" '
    'base="not" pred="adj_arg1" arg1="c53">n&apos;t</tok> <cons id="c53" cat="VP" xcat="" head="t33" sem_head="t33">'
    '<tok id="t33" cat="V" pos="VB" base="ask" pred="verb_arg12" arg1="c51" arg2="unk">ask</tok></cons></cons></cons>'
)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "x.enju"
    path.write_text(text)
    return path


def read(tmp_path: Path, text: str, **options: Any) -> list[Dependency]:
    return list(read_dependencies(written(tmp_path, text), "enju", **options))


def shown(trees: list[Dependency]) -> list[tuple[list[str], list[int], list[str] | None]]:
    return [(tree.words, tree.heads.tolist(), tree.tags) for tree in trees]


def test_punctuation_in_no_token_is_a_word_below_the_root(tmp_path: Path) -> None:
    """Enju leaves out what ends a sentence, with a blank before it or not, and in the middle as well."""
    dogs = (["Dogs", "bark", "."], [1, -1, 1], ["NNS", "VBP", "_"])
    for end in (".", " .", " . ", "\n."):
        assert shown(read(tmp_path, f"{BARKS}{end}</sentence>\n")) == [dogs]
    [tree] = read(tmp_path, f"{BARKS}!? &quot; \u2026</sentence>\n")
    assert (tree.words, tree.heads.tolist()) == (["Dogs", "bark", "!?", '"', "\u2026"], [1, -1, 1, 1, 1])
    [tree] = read(tmp_path, BARKS.replace("</cons></cons> <cons", "</cons></cons>? <cons") + "</sentence>\n")
    assert (tree.words, tree.heads.tolist()) == (["Dogs", "?", "bark"], [2, 2, -1])
    asked = read(tmp_path, f"{ASKED}.</sentence>\n") + read(tmp_path, f"{ASKED}.</sentence>\n", heads="semantic")
    words = ["I", "did", "n't", "ask", "."]
    assert [(tree.words, tree.heads.tolist()) for tree in asked] == [
        (words, [3, -1, 3, 1, 1]),
        (words, [3, 3, 3, -1, 3]),
    ]


def test_a_word_in_no_token_is_nobodys_head(tmp_path: Path) -> None:
    """A constituent without a head does not find it by its missing id."""
    text = '<sentence id="s"><cons id="c"><tok id="t" pred="adj_arg1" arg1="c">so</tok></cons> .</sentence>'
    assert shown(read(tmp_path, text)) == [(["so", "."], [-1, 0], None)]
    text = (
        '<sentence id="s">. <tok id="t" pred="adj_arg1" arg1="">so</tok> <tok id="u" pred="x_arg0">it</tok></sentence>'
    )
    assert [tree.heads.tolist() for tree in read(tmp_path, text)] == [[-1, 0, 0]]


def test_failed_parses_and_empty_lines(tmp_path: Path) -> None:
    """Enju prints the text of a failed parse, which it has not tokenised."""
    texts = {
        "time limit exceeded": "It isn&apos;t easy, is it?",
        "sentence length limit exceeded": "Too &lt;long&gt;.",
        "XML encoding error": "A [ b.",
        "empty line": "",
        "fragmental parse": "No, ",
    }
    lines = [
        f'<sentence id="s{n}" parse_status="{name}" fom="0">{text}' for n, (name, text) in enumerate(texts.items())
    ]
    lines[-1] += (
        '<cons id="c1" head="t1" sem_head="t1"><tok id="t1" pos="RB" pred="adj_arg1" arg1="unk">not</tok></cons> '
        '<cons id="c2" head="t3" sem_head="t3"><tok id="t2" pos="DT" pred="det_arg1" arg1="c2">the</tok> '
        '<tok id="t3" pos="NN" pred="noun_arg0">dog</tok></cons>.'
    )
    trees = read(tmp_path, "".join(f"{line}</sentence>\n" for line in lines))
    assert [len(tree) for tree in trees] == [0, 0, 0, 0, 5]
    assert shown(trees[4:]) == [(["No,", "not", "the", "dog", "."], [3, 3, 3, -1, 3], ["_", "RB", "DT", "NN", "_"])]


def test_elements_around_sentences(tmp_path: Path) -> None:
    """Programs that run Enju number sentences again, quote with ' and indent; a root makes it one document."""
    plain = read(tmp_path, f"{BARKS}.</sentence>\n{ASKED}.</sentence>\n")
    single = (BARKS + ".</sentence>").replace('"', "'")
    pretty = (ASKED + ".</sentence>").replace(">", ">\n  ").replace("<", "\n <")
    for root in (
        "<article id='a' enju_cmd='enju'>",
        "<?xml version='1.0' encoding='UTF-8'?><doc><x:p>",
        "<doc>\n <p>\n",
    ):
        text = f"{root}{single} {pretty}</p> </doc>\r\n"
        assert shown(read(tmp_path, text)) == shown(plain)
    assert shown(read(tmp_path, f"<a/>\n<b>{single}</b><b>{pretty}</b>")) == shown(plain)
    for bad, found in {
        "<p>text": "'text'",
        "<sentences": "'<sentences'",
        "<p <p>": "'<p <p>'",
        "</tok>": "'</tok>'",
    }.items():
        with pytest.raises(FormatError) as error:
            read(tmp_path, f"{single}{bad}\n")
        assert error.value.problem == f"{found} is outside of sentences; expected <sentence …> as of enju -xml"


def test_further_parses_of_a_sentence_are_left_out(tmp_path: Path) -> None:
    """`enju -N 2` prints parses of a sentence with its id one after another, the best first."""
    best, next_ = f"{BARKS}.</sentence>\n", f"{BARKS}.</sentence>\n".replace("c4", "c8").replace('"t2', '"t4')
    with pytest.warns(
        FurtherParsesWarning, match=r"x\.enju: 2 further parses of the same sentences are left out: the "
    ):
        trees = read(tmp_path, best + next_.replace("arg1", "arg9") + "\n" + f"{ASKED}.</sentence>\n" + next_ + best)
    assert [tree.words[-2] for tree in trees] == ["bark", "ask", "bark"]
    assert trees[0].heads.tolist() == [1, -1, 1]
    # Two runs of Enju on equal sentences print equal elements: these are two sentences, as is one with another id.
    assert len(read(tmp_path, best + best)) == 2
    assert len(read(tmp_path, best + next_.replace("s7", "s8"))) == 2
    assert len(read(tmp_path, best + next_.replace("Dogs", "Cats"))) == 2
    assert len(read(tmp_path, best.replace(' id="s7"', "") + next_.replace(' id="s7"', ""))) == 2


def test_a_bad_parse_changes_no_number_of_sentences(tmp_path: Path) -> None:
    """Lines of text and sentences stay together, in both notations: the first parse of each counts, bad or not."""
    best, asked = f"{BARKS}.</sentence>\n", f"{ASKED}.</sentence>\n"
    next_ = best.replace("c4", "c8").replace('"t2', '"t4')
    bad, last = next_.replace('id="t41"', 'id="t40"'), next_.replace("c8", "c9")
    for parses in (bad + best, bad + best + last, bad + last + bad, bad + best + bad + last):
        with pytest.warns(FurtherParsesWarning, match=f"{parses.count('<sentence') - 1} further parses"):
            records = read_dependencies(written(tmp_path, parses + asked), "enju", skip_bad=True)
            assert [tree.words[0] for tree in records] == ["I"]
        assert records.skipped == 1
    with pytest.warns(FurtherParsesWarning, match="2 further parses"):
        assert [tree.words[0] for tree in read(tmp_path, best + bad + last + asked)] == ["Dogs", "I"]
    cats = best.replace("Dogs", "Cats")  # another sentence, though another run of Enju gives it the same id
    with pytest.warns(FurtherParsesWarning, match="1 further parses"):
        assert [tree.words[0] for tree in read(tmp_path, best + bad + cats)] == ["Dogs", "Cats"]
    records = read_dependencies(written(tmp_path, bad + asked), "enju", skip_bad=True)
    assert [tree.words[0] for tree in records] == ["I"]
    first, second = (part + "\n" for part in STANDOFF.strip().split("\n\n"))
    (tmp_path / "x.txt").write_text(LINE)
    (tmp_path / "x.so").write_text(first.replace('id="t1"', 'id="t0"') + first + second)
    with pytest.warns(FurtherParsesWarning, match="1 further parses"):
        records = read_dependencies(tmp_path / "x.so", text=str(tmp_path / "x.txt"), skip_bad=True)
        assert [tree.words[0] for tree in records] == ["Sì"]


def test_elements_whose_names_begin_like_those_of_sentences(tmp_path: Path) -> None:
    sentence = f"{BARKS}.</sentence>"
    for name in ("sentence-list", "sentence.all", "sentence:all", "cons-list", "tok-list"):
        text = f"<{name}>\n<{name}/>{sentence}<{name} n='1'/>\n{sentence}</{name}>\n"
        assert [len(tree) for tree in read(tmp_path, text)] == [3, 3]


def test_words_with_other_spaces(tmp_path: Path) -> None:
    """Only blanks, tabs and ends of lines separate words, as in text."""
    text = BARKS.replace("Dogs", "Dogs\u00a0").replace("bark<", "\u3000bark<") + ".\u00a0</sentence>\n"
    assert [tree.words for tree in read(tmp_path, text)] == [["Dogs\u00a0", "\u3000bark", ".\u00a0"]]


# Offsets in bytes: é and – have two and three.
LINE = "É caro – sim.\nSì!\n"
STANDOFF = """0\t17\tsentence id="s0" parse_status="success" fom="1"
0\t16\tcons id="c0" cat="S" xcat="" head="t0" sem_head="t0"
0\t2\ttok id="t0" cat="V" pos="VBZ" base="é" lexentry="x" pred="verb_arg1" arg1="c1"
3\t7\tcons id="c1" cat="ADJP" xcat="" head="t1" sem_head="t1"
3\t7\ttok id="t1" cat="ADJ" pos="JJ" base="caro" lexentry="x" pred="adj_arg1" arg1="unk"
8\t11\ttok id="t2" cat="PN" pos=":" base="-" lexentry="x" pred="punct_arg1" arg1="c0"
12\t15\ttok id="t3" cat="ADV" pos="RB" base="sim" lexentry="x" pred="adj_arg1" arg1="c0"

17\t21\tsentence id="s1" parse_status="success" fom="2"
17\t20\ttok id="t4" cat="ADV" pos="RB" base="sì" lexentry="x" pred="adj_arg0"

"""


def standoff(tmp_path: Path, annotation: str, line: str = LINE, **options: Any) -> list[Dependency]:
    (tmp_path / "x.txt").write_text(line)
    (tmp_path / "x.so").write_text(annotation)
    return list(read_dependencies(tmp_path / "x.so", text=str(tmp_path / "x.txt"), **options))


def test_offsets_count_bytes_or_characters(tmp_path: Path) -> None:
    expected = [
        (["É", "caro", "–", "sim", "."], [-1, 0, 0, 0, 0], ["VBZ", "JJ", ":", "RB", "_"]),
        (["Sì", "!"], [-1, 0], ["RB", "_"]),
    ]
    assert shown(standoff(tmp_path, STANDOFF)) == expected
    moved = ""
    data = LINE.encode()
    for line in STANDOFF.splitlines():
        fields = line.split("\t")
        fields[:-1] = [str(len(data[: int(offset)].decode())) for offset in fields[:-1]]
        moved += "\t".join(fields) + "\n"
    assert moved != STANDOFF
    assert shown(standoff(tmp_path, moved, offsets="characters")) == expected
    with pytest.raises(FormatError) as error:
        standoff(tmp_path, moved)
    assert error.value.line == 3
    assert error.value.problem == "offset 1 is inside a character; if offsets count characters, set offsets=characters"
    with pytest.raises(UsageError, match="offsets is 'words'; expected bytes or characters"):
        standoff(tmp_path, STANDOFF, offsets="words")


def test_words_between_tokens_of_stand_off(tmp_path: Path) -> None:
    without = "".join(line + "\n" for line in STANDOFF.splitlines() if 'id="t1"' not in line)
    first, _ = standoff(tmp_path, without)
    assert (first.words, first.heads.tolist()) == (["É", "caro", "–", "sim", "."], [-1, 0, 0, 0, 0])
    assert first.tags == ["VBZ", "_", ":", "RB", "_"]
    failed = "".join(line + "\n" for line in STANDOFF.splitlines() if "\ttok " not in line)
    assert [len(tree) for tree in standoff(tmp_path, failed)] == [0, 0]


def test_further_parses_of_stand_off(tmp_path: Path) -> None:
    first, second = (part + "\n" for part in STANDOFF.strip().split("\n\n"))
    again = first.replace('"c', '"d').replace('"t', '"u').replace("verb_arg1", "odd_arg1")
    with pytest.warns(FurtherParsesWarning, match=r"x\.so: 2 further parses of the same sentences are left out: the "):
        trees = standoff(tmp_path, first + again + "\n" + again + "\n" + second)
    assert [tree.words[0] for tree in trees] == ["É", "Sì"]
    with pytest.raises(FormatError, match="the sentence at 0 to 17 overlaps the one before it"):
        standoff(tmp_path, first + again.replace("s0", "s1"))
