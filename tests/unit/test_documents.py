"""Documents translated in place: what is text changes, what is not stays, and inline elements go with their words."""

from __future__ import annotations

import io
import re
import sys
import zipfile
from collections.abc import Sequence
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from treeglot import UsageError
from treeglot._core import Derivation, Hypothesis, Step, Tokens
from treeglot._core import Translation as Found
from treeglot.base.errors import FormatError
from treeglot.decode import Translation
from treeglot.decode.translation import Texts, join_translations
from treeglot.documents.files import translate_file
from treeglot.documents.html import translate_html
from treeglot.documents.inline import Begin, End, Object, translate_segments
from treeglot.text import TextPipeline, TextSettings, TextSide
from treeglot.text.protected import Protected, split_protected, stays, tokenise_protected

WORDS = {
    "rot": "red",
    "haus": "house",
    "der": "the",
    "ist": "is",
    "auf": "up",
    "steht": "stands",
    "und": "",
    "zu": "A B",
}


class Reversing:
    """A model whose translations are the words in the opposite order, but for the last; each links to its own."""

    def __init__(self) -> None:
        self.text = TextPipeline(TextSide(TextSettings("de")), TextSide(TextSettings("en")))

    def translate_batch(self, sources: Any, kbest: int = 1, distinct: bool = False, threads: int = 1) -> Any:
        return [self.translated(source) for source in sources]

    def translated(self, given: Protected) -> Translation:
        side = self.text.source
        places = split_protected(side, given)
        parts = []
        for place, tokens in zip(places, tokenise_protected(side, [(given, p) for p in places]), strict=True):
            kept = {word for word, (a, b) in enumerate(tokens.spans) if (place[0] + a, place[0] + b) in given.places}
            parts.append(self.sentence(tokens, kept))
        return join_translations(given.text, places, parts, True)

    def sentence(self, tokens: Tokens, kept: set[int]) -> Translation:
        order = [*range(len(tokens.words) - 2, -1, -1), len(tokens.words) - 1]
        words, steps, given_by = [], [], []
        for number, place in enumerate(order):
            word = tokens.words[place]
            made = [word] if place in kept else WORDS.get(word.lower(), word).split()
            steps.append(Step("X", word, " ".join(made), (place, place + 1), 0, False, links=[(place, 0)]))
            given_by += [number] * len(made)
            words += made
        best = Hypothesis(" ".join(words), 0.0, {}, Derivation(steps), given_by=given_by)
        found = Translation(Found(tokens.words, tokens.words, [best], "", (), None, 0.0))
        return found.with_texts(Texts(tokens, self.text.target.detokenise([words])[0]))


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("<p>Der Hund.</p>", "<p>Hund the.</p>"),
        # An element goes with its words, and in pieces where these part.
        ("a <b>b c</b> d.", "d <b>c b</b> a."),
        ("<b>a b</b> c.", "c <b>b a</b>."),
        ("<b>a</b> <i>b</i> <b>c d</b>", "<b>c</b> <i>b</i> <b>a</b> <b>d</b>"),
        ("<p><b>Der Hund.</b></p>", "<p><b>Hund the.</b></p>"),
        ("<b>a <i class=x>b</i></b> c.", "c <b><i class=x>b</i> a</b>."),
        # A word that gives two, of which the rule links one.
        ("a <b>zu</b> c.", "c <b>A</b> B a."),
        # What has words no more is not lost.
        ('a <a href="u">und</a> b.', '<a href="u"></a>b a.'),
        ("a <a name=x></a>b.", "<a name=x></a>b a."),
        # One with an id appears once: nothing is between its words, or what is there is another's.
        ('<b id="i">a</b> b <i>c</i> d.', 'd <i>c</i> b <b id="i">a</b>.'),
        ('<b id="i">a</b> c <i>e</i> <u>f</u>', '<i>e</i> c <b id="i">a</b> <u>f</u>'),
        # Empty elements stand beside their words.
        ("a <img src=x>b c.", "c <img src=x>b a."),
        ("a b<img src=x> c.", "c b<img src=x> a."),
        ("a b. <img src=x>", "b a. <img src=x>"),
        ("a <!-- c --> b c.", "c <!-- c --> b a."),
        # What stays: code, marked elements, addresses.
        ("a <code>der &lt; x</code> b.", "b <code>der &lt; x</code> a."),
        ('der <span translate="no">der <b>Hund</b></span>.', '<span translate="no">der <b>Hund</b></span> the.'),
        ('der <b class="x notranslate">der</b>.', '<b class="x notranslate">der</b> the.'),
        ("der https://der.de/der?a=1&amp;b rot.", "red https://der.de/der?a=1&amp;b the."),
        ("der {der} rot.", "red {der} the."),
        ("der {{ der }} rot `a b`.", "`a b` red {{ der }} the."),
        # Notes stay at their words, and formulas are words.
        ("rot haus<sup>1</sup> ist.", "is house<sup>1</sup> red."),
        ("rot haus<sup><a href='#n'>[1]</a></sup>.", "house<sup><a href='#n'>[1]</a></sup> red."),
        ("rot H<sub>2</sub>O haus.", "house H<sub>2</sub>O red."),
        ("rot H<sub>2</sub>SO<sub>4</sub> haus.", "house H<sub>2</sub>SO<sub>4</sub> red."),
        ("rot <sup>haus</sup> ist.", "is <sup>house</sup> red."),
        ("a <![CDATA[b c]]> d.", "a <![CDATA[b c]]> d."),
        ("<pre>a  b.\n  c d.</pre>", "<pre>b a.\n  d c.</pre>"),
        ("<script>if (a < b) der();</script>\n<style>der {}</style>", None),
        ("<!DOCTYPE html>\n<?php der ?><!-- der -->\n", None),
        ("<textarea>der Hund</textarea><svg><text>der</text></svg>", None),
        # Blocks part text, and spaces around them stay; in them a line's end is a blank.
        ("\n <ul>\n  <li>a\n  b.\n  <li>c d.\n </ul>\n", "\n <ul>\n  <li>b a.\n  <li>d c.\n </ul>\n"),
        ("a b.<br>c d.<hr/>", "b a.<br>d c.<hr/>"),
        ("Rot ist. Rot steht.", "is red. stands red."),
        # References to characters are characters.
        ("&lt;a&gt; &amp;&nbsp;b&#46;", "b &amp; &lt;a&gt;."),
        # Ends that are missing or too many part the text, and stay.
        ("<b>a b.<p>c d.</b>", "<b>b a.<p>d c.</b>"),
        ("<a href=x><div>a b.</div></a>", "<a href=x><div>b a.</div></a>"),
        ("a b.</i> c d.", "b a.</i> d c."),
        ("<b><i>a b.</b></i>", "<b><i>b a.</b></i>"),
        # Attributes that are text.
        ('<img alt="a b." src="a b.">', '<img alt="b a." src="a b.">'),
        ("<p title='a &quot;b.'>c</p>", '<p title="b &quot;a.">c</p>'),
        ("a < b &unknown; <", "; unknown &amp; b &lt; a &lt;"),
        ("", None),
        ("<", "&lt;"),
    ],
)
def test_html(given: str, wanted: str | None) -> None:
    assert translate_html(Reversing(), given) == (given if wanted is None else wanted)


