"""Reads input lines as other decoders do: tags, references, annotations, and input that is not a sentence."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from treeglot.corpus.parses import as_forest
from treeglot.decode.translator import Source
from treeglot.foreign.weights import Decoder
from treeglot.syntax import Tree

REFERENCE = "the reference after ||| is not used"
ANNOTATED = "annotations of words in brackets are not used"

# NAME=VALUE, in quotes or not. Nothing that follows a part can be in it: no attribute takes more than two looks.
_ATTRIBUTE = re.compile(r'(?<![\w-])([\w-]+)\s*=\s*(?:"([^"]*)"|([^"\s]\S*))')
_NO_SENTENCE = {"((('": "a lattice", '{"rules":': "a forest"}  # what a line begins with; the first is cdec's own test
# Joshua masks these characters in the input, because its rules use them. Its output has the characters again.
_MASKS = {"[": "-lsb-", "]": "-rsb-", "|": "-pipe-"}


@dataclass(frozen=True)
class Line:
    """A line of input: its text or the reason to refuse it, counts for the report, and the grammars that it names."""

    source: Source
    problem: str = ""
    notes: tuple[str, ...] = ()
    grammars: tuple[str, ...] = ()


def input_line(line: str, decoder: Decoder, known: Collection[str] = (), markup: bool = False) -> Line:
    """Read a line as another decoder does: with a reference, in a tag, or with annotated or masked words.

    Lattices, forests and trees are refused. Joshua's masks do not change words of the grammar (`known`), or lines that
    can have `markup`.

    >>> input_line('<seg id="0">das Haus</seg> ||| the house', "cdec").source
    'das Haus'
    >>> print(input_line("((('das',0.5,1),),)", "cdec").problem)
    "((('das',0.5,1),),)" begins a lattice; expected a sentence
    >>> input_line("ein[tag=DET] [ Haus", "joshua").source
    'ein -lsb- Haus'
    """
    text = line
    notes: list[str] = []
    grammars: tuple[str, ...] = ()
    if decoder in ("cdec", "joshua"):
        before, reference = _at_bars(line, decoder)
        segment = _segment(line if decoder == "cdec" else before, decoder)
        if segment is not None and decoder == "cdec":
            before = _at_bars(segment[1], decoder)[0]
            grammars = _grammars(segment[0])
        elif segment is not None:
            before = segment[1]
        if reference or segment is not None:
            text = before.strip()
        if reference:
            notes.append(REFERENCE)
    begin = text.lstrip()
    kind = next((kind for begins, kind in _NO_SENTENCE.items() if begin.startswith(begins)), "")
    if begin.startswith("<tree") and begin[5:6].isspace() and begin[5:].lstrip().startswith("label="):
        kind = "a source tree"
    if kind:
        return Line("", f"{text.strip()[:30]!r} begins {kind}; expected a sentence")
    if decoder == "joshua" and not markup and any(character in text for character in _MASKS):
        masked = [_masked(word, known) for word in text.split(" ")]
        if any(annotated for _, annotated in masked):
            notes.append(ANNOTATED)
        text = " ".join(word for word, _ in masked)
    return Line(text, "", tuple(notes), grammars)


def input_tree(line: str, decoder: Decoder) -> Line:
    """Read a line with a tree in brackets. It can have a tag or a reference, like other lines.

    >>> input_tree("(NP (DT das) (NN Haus)) ||| the house", "cdec").source.words
    ['das', 'Haus']
    >>> print(input_tree("das Haus", "cdec").problem)
    'das Haus' is not a tree: 'das' outside a tree; expected a bracket
    """
    found = input_line(line, decoder)
    if found.problem or not isinstance(found.source, str) or not found.source.strip():
        return found
    try:
        return replace(found, source=as_forest(Tree.parse(found.source)) or "")
    except ValueError as error:
        return replace(found, source="", problem=f"{found.source[:30]!r} is not a tree: {error}")


def _at_bars(line: str, decoder: Decoder) -> tuple[str, bool]:
    """Cut a line at ||| (between blanks for Joshua). Return the text before it, and whether there was one."""
    at = line.find("|||")
    while decoder == "joshua" and at >= 0:
        if at > 0 and line[at - 1].isspace() and (line[at + 3 : at + 4].isspace() or at + 3 == len(line)):
            return line[: at - 1], True
        at = line.find("|||", at + 1)
    return (line, False) if at < 0 else (line[:at], True)


def _segment(line: str, decoder: Decoder) -> tuple[str, str] | None:
    """Return the attributes and the content of <seg …>…</seg>.

    The closing tag may be missing at the end of the line.
    """
    text = line.lstrip()
    opened, closed, rest = text.partition(">")
    attributes = opened.removeprefix("<seg")
    if not opened.startswith("<seg") or not closed or (attributes and not attributes[0].isspace()):
        return None
    if decoder == "joshua":
        name, equals, value = attributes.strip().partition("=")
        if name != "id" or not equals or not value.removeprefix('"')[:1].isdigit():
            return None
        content, end, after = rest.rpartition("</seg")
        return attributes, content if end and after.strip() == ">" else rest
    return attributes, rest.partition("</seg>")[0]


def _grammars(attributes: str) -> tuple[str, ...]:
    """Return the grammars that a segment names, as in grammar="a" grammar1=b."""
    found = (match.groups("") for match in _ATTRIBUTE.finditer(attributes))
    return tuple(quoted or bare for name, quoted, bare in found if name.rstrip("0123456789") == "grammar")


def unmasked(text: str) -> str:
    """Replace Joshua's masks in a translation by the original characters.

    >>> unmasked("a -lsb- b -rsb-")
    'a [ b ]'
    """
    return _replaced(text, {masked: character for character, masked in _MASKS.items()})


def mask(text: str) -> str:
    """Mask the special characters of a text, as in rules of Joshua.

    >>> mask("a [ b ]")
    'a -lsb- b -rsb-'
    """
    return _replaced(text, _MASKS)


def _replaced(text: str, by: Mapping[str, str]) -> str:
    for old, new in by.items():
        text = text.replace(old, new)
    return text


def _masked(word: str, known: Collection[str]) -> tuple[str, bool]:
    """Mask a word and drop its annotations. Return the word, and whether it had annotations."""
    if word in known:
        return word, False
    at = word.rfind("[", 1, len(word) - 2) if word.endswith("]") else -1
    return mask(word[:at] if at > 0 else word), at > 0
