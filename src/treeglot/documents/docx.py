"""Word documents (Office Open XML): translates paragraphs, and keeps the format of runs with their words."""

from __future__ import annotations

import copy
import io
import re
import zipfile
import zlib
from dataclasses import dataclass
from typing import Any

from treeglot.documents.files import UnreadableError, require
from treeglot.documents.inline import Begin, End, Item, Object, Translates, translate_segments
from treeglot.documents.xml import local_name, parse_xml, write_xml

LARGEST = 1 << 29  # bytes of all parts of a file, unpacked
WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
PARTS = re.compile(r"word/(document|header\d*|footer\d*|footnotes|endnotes)\.xml")
# Elements around runs.
AROUND = ("hyperlink", "ins", "moveTo", "smartTag", "customXml", "dir", "bdo", "sdt", "sdtContent", "fldSimple")
PROPERTIES = ("pPr", "sdtPr", "sdtEndPr", "smartTagPr", "customXmlPr")
DROPPED = ("proofErr", "lastRenderedPageBreak", "softHyphen")  # marks of what the old words were like
BREAKS = ("tab", "br", "cr", "ptab")  # they part a paragraph
FIELDS = ("fldChar", "instrText", "delInstrText")  # of a field that began in a paragraph before: they part this one


def translate_docx(model: Translates, data: bytes, threads: int = 1) -> bytes:
    """Return the file with the text of its body, headers, footers and notes translated."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        entries = archive.infolist()
        if sum(entry.file_size for entry in entries) > LARGEST:
            raise UnreadableError(f"unpacks to more than {LARGEST} bytes")
        parts = {entry.filename: archive.read(entry) for entry in entries}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise UnreadableError(f"is not a file of Word: {error}") from error
    if "word/document.xml" not in parts:
        raise UnreadableError("is not a file of Word: it has no word/document.xml")
    trees = {name: parse_xml(content, name) for name, content in parts.items() if PARTS.fullmatch(name)}
    for name, tree in trees.items():
        if not tree.getroot().tag.startswith(WORD):
            raise UnreadableError(f"has the root {tree.getroot().tag} in {name}; expected one of {WORD}")
    paragraphs = [_Paragraph(node) for tree in trees.values() for node in tree.getroot().iter(f"{WORD}p")]
    segments = [segment for paragraph in paragraphs for segment in paragraph.segments]
    made = dict(zip(map(id, segments), translate_segments(model, segments, threads), strict=True))
    for paragraph in paragraphs:
        paragraph.write([made[id(segment)] for segment in paragraph.segments])
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as new:
        for entry in entries:
            name = entry.filename
            new.writestr(entry, write_xml(trees[name]) if name in trees else parts[name], entry.compress_type)
    return out.getvalue()


@dataclass(eq=False)
class _Format:
    """The format of a run, as the XML of its properties. Two formats are equal if their XML is equal."""

    properties: Any  # an element, or None
    key: bytes


class _Paragraph:
    """The segments of a paragraph, and the other items between them."""

    def __init__(self, node: Any) -> None:
        self.node = node
        self.parts: list[list[Item] | _Thing] = [[]]  # things part the text
        self.around: list[Begin] = []  # elements that are open
        self.field: list[Any] = []  # the runs of a field that has begun
        self.depth = 0  # of fields
        self._read(node)
        self._end_field()
        self.segments = [part for part in self.parts if isinstance(part, list)]

    def _add(self, *items: Item) -> None:
        part = self.parts[-1]
        assert isinstance(part, list)
        part.extend(items)

    def _read(self, node: Any) -> None:
        for child in node:
            name = local_name(child)
            if name in PROPERTIES or name in DROPPED:
                continue
            marks = [mark.get(f"{WORD}fldCharType") for mark in child.iter(f"{WORD}fldChar")]
            if self.depth or "begin" in marks:
                self.field.append(child)
                self.depth += marks.count("begin") - marks.count("end")
                if self.depth <= 0:
                    self._end_field()
            elif name in AROUND:
                begin = Begin(child, whole=True)
                self.around.append(begin)
                self._add(begin)
                self._read(child)
                self._add(End(child))
                self.around.pop()
            elif name == "r":
                self._run(child)
            else:
                self._add(Object(child))

    def _end_field(self) -> None:
        """End a field. A field is one object, and its visible result is its text."""
        if self.field:
            shown = "".join(t.text or "" for run in self.field for t in run.iter(f"{WORD}t"))
            self._add(Object(self.field, " ".join(shown.split())))
            self.field, self.depth = [], 0

    def _run(self, run: Any) -> None:
        etree = require("lxml.etree")
        properties = run.find(f"{WORD}rPr")
        form = _Format(properties, b"" if properties is None else etree.tostring(properties, with_tail=False))
        for child in run:
            name = local_name(child)
            if name == "t":
                self._text(child.xpath("string()"), form)  # without comments
            elif name == "noBreakHyphen":
                self._text("\u2011", form)
            elif name in (*BREAKS, *FIELDS) and not self.around:
                self.parts += [_Thing(run, child), []]
            elif name != "rPr" and name not in DROPPED:
                # A break is a word, so that those beside it do not become one.
                self._add(Object(_Thing(run, child), "\t" if name in BREAKS else ""))

    def _text(self, text: str, form: _Format) -> None:
        """Join text with the previous run if both have the same format."""
        part = self.parts[-1]
        assert isinstance(part, list)
        last = part[-1] if part else None
        if isinstance(last, End) and isinstance(last.tag, _Format) and last.tag.key == form.key:
            part[-1:] = [text, last]
        else:
            part += [Begin(form), text, End(form)]

    def write(self, segments: list[list[Item]]) -> None:
        """Replace the text by the translated segments."""
        if not any(any(isinstance(item, str) for item in segment) for segment in self.segments):
            return
        for child in [child for child in self.node if local_name(child) != "pPr"]:
            self.node.remove(child)
        rest = iter(segments)
        for part in self.parts:
            if isinstance(part, _Thing):
                self.node.append(part.take())
            else:
                _write_items(self.node, next(rest))


@dataclass(eq=False)
class _Thing:
    """A part of a run that is not text, such as a picture."""

    run: Any
    child: Any

    def take(self) -> Any:
        """Return a run with the same format that contains only this element."""
        made = self.run.makeelement(self.run.tag, nsmap=self.run.nsmap)
        properties = self.run.find(f"{WORD}rPr")
        if properties is not None:
            made.append(copy.deepcopy(properties))
        made.append(self.child)
        return made


def _write_items(paragraph: Any, items: list[Item]) -> None:
    """Append items to a paragraph. An item between two runs takes the format of the plainer one."""
    plain = _Format(None, b"")
    forms = [item.tag for item in items if isinstance(item, Begin) and isinstance(item.tag, _Format)]
    coming = iter(forms[1:])
    before = after = forms[0] if forms else plain
    inside: _Format | None = None
    opened = [paragraph]
    text: Any = None  # of the run that is being written
    written = plain
    for item in items:
        if isinstance(item, str):
            form = inside if inside is not None else min(before, after, key=lambda each: len(each.key))
            if item and (text is None or written.key != form.key):
                text, written = _new_text(opened[-1], form), form
            if item:
                text.text = (text.text or "") + item
        elif isinstance(item, Begin) and isinstance(item.tag, _Format):
            inside = before = item.tag
            after = next(coming, before)
        elif isinstance(item, End) and isinstance(item.tag, _Format):
            inside = None
        else:
            text = None
            _write_element(opened, item)


def _write_element(opened: list[Any], item: Item) -> None:
    """Open, close or append an item of a paragraph that is not text."""
    if isinstance(item, Begin):
        opened.append(_opened(opened[-1], item.tag))
    elif isinstance(item, End):
        opened.pop()
    elif isinstance(item, Object):
        nodes = item.tag if isinstance(item.tag, list) else [item.tag]
        opened[-1].extend([node.take() if isinstance(node, _Thing) else node for node in nodes])


def _opened(parent: Any, tag: Any) -> Any:
    """Return a new element like another one, with its properties (`sdt`)."""
    made = parent.makeelement(tag.tag, tag.attrib, nsmap=tag.nsmap)
    for child in tag:
        if local_name(child) in PROPERTIES:
            made.append(copy.deepcopy(child))
    parent.append(made)
    return made


def _new_text(parent: Any, form: _Format) -> Any:
    """Add a run to `parent`, and return its text element."""
    run = parent.makeelement(f"{WORD}r")
    parent.append(run)
    if form.properties is not None:
        run.append(copy.deepcopy(form.properties))
    made = run.makeelement(f"{WORD}t")
    made.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
    run.append(made)
    return made