def test_what_a_model_refuses_stays_as_it_is() -> None:
    class Refusing(Reversing):
        def sentence(self, tokens: Tokens, kept: set[int]) -> Translation:
            found = Translation(Found(tokens.words, [], [], "too long", (), None, 0.0))
            return found.with_texts(Texts(tokens, Tokens("", [], [])))

    with pytest.warns(UserWarning, match="'a b' stays as it is: too long"):
        assert translate_html(Refusing(), "<p>a <b>b</b></p>") == "<p>a <b>b</b></p>"


def test_a_model_of_words_has_no_documents() -> None:
    model = Reversing()
    model.text = None  # type: ignore[assignment]
    with pytest.raises(UsageError, match="the model takes words, which no document has"):
        translate_html(model, "a")


@pytest.mark.parametrize("size", [1, 4_000])
@pytest.mark.parametrize(
    "piece",
    [
        "<!--",
        "<a ",
        '<a b="',
        "<a b=",
        "<",
        "&",
        "</",
        "<b>",
        "<![CDATA[",
        "<script>",
        "<p translate=no>",
        "<b id=x>",
        "</b>",
    ],
)
def test_odd_markup_stays(piece: str, size: int) -> None:
    """However much of it there is: a page of many megabytes must not take hours."""
    made = translate_html(Reversing(), "rot <i>haus</i>.<p>" + piece * size)
    assert made.startswith("<i>house</i> red.<p>")
    assert unescape(made[len("<i>house</i> red.<p>") :]) == piece * size


