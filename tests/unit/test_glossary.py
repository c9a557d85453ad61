"""Glossaries: their files, what they find in sentences, and what translations make of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_table import table

from treeglot import FormatError, UsageError
from treeglot._core import Mark, Terms
from treeglot.decode import SearchOptions, Translator
from treeglot.decode.glossary import Entry, Glossary

WEIGHTS = {"p": 1.0, "glue": -0.1, "unknown": -10.0, "word_penalty": 0.1}

TBX = """<?xml version="1.0"?>
<tbx xmlns="urn:iso:std:iso:30042:ed-2" style="dca" type="TBX-Basic"><text><body>
<conceptEntry id="1">
<langSec xml:lang="de"><termSec><term>Haus</term></termSec><termSec><term>Hauses</term></termSec></langSec>
<langSec xml:lang="en"><termSec><term>building</term></termSec>
<termSec><term>house</term><termNote type="administrativeStatus">deprecatedTerm-admn-sts</termNote></termSec></langSec>
</conceptEntry></body></text></tbx>
"""


def write(folder: Path, text: str, name: str = "terms.tsv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_table(tmp_path: Path) -> None:
    rows = "# ours\nHaus\thouse\n\nGut\tgood\tprefer\texact\tguter|gutes=well\tADJ\n\tcheap\tforbid\n"
    entries = Glossary.read(write(tmp_path, rows)).entries
    assert entries[0] == Entry("Haus", "house", "force", "any")
    assert entries[1] == Entry("Gut", "good", "prefer", "exact", ("guter", "gutes=well"), "ADJ")
    assert entries[2] == Entry("", "cheap", "forbid")
    named = write(tmp_path, "source\tmode\ttarget\nHaus\tforbid\thouse\n")
    assert Glossary.read(named).entries == (Entry("Haus", "house", "forbid"),)


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ("Haus\n", ":1: 1 columns; expected source, target and at most mode, case, forms, pos"),
        ("a\tb\nHaus\thouse\talways\n", ":2: unknown mode 'always'; known: "),
        ("\thouse\n", ":1: there is no source for 'house'; only forbidden terms may lack one"),
        ("Haus\t\tforbid\n", ":1: there is no target for 'Haus'; expected the phrase to forbid"),
        ("source\ttarget\tcolour\n", ":1: unknown column 'colour'; known: "),
    ],
)
def test_bad_tables(tmp_path: Path, rows: str, problem: str) -> None:
    with pytest.raises(FormatError) as caught:
        Glossary.read(write(tmp_path, rows))
    assert problem in str(caught.value)


def test_what_is_forced_must_not_be_forbidden() -> None:
    with pytest.raises(UsageError, match="'a house' is forced for 'Haus', and 'house' is always forbidden"):
        Glossary((Entry("Haus", "a house"), Entry("", "house", "forbid")))


def test_tbx(tmp_path: Path) -> None:
    entries = Glossary.read(write(tmp_path, TBX, "terms.tbx")).entries
    assert entries == (
        Entry("Haus", "building", forms=("Hauses",)),
        Entry("Haus", "house", "forbid", "any", ("Hauses",)),
    )
    with pytest.raises(FormatError, match="is no XML"):
        Glossary.read(write(tmp_path, "Haus\thouse\n", "bad.tbx"))
    with pytest.raises(FormatError, match="has no terms; expected TBX"):
        Glossary.read(write(tmp_path, "<a/>", "bad.tbx"))


def test_what_is_found() -> None:
    entries = (
        Entry("New York", "NY"),
        Entry("york", "yorkshire"),
        Entry("Gut", "good", case="exact"),
        Entry("gehen", "go", "prefer", forms=("ging=went",), pos="V"),
        Entry("bank", "bench", "forbid"),
        Entry("", "cheap", "forbid"),
    )
    bound = Glossary(entries, bonus=2.0).bind()

    def find(line: str, tags: str = "") -> list[tuple[tuple[int, int], tuple[str, ...], bool, int]]:
        [terms] = bound.find([line.split()], lambda _: tags.split())
        return [(mark.span, mark.translations, mark.required, mark.entry) for mark in terms.marks]

    assert find("in new York und York") == [((1, 3), ("NY",), True, 0), ((4, 5), ("yorkshire",), True, 1)]
    assert find("gut") == [] and find("Gut") == [((0, 1), ("good",), True, 2)]
    assert find("er ging", "P V") == [((1, 2), ("went",), False, 3)]
    assert find("er ging", "P N") == [] and len(find("er ging")) == 1
    assert bound.find([["die", "Bank"]])[0].forbidden == ("cheap", "bench")
    assert bound.find([["das"]])[0].forbidden == ("cheap",)
    assert bound.find([["ging"]])[0].marks[0].bonus == 2.0


def test_terms_are_found_by_their_characters_where_blanks_part_no_words() -> None:
    bound = Glossary.of({"机器翻译": "MT"}).bind(joined=True)
    for words, span in ((["机器", "翻译"], (0, 2)), (["用", "机器翻译", "吧"], (1, 2)), (["机", "器翻译"], (0, 2))):
        assert [mark.span for mark in bound.find([words])[0].marks] == [span]
    assert not bound.find([["大机器", "翻译"]])[0].marks


def test_a_translator_obeys_terms_and_reports_them() -> None:
    one = Translator(table(), WEIGHTS)
    plain = one.translate("das haus ist das")
    terms = Glossary.of({"haus": "big hut"}).bind().find([["das", "haus", "ist", "das"]])[0]
    found = one.translate("das haus ist das", terms=terms)
    assert found.text == plain.text.replace("house", "big hut") and plain.terms == ()
    assert found.terms == (((1, 2), "haus", "big hut", 0),)
    assert found.kbest(2)[0].text == found.text  # searched again, with the same terms
    one.translate("haus")
    assert all("big hut" in hypothesis.text for hypothesis in found.kbest(5))
    free = one.translate("das haus", terms=Terms(forbidden=["the", "house"]))
    assert free.text == "that haus"
    assert free.notes == ("every translation has a forbidden phrase; source words pass through",)
    assert one.translate("haus", terms=Terms([Mark((0, 1), ["a b"])], ["b"])).problem


def test_words_pass_through_within_limits() -> None:
    limits = SearchOptions(label_limit=1, match_limit=1)
    one = Translator(table(), WEIGHTS, options=limits)
    assert one.translate("haus").text == "house"
    found = one.translate("haus", terms=Terms(forbidden=["house"]))
    assert (found.text, found.problem) == ("haus", "")


def test_marks_that_make_no_sense_are_refused() -> None:
    one = Translator(table(), WEIGHTS, options=SearchOptions(markup=True))
    assert one.translate("das haus", terms=Terms([Mark((1, 3), ["a"])])).problem == "a mark over [1,3) of 2 words"
    assert one.translate("das haus", terms=Terms([Mark((7, 1), ["a"])])).problem == "a mark over [7,1) of 2 words"
    twice = Terms([Mark((0, 2), ["a"]), Mark((1, 2), ["b"])])
    assert one.translate("das haus", terms=twice).problem == "two marks cover word 1; expected one"
    own = one.translate('<x translation="hut">das haus</x>', terms=twice)  # markup comes first
    assert own.text == "hut" and own.terms[0].entry == -1
    assert one.translate('das <x translate="no">das haus</x>').text == "the das haus"
