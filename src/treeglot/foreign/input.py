"""Lines as other decoders read them: tags, references, annotations, and what is no sentence."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from treeglot.corpus import as_forest
from treeglot.decode.translator import Source
from treeglot.foreign.weights import Decoder
from treeglot.syntax import Tree

REFERENCE = "the reference after ||| is not used"
ANNOTATED = "annotations of words in brackets are not used"

_SEGMENT = {
    "cdec": re.compile(r"\s*<seg((?:\s[^>]*)?)>(.*?)(?:</seg>.*)?"),  # it ends with the line, too
    "joshua": re.compile(r'\s*<seg(\s+id="?\d+"?[^>]*)>(.*?)(?:</seg\s*>\s*)?'),
}
_BARS = {"cdec": re.compile(r"\|\|\|"), "joshua": re.compile(r"\s\|\|\|(?:\s|$)")}
_ATTRIBUTE = re.compile(r'([\w-]+)\s*=\s*(?:"([^"]*)"|([^"\s]\S*))')
_NO_SENTENCE = {
    "a lattice": re.compile(r"\(\(\('"),  # cdec's own test for it
    "a forest": re.compile(r'\{"rules":'),
    "a source tree": re.compile(r"<tree\s+label="),
}
_ANNOTATION = re.compile(r"(\S+)\[(\S+)\]")
# What Joshua makes of characters that mean something in its rules, in the input; its output has them back.
_MASKS = {"[": "-lsb-", "]": "-rsb-", "|": "-pipe-"}


@dataclass(frozen=True)
class Line:
    """What of a line is to be translated, why it is not, what is to be counted, and the grammars of its own."""

    source: Source
    problem: str = ""
    notes: tuple[str, ...] = ()
    grammars: tuple[str, ...] = ()


def input_line(line: str, decoder: Decoder, known: Collection[str] = (), markup: bool = False) -> Line:
    """A line as another decoder reads it: with a reference, in a tag, its words annotated or masked.

    Lattices, forests and trees are not read. Joshua's masks leave words of the grammar (`known`), and lines that may
    have `markup`, as they are.

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
    if decoder in _BARS:
        before, *reference = _BARS[decoder].split(line, 1)
        segment = _SEGMENT[decoder].fullmatch(line if decoder == "cdec" else before)
        if segment and decoder == "cdec":
            before = _BARS[decoder].split(segment[2], 1)[0]
            grammars = _grammars(segment[1])
        elif segment:
            before = segment[2]
        if reference or segment:
            text = before.strip()
        if reference:
            notes.append(REFERENCE)
    for kind, begins in _NO_SENTENCE.items():
        if begins.match(text.lstrip()):
            return Line("", f"{text.strip()[:30]!r} begins {kind}; expected a sentence")
    if decoder == "joshua" and not markup and any(character in text for character in _MASKS):
        masked = [_masked(word, known) for word in text.split(" ")]
        if any(annotated for _, annotated in masked):
            notes.append(ANNOTATED)
        text = " ".join(word for word, _ in masked)
    return Line(text, "", tuple(notes), grammars)


def input_tree(line: str, decoder: Decoder) -> Line:
    """A line that holds a tree in brackets, in a tag or with a reference as others.

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


def _grammars(attributes: str) -> tuple[str, ...]:
    """The files that a segment names, grammar="a" grammar1=b."""
    found = (match.groups("") for match in _ATTRIBUTE.finditer(attributes))
    return tuple(quoted or bare for name, quoted, bare in found if re.fullmatch(r"grammar\d*", name))


def unmasked(text: str) -> str:
    """A translation of Joshua's without masks.

    >>> unmasked("a -lsb- b -rsb-")
    'a [ b ]'
    """
    for character, mask in _MASKS.items():
        text = text.replace(mask, character)
    return text


def _masked(word: str, known: Collection[str]) -> tuple[str, bool]:
    """The word without annotations and with masks, and whether it had annotations."""
    if word in known:
        return word, False
    annotated = _ANNOTATION.fullmatch(word)
    word = annotated[1] if annotated else word
    for character, mask in _MASKS.items():
        word = word.replace(character, mask)
    return word, annotated is not None