def test_many_elements_within_each_other_and_beside_each_other() -> None:
    made = translate_html(Reversing(), "<b>" * 1000 + "rot haus" + "</b>" * 1000 + "<u id=x>a</u> " * 1000)
    assert made.count("<b>") == made.count("</b>") == 1000
    assert made.count("<u id=x>") == 1000


def in_file(tmp_path: Path, name: str, content: str | bytes) -> bytes:
    """The translation of a file."""
    data = content.encode() if isinstance(content, str) else content
    (tmp_path / name).write_bytes(data)
    translate_file(Reversing(), tmp_path / name, tmp_path / "out")
    return (tmp_path / "out").read_bytes()


def test_text_keeps_its_lines(tmp_path: Path) -> None:
    given = "\ufeffRot haus.\r\n\r\n  Rot ist.  Rot steht.\t\n---\n"
    wanted = "\ufeffhouse red.\r\n\r\n  is red.  stands red.\t\n---\n"
    assert in_file(tmp_path, "a.txt", given).decode() == wanted
    assert in_file(tmp_path, "a.txt", "  rot   haus ist  a").decode() == "  is   house red  a"
    assert in_file(tmp_path, "a.txt", "rot haus   ist der a").decode() == "the   is house red a"


def test_pages_keep_their_encoding(tmp_path: Path) -> None:
    page = '<meta charset="latin-1"><p>Häuser rot.</p>'
    assert in_file(tmp_path, "a.HTML", page.encode("latin-1")) == page.replace("Häuser rot", "red Häuser").encode(
        "latin-1"
    )
    assert in_file(tmp_path, "a.htm", "Häuser rot.") == "red Häuser.".encode()


@pytest.mark.parametrize(
    ("name", "given", "wanted"),
    [
        ("a.html", b"<meta charset=iso-8859-1>rot \x96 haus.", b"<meta charset=iso-8859-1>house \x96 red."),
        (
            "a.xhtml",
            b"<?xml version='1.0' encoding='iso-8859-1'?><p>H\xe4user rot.</p><p>&#160;</p>",
            b"<?xml version='1.0' encoding='iso-8859-1'?><p>red H\xe4user.</p><p>&#160;</p>",
        ),
        (
            "a.xhtml",
            b'<html xmlns="http://www.w3.org/1999/xhtml"><p>rot <![CDATA[a & <b>]]>.</p></html>',
            b'<html xmlns="http://www.w3.org/1999/xhtml"><p>&lt;b&gt; &amp; a red.</p></html>',
        ),
        ("a.html", b"\xef\xbb\xbfrot H\xc3\xa4user.", b"\xef\xbb\xbfH\xc3\xa4user red."),
        ("a.html", b"<!--><p>rot haus.<!--->", b"<!--><p>house red.<!--->"),
    ],
)
def test_pages_as_browsers_read_them(tmp_path: Path, name: str, given: bytes, wanted: bytes) -> None:
    """Latin-1 is Windows-1252, XML names its encoding, a mark of UTF-8 stays, and comments can be short."""
    assert in_file(tmp_path, name, given) == wanted


XLIFF = """<?xml version="1.0" encoding="UTF-8"?>
<xliff xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2"><file source-language="de"><body>
<trans-unit id="1"><source>rot <g id="1">haus</g><x id="2"/>.</source></trans-unit>
<trans-unit id="2"><source>rot haus.</source><target>done</target></trans-unit>
<trans-unit id="3" translate="no"><source>rot haus.</source></trans-unit>
<trans-unit id="4"><source>rot <mrk mtype="protected">der</mrk> a.</source>
<target state="new">old<x id="1"/></target></trans-unit>
<group translate="no"><trans-unit id="5"><source>rot haus.</source></trans-unit></group>
</body></file></xliff>
"""


def test_xliff(tmp_path: Path) -> None:
    made = in_file(tmp_path, "a.xliff", XLIFF).decode()
    state = 'state="needs-review-translation" state-qualifier="leveraged-mt"'
    first = f'.</source><target {state}><g id="1">house</g><x id="2"/> red.</target></trans-unit>'
    fourth = f'<target {state}>a <mrk mtype="protected">der</mrk> red.</target></trans-unit>'
    wanted = XLIFF.replace(".</source></trans-unit>", first, 1).replace("UTF-8", "UTF-8")
    wanted = wanted.replace('<target state="new">old<x id="1"/></target></trans-unit>', fourth)
    wanted = wanted.replace('<file source-language="de">', '<file source-language="de" target-language="en">')
    assert made.replace("'", '"').strip() == wanted.strip()


