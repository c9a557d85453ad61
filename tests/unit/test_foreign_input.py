"""Lines as other decoders read them: tags, references, annotations, masks, and what is no sentence."""

import math
from pathlib import Path

import pytest

from treeglot.foreign.input import ANNOTATED, input_line, unmasked

LOG10_E = 1 / math.log(10)


@pytest.mark.parametrize("decoder", ["cdec", "joshua", "moses"])
def test_what_is_no_sentence_is_refused_by_name(decoder):
    def problem(line):
        found = input_line(line, decoder)
        assert found.source == ""
        return found.problem

    assert problem("((('ein',-0.2,1),('der',-0.3,1),),)") == (
        "\"((('ein',-0.2,1),('der',-0.3,1\" begins a lattice; expected a sentence"
    )
    assert problem('{"rules":[1,"[X] ||| a ||| b"]}').endswith("begins a forest; expected a sentence")
    assert problem('<tree label="NP"> a </tree>').endswith("begins a source tree; expected a sentence")
    for words in ("(((", "(((ein Haus", "{ Haus }", "der <tree"):  # sentences all the same
        assert not input_line(words, decoder).problem


@pytest.mark.parametrize(
    "line",
    [
        "<seg>das Haus</seg>",
        "<seg id=1>das Haus</seg>",
        '<seg id = "1" >das Haus</seg>',
        '<seg id="1"> das Haus',
        '<seg id="1"> das Haus ||| the house </seg>',
        '<seg id="1"> das Haus </seg> ||| the house',
    ],
)
def test_segments_of_cdec(line):
    assert input_line(line, "cdec").source == "das Haus"
    assert input_line(line, "cdec").notes == (("the reference after ||| is not used",) if "|||" in line else ())


def test_grammars_of_segments_with_and_without_quotes():
    found = input_line('<seg id=0 grammar=a.gz grammar1 = "b c" other="grammar=d">das</seg>', "cdec")
    assert (found.source, found.grammars) == ("das", ("a.gz", "b c"))
    assert input_line("<segment>das", "cdec").source == "<segment>das"


def test_a_lattice_in_a_segment():
    assert "lattice" in input_line("<seg id=\"0\">((('a',1,1),),)</seg>", "cdec").problem


def test_joshuas_separators_tags_and_annotations():
    assert input_line("das Haus ||| the house ||| a house", "joshua").source == "das Haus"
    assert input_line("das|||Haus", "joshua", known=["das|||Haus"]).source == "das|||Haus"
    assert input_line("|||", "joshua").source == "-pipe--pipe--pipe-"
    assert input_line('<seg id="3">das Haus</seg>', "joshua").source == "das Haus"
    assert input_line("<seg id=3 x> das Haus", "joshua").source == "das Haus"
    found = input_line("alte[tag=ADJ;num=PL] Häuser", "joshua")
    assert (found.source, found.notes) == ("alte Häuser", (ANNOTATED,))
    assert input_line("[X] [ a]", "joshua").source == "-lsb-X-rsb- -lsb- a-rsb-"
    assert input_line("[X] [ a]", "joshua", known=["[X]", "["]).source == "[X] [ a-rsb-"
    assert input_line('<x translation="[b]">a</x>', "joshua", markup=True).source == '<x translation="[b]">a</x>'
    assert input_line("[X]", "cdec").source == "[X]"
    assert unmasked("-lsb-X-rsb- -pipe-") == "[X] |"


def test_masked_words_come_out_as_they_went_in(decode_lines):
    Path("rules").write_text("[X] ||| -lsb- das -rsb- ||| -lsb- this -rsb- ||| 0\n")
    Path("weights").write_text("OOVPenalty 1\n")
    _, rows, err = decode_lines("[ das ] | ||| x\n[X]\n", "--grammar", "rules", "--format", "joshua")
    assert [(n, text) for n, text, *_ in rows if n == "1" or text.startswith("[ this")] == [
        ("0", "[ this ] |"),
        ("1", "[X]"),
    ]
    assert err == ""


def test_marks_at_the_beginning_of_a_file(decode_lines):
    Path("rules").write_text("[X] ||| a ||| A ||| F=1\n")
    Path("weights").write_text("F 1\n")
    code, rows, err = decode_lines("\ufeffa\na\r\na\n", "--grammar", "rules", "--pass-through", "none")
    assert (code, [row[:2] for row in rows]) == (0, [["1", "A"], ["2", "A"]])
    assert err.splitlines() == ["warning: input:1: begins with a byte order mark; its output is empty"]


def test_words_of_the_source_are_counted(decode_lines):
    Path("rules").write_text("[X] ||| a b ||| A ||| F=1\n[X] ||| c ||| C ||| F=2\n")
    Path("weights").write_text("F 1\nSourceWordPenalty 0.5\nWordPenalty -1\n")
    code, rows, err = decode_lines("a b c\n", "--grammar", "rules", "--pass-through", "none", "--forest", "forest")
    assert (code, err) == (0, "")
    assert rows == [
        [
            "0",
            "A C",
            f"F=3 WordPenalty={-2 * LOG10_E:.6g} SourceWordPenalty={-3 * LOG10_E:.6g} Glue=1",
            f"{3 + (2 - 1.5) * LOG10_E:.6f}",
        ]
    ]
    from graph_json import from_json

    found = from_json(Path("forest").read_text())
    assert found.scores.sum() == pytest.approx(3 + 0.5 * LOG10_E, abs=1e-5)
    assert sum(f.get("SourceWordPenalty", 0.0) for f in found.edge_features) == pytest.approx(-3 * LOG10_E)


@pytest.mark.parametrize(
    "line", ["<seg " + "a" * 400_000 + ">", "[" * 400_000 + "]", "<seg " + "a=b " * 100_000 + ">x", "|||a" * 100_000]
)
@pytest.mark.parametrize("decoder", ["cdec", "joshua"])
def test_long_lines_are_read_in_one_look(line, decoder):
    assert input_line(line, decoder).problem == ""