def test_segments_of_xliff_are_translated_apart(tmp_path: Path) -> None:
    head = '<xliff version="1.2"><file source-language="de"{}><body><trans-unit id="1">'
    source = "<source>rot haus. der a.</source><seg-source>{}</seg-source>"
    given = (
        '<mrk mtype="seg" mid="0">rot <g id="1">haus</g>.</mrk> <g id="2"><mrk mtype="seg" mid="1">der a.</mrk>!</g>'
    )
    wanted = (
        '<mrk mtype="seg" mid="0"><g id="1">house</g> red.</mrk> <g id="2"><mrk mtype="seg" mid="1">a the.</mrk>!</g>'
    )
    end = "</trans-unit></body></file></xliff>"
    made = in_file(tmp_path, "a.xliff", head.format("") + source.format(given) + end).decode().split("\n", 1)[1]
    target = f'<target state="needs-review-translation" state-qualifier="leveraged-mt">{wanted}</target>'
    assert made == head.format(' target-language="en"') + source.format(given) + target + end


def test_xliff_2(tmp_path: Path) -> None:
    head = '<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="de"'
    source = '<source>rot <pc id="1">haus</pc> <ph id="2"/>ist.</source>'
    units = '<file id="f"><unit id="1"><segment{}>{}</segment></unit></file></xliff>'
    target = '<target><ph id="2"/>is <pc id="1">house</pc> red.</target>'
    made = in_file(tmp_path, "a.xlf", f"{head}>{units.format('', source)}").decode().split("\n", 1)[1]
    wanted = units.format(' state="translated"', source + target)
    assert made == f'{head} trgLang="en">{wanted}'


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.xliff", "<xliff>", r"a\.xliff:1: is no XML: "),
        ("a.xliff", "<x/>", r"a\.xliff: has the root <x>; expected <xliff>"),
        ("a.xliff", '<!DOCTYPE x [<!ENTITY a "b">]><xliff>&a;</xliff>', "declares entities"),
        ("a.docx", "PK", "is not a file of Word: File is not a zip file"),
        ("a.po", 'msgid "a"b"\n', "is not a file of gettext"),
        (
            "a.po",
            f'msgid ""\nmsgstr "Plural-Forms: nplurals={"9" * 5000}\\n"\n',
            "has nplurals=999999999 .* expected 1 to 6",
        ),
        ("a.po", b'msgid "\xff"\n', r"a\.po:1: has bytes that are no UTF-8"),
        ("a.html", '<meta charset="klingon">', "names the encoding 'klingon', which nobody knows"),
        ("a.html", '<meta charset="undefined">', "names the encoding 'undefined', which nobody knows; expected"),
        ("a.html", '<meta charset="unicode-escape">', "names the encoding 'unicode-escape', which nobody knows"),
        ("a.html", '<meta charset="rot13">', "names the encoding 'rot13', which nobody knows"),
        ("a.txt", b"a\n\xff", r"a\.txt:2: has bytes that are no UTF-8"),
    ],
)
def test_files_that_are_not_what_they_are_called(tmp_path: Path, name: str, content: str | bytes, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        in_file(tmp_path, name, content)
    assert not (tmp_path / "out").exists()


def test_kinds_of_files_and_packages_that_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"unknown kind of document '\.odt'; .* known: \.docx"):
        in_file(tmp_path, "a.odt", "")
    monkeypatch.setitem(sys.modules, "polib", None)
    with pytest.raises(UsageError, match=r"^polib is not installed: pip install treeglot\[documents\]$"):
        in_file(tmp_path, "a.po", "")


PO = """# A comment.
msgid ""
msgstr ""
"Language: \\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=3; plural=0;\\n"

#: a.c:1
#, c-format
msgid "rot %s <b>haus</b>.\\n"
msgstr ""

msgid "rot"
msgstr "done"

msgid "{0} haus <b>rot."
msgid_plural "{0} rot und haus."
msgstr[0] ""
msgstr[1] ""
"""


def test_po(tmp_path: Path) -> None:
    made = in_file(tmp_path, "a.po", PO).decode()
    wanted = PO.replace('"Language: ', '"Language: en').replace("c-format", "c-format, fuzzy")
    wanted = wanted.replace('.\\n"\nmsgstr ""', '.\\n"\nmsgstr "<b>house</b> %s red.\\n"')
    wanted = wanted.replace('msgid "{0}', '#, fuzzy\nmsgid "{0}').replace(
        'msgstr[0] ""', 'msgstr[0] "<b>red house {0}."'
    )
    several = "".join(f'msgstr[{n}] "house red {{0}}."\n' for n in (1, 2))
    assert made == wanted.replace('msgstr[1] ""\n', several)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ('msgctxt "menu"\nmsgid ""\nmsgstr ""', 'msgctxt "menu"\nmsgid ""\nmsgstr ""'),
        (
            'msgid "ein haus"\nmsgid_plural "%d rot"\nmsgstr[0] ""',
            '#, fuzzy\nmsgid "ein haus"\nmsgid_plural "%d rot"\nmsgstr[0] "%d red"',
        ),
        (
            'msgid "rot {x:,.2f} {{y}}<br>haus."\nmsgstr ""',
            '#, fuzzy\nmsgid "rot {x:,.2f} {{y}}<br>haus."\nmsgstr "house <br> {{y}} {x:,.2f} red."',
        ),
    ],
)
def test_odd_messages(tmp_path: Path, given: str, wanted: str) -> None:
    """Contexts alone, languages with one form for all numbers, and what programs put in."""
    head = '#\nmsgid ""\nmsgstr "Plural-Forms: nplurals=1; plural=0;\\n"\n\n'
    assert in_file(tmp_path, "a.po", f"{head}{given}\n").decode() == f"{head}{wanted}\n"


def test_a_long_row_of_digits_takes_linear_time() -> None:
    """In quadratic time it would take hours."""
    assert stays("%" + "0" * 300_000) == stays("%(a)" + "0" * 300_000) == []


def docx(body: str, **more: str) -> bytes:
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    parts = {"word/document.xml": f"<w:document {space}><w:body>{body}</w:body></w:document>"}
    parts |= {f"word/{name}.xml": f"<w:hdr {space}>{content}</w:hdr>" for name, content in more.items()}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {"[Content_Types].xml": "<Types/>", **parts, "word/media/a.png": "\x00png"}.items():
            archive.writestr(name, content)
    return out.getvalue()


def run(text: str, properties: str = "", more: str = "") -> str:
    return f"<w:r>{properties and f'<w:rPr>{properties}</w:rPr>'}{more}<w:t>{text}</w:t></w:r>"


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        # Runs of one format are one.
        (run("rot ") + "<w:proofErr/>" + run("haus."), run("house red.")),
        (run("rot ") + run("haus", "<w:b/>") + run("."), run("house", "<w:b/>") + run(" red.")),
        # Links go with their words, and so do objects and notes.
        (
            run("rot ") + f'<w:hyperlink w:anchor="a">{run("haus", "<w:u/>")}</w:hyperlink>' + run(" ist."),
            run("is ") + f'<w:hyperlink w:anchor="a">{run("house", "<w:u/>")}</w:hyperlink>' + run(" red."),
        ),
        (
            run("rot haus") + "<w:r><w:drawing><w:p><w:r><w:t>der a b.</w:t></w:r></w:p></w:drawing></w:r>" + run("."),
            run("house") + "<w:r><w:drawing><w:p><w:r><w:t>b a the.</w:t></w:r></w:p></w:drawing></w:r>" + run(" red."),
        ),
        # A field is one word, which stays.
        (
            run("rot ")
            + '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PAGE</w:instrText></w:r>'
            + '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
            + run("der")
            + '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
            + run(" haus."),
            run("house ")
            + '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PAGE</w:instrText></w:r>'
            + '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
            + run("der")
            + '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
            + run(" red."),
        ),
        # One that goes on in other paragraphs stays, too, and so does its end there.
        (
            run("rot haus ")
            + '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>TOC der</w:instrText></w:r>'
            + '</w:p><w:p><w:r><w:instrText>der rot</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
            + run("rot haus."),
            run("red house ")
            + '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>TOC der</w:instrText></w:r>'
            + '</w:p><w:p><w:r><w:instrText>der rot</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
            + run("house red."),
        ),
        # Tabs and breaks part the text.
        (
            run("rot haus.") + run("rot ist.", "", "<w:tab/>"),
            run("house red.") + "<w:r><w:tab/></w:r>" + run("is red."),
        ),
        # Those in a link are words of it.
        (
            f'<w:hyperlink w:anchor="a">{run("rot")}<w:r><w:tab/></w:r>{run("haus")}</w:hyperlink>' + run(" ist."),
            f'{run("is ")}<w:hyperlink w:anchor="a">{run("house ")}<w:r><w:tab/></w:r>{run(" red")}</w:hyperlink>'
            + run("."),
        ),
        # Of text that was moved, the new place is translated.
        (
            f"<w:moveFrom>{run('haus')}</w:moveFrom>" + run("rot ") + f"<w:moveTo>{run('haus')}</w:moveTo>" + run("."),
            f"<w:moveTo>{run('house')}</w:moveTo>{run(' ')}<w:moveFrom>{run('haus')}</w:moveFrom>" + run("red."),
        ),
        (run("rot <!-- c -->haus."), run("house red.")),
        ("<w:r><w:drawing/></w:r>", "<w:r><w:drawing/></w:r>"),
        (
            f"<w:sdt><w:sdtPr/><w:sdtContent>{run('rot haus')}</w:sdtContent></w:sdt>" + run("."),
            f"<w:sdt><w:sdtPr/><w:sdtContent>{run('house red')}</w:sdtContent></w:sdt>" + run("."),
        ),
    ],
)
def test_docx(given: str, wanted: str, tmp_path: Path) -> None:
    properties = '<w:pPr><w:jc w:val="center"/></w:pPr>'
    made = in_file(tmp_path, "a.docx", docx(f"<w:p>{properties}{given}</w:p>", header1=f"<w:p>{run('rot a.')}</w:p>"))
    with zipfile.ZipFile(io.BytesIO(made)) as archive:
        assert archive.namelist() == [
            "[Content_Types].xml",
            "word/document.xml",
            "word/header1.xml",
            "word/media/a.png",
        ]
        assert archive.read("word/media/a.png") == b"\x00png"
        assert b">a red.</w:t>" in archive.read("word/header1.xml")
        body = archive.read("word/document.xml").decode().replace(' xml:space="preserve"', "")
    assert re.search("<w:body><w:p>(.*)</w:p></w:body>", body)[1] == properties + wanted  # type: ignore[index]


def test_damaged_and_other_files_of_word(tmp_path: Path) -> None:
    data = docx(f"<w:p>{run('rot haus.')}</w:p>")
    place = data.find(b"word/document.xml") + 30
    for damaged in (data[:place] + b"\xff" * 4 + data[place + 4 :], data[:place] + data[place + 20 :]):
        with pytest.raises(FormatError, match="is not a file of Word: "):
            in_file(tmp_path, "a.docx", damaged)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("word/document.xml", '<document xmlns="http://purl.oclc.org/ooxml/wordprocessingml/main"/>')
    with pytest.raises(
        FormatError, match=r"has the root \{http://purl.*\}document in word/document.xml; expected one of"
    ):
        in_file(tmp_path, "a.docx", out.getvalue())


def test_nothing_is_lost_or_doubled() -> None:
    """Random nestings of elements and objects: each object once, each element once at least, all well nested."""
    import random

    chance = random.Random(7)
    for _ in range(300):
        items: list[Any] = []
        opened = 0
        for number in range(chance.randrange(1, 14)):
            kind = chance.randrange(6)
            if kind == 0:
                items.append(Begin(f"b{number}", whole=chance.random() < 0.5))
                opened += 1
            elif kind == 1 and opened:
                items.append(End())
                opened -= 1
            elif kind == 2:
                items.append(Object(f"o{number}", chance.choice(["", "x y"])))
            else:
                items.append(chance.choice(["der ", "rot", " und ", " ", "zu.", " a b"]))
        items += [End()] * opened
        [found] = translate_segments(Reversing(), [items])
        _check(items, found)


def _check(items: Sequence[Any], found: Sequence[Any]) -> None:
    def tags(of: Sequence[Any], kind: type) -> list[str]:
        return sorted(item.tag for item in of if isinstance(item, kind))

    assert tags(found, Object) == tags(items, Object)
    assert set(tags(found, Begin)) == set(tags(items, Begin))
    whole = [item.tag for item in found if isinstance(item, Begin) and item.whole]
    assert len(whole) == len(set(whole))
    opened: list[str] = []
    for item in found:
        if isinstance(item, Begin):
            opened.append(item.tag)
        elif isinstance(item, End) and item.tag is not None:
            assert opened.pop() == item.tag
