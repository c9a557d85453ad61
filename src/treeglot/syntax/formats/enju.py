"""Reads Enju's predicate-argument structures, as XML or stand-off annotation, and converts them to dependencies."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from xml.parsers import expat

from treeglot._core import Dependency
from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import longest_line, read_chunks, too_long
from treeglot.syntax.formats.format import Format
from treeglot.syntax.formats.lines import BadRecordError, LineRecords
from treeglot.syntax.predicates import Phrase, PredicateSentence, Token

_ARGUMENT = re.compile(r"arg\d+|mod")
_ATTRIBUTE = re.compile(r'\s*([\w.:-]+)="([^"<]*)"')
# The ampersand is the last: one that was escaped begins no other.
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}
_OFFSET = re.compile(r"[0-9]{1,18}")
_NAME_ENDS = r"(?![\w.:-])"  # names of elements may have hyphens, as in <sentence-list>
_BEGIN = re.compile(rf"\s*<sentence{_NAME_ENDS}")
_END = re.compile(rf"</sentence\s*>|<sentence{_NAME_ENDS}[^<>]*/>")  # no stretch of a line is looked at twice
# Tags of elements around sentences: programs that run Enju add a root to get one document.
_AROUND = re.compile(rf"</?(?!(?:sentence|cons|tok){_NAME_ENDS})[A-Za-z_][\w.:-]*(?:\s[^<>]*)?/?>\s*")
# Blanks of text files. Other spaces, such as the one that breaks no line, are parts of words here and for Enju.
_BLANKS = " \t\r\n"
_BLANK = re.compile(f"[{_BLANKS}]+")


class UnknownPredicateWarning(UserWarning):
    """Warns of predicates whose types are missing from the table. Their arcs are skipped."""


class FurtherParsesWarning(UserWarning):
    """Sentences with several parses (`enju -N`). Only the first parse of each is used."""


class _Sentences(LineRecords[Dependency]):
    """Builds the dependencies of a sentence from its parts, for both notations, and counts unknown types."""

    def __init__(self, file: str, skip_bad: bool, heads: str) -> None:
        super().__init__(file, skip_bad)
        if heads not in ("syntactic", "semantic"):
            raise UsageError(f"heads is {heads!r}; expected syntactic or semantic")
        self.semantic = heads == "semantic"
        self.unknown: Counter[str] = Counter()
        self.further = 0  # parses of a sentence after its first

    def finished(self, sentence: PredicateSentence) -> Dependency:
        """Return the dependencies of a sentence. A sentence that could not be parsed has no words."""
        if not any(token.id for token in sentence.tokens):
            sentence.tokens.clear()  # the text of a failed parse, which Enju has not tokenised
        dependency, unknown = sentence.to_dependency(self.semantic)
        self.unknown.update(unknown)
        return dependency

    def report(self) -> None:
        """Report unknown predicates and parses that were left out."""
        if self.further:
            warnings.warn(
                f"{self.file}: {self.further} further parses of the same sentences are left out: the first one counts",
                FurtherParsesWarning,
                stacklevel=2,
            )
        if self.unknown:
            names = ", ".join(f"{name} ({count})" for name, count in sorted(self.unknown.items()))
            total = sum(self.unknown.values())
            warnings.warn(
                f"{self.file}: {total} predicates of unknown types, their arcs are skipped: {names}",
                UnknownPredicateWarning,
                stacklevel=2,
            )


class EnjuXml(_Sentences):
    """Reads sentences in Enju's XML, one after another."""

    def __init__(self, file: str, skip_bad: bool, heads: str = "syntactic") -> None:
        super().__init__(file, skip_bad, heads)
        self._begun = 0  # the line in which the sentence at hand begins
        self._text: list[str] = []  # its lines so far
        self._size = 0
        self._before: tuple[str, str | None, str] = "", None, ""  # the parse before: id, text unless bad, element

    def take(self, number: int, line: str) -> Iterator[Dependency | BadRecordError]:
        """Yield the sentences that end in this line."""
        for part in _parts(line):
            if self._text and _BEGIN.match(part):
                yield BadRecordError(self._begun, "the sentence that begins here has no </sentence>")
                self._text.clear()
            if not self._text:
                part = part.strip()
                if part.startswith("<?xml"):
                    part = part.partition("?>")[2].strip()
                part = _inside(part)
                if not part:
                    continue
                if part.startswith("<!"):
                    yield BadRecordError(number, f"{part[:9]!r}: declarations are refused, sentences need none")
                    continue
                if not _BEGIN.match(part):
                    problem = f"{part[:40]!r} is outside of sentences; expected <sentence …> as of enju -xml"
                    yield BadRecordError(number, problem)
                    continue
                self._begun, self._size = number, 0
            self._text.append(part + "\n")
            self._size += len(part)
            if self._size > longest_line():
                yield BadRecordError(self._begun, f"the sentence that begins here {too_long(longest_line())}")
                self._text.clear()
            elif _END.search(part):
                yield from self._sentence("".join(self._text))
                self._text.clear()

    def _sentence(self, element: str) -> Iterator[Dependency | BadRecordError]:
        """Yield a sentence, unless it is another parse of the sentence before it."""
        found, bad = _XmlSentence(self._begun), None
        try:
            found.parse(element)
        except BadRecordError as error:
            bad = error
        text = None if bad else "".join(found.text)
        id, known, other = self._before
        # Two runs of Enju give equal sentences the same id as well, but then the whole elements are equal.
        if id and found.id == id and element != other and (text == known or None in (text, known)):
            self.further += 1
            self._before = id, text if known is None else known, element
            return
        self._before = found.id, text, element
        yield bad or self.finished(found.sentence)

    def end(self, number: int) -> Iterator[Dependency | BadRecordError]:
        """Refuse a file that ends within a sentence."""
        if self._text:
            yield BadRecordError(self._begun, "the file ends inside the sentence that begins here")


def _inside(part: str) -> str:
    """Remove the tags of elements around sentences from the beginning."""
    at = 0
    while (around := _AROUND.match(part, at)) is not None:
        at = around.end()
    return part[at:]


def _parts(line: str) -> list[str]:
    """Split a line at the ends of sentences."""
    out, at = [], 0
    for match in _END.finditer(line):
        out.append(line[at : match.end()])
        at = match.end()
    if line[at:].strip() or not out:
        out.append(line[at:])
    return out


class _XmlSentence:
    """Collects the elements of one sentence, as expat finds them."""

    def __init__(self, first_line: int) -> None:
        self.sentence = PredicateSentence()
        self.id = ""
        self.text: list[str] = []  # without blanks
        self._first_line = first_line
        self._ids: set[str] = set()
        self._depth = 0  # of open constituents
        self._tops: list[tuple[int, str]] = []  # words and id of constituents that are in no other
        self._pending: list[tuple[dict[str, str], list[str]]] = []  # the token at hand
        self._parser = parser = expat.ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._stop
        parser.CharacterDataHandler = self._data
        parser.EntityDeclHandler = parser.StartDoctypeDeclHandler = parser.UnparsedEntityDeclHandler = self._refuse
        parser.buffer_text = True

    def parse(self, text: str) -> None:
        """Fill the sentence."""
        try:
            self._parser.Parse(text, True)
        except expat.ExpatError as error:
            problem = expat.errors.messages[error.code]
            raise BadRecordError(self._first_line + error.lineno - 1, f"not well-formed XML: {problem}") from error
        self.sentence.tops = [id for _, id in sorted(self._tops, key=lambda top: -top[0])]

    def _refuse(self, *_: object) -> None:
        problem = "a declaration of an entity or document type: refused, sentences need none"
        raise BadRecordError(self._first_line, problem)

    def _bad(self, problem: str) -> BadRecordError:
        return BadRecordError(self._first_line + self._parser.CurrentLineNumber - 1, problem)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if self._pending:
            raise self._bad(f"<{name}> inside a token")
        id = attributes.get("id", "")
        if name in ("cons", "tok"):
            if not id:
                raise self._bad(f"a <{name}> without an id")
            if id in self._ids:
                raise self._bad(f"two elements have the id {id!r}")
            self._ids.add(id)
        if name == "cons":
            self.sentence.phrases[id] = _phrase(attributes)
            if self._depth == 0:
                self._tops.append((len(self.sentence.tokens), id))
            self._depth += 1
        elif name == "tok":
            self._pending.append((attributes, []))
        elif name == "sentence":
            self.id = id
        else:
            raise self._bad(f"<{name}> is not known; expected sentence, cons or tok")

    def _data(self, text: str) -> None:
        self.text.append(_BLANK.sub("", text))
        if self._pending:
            self._pending[-1][1].append(text)
        else:
            self.sentence.tokens += _outside(text)

    def _stop(self, name: str) -> None:
        if name == "tok":
            attributes, texts = self._pending.pop()
            self.sentence.tokens.append(_token(attributes, "".join(texts), self._bad))
        elif name == "cons":
            self._depth -= 1
            if self._depth == 0:
                before, id = self._tops.pop()
                self._tops.append((len(self.sentence.tokens) - before, id))


def _phrase(attributes: dict[str, str]) -> Phrase:
    head = attributes.get("head", "")
    return Phrase(head, attributes.get("sem_head", head))


def _outside(text: str) -> list[Token]:
    """Return words of a text between tokens: Enju does not analyse full stops, question and exclamation marks."""
    return [Token("", word, "", "", {}) for word in _BLANK.split(text) if word]


def _token(attributes: dict[str, str], text: str, bad: Callable[[str], BadRecordError]) -> Token:
    word = text.strip(_BLANKS)
    if not word or _BLANK.search(word):
        raise bad(f"the token {attributes['id']} is {word!r}; expected a word")
    arguments = {name: value for name, value in attributes.items() if _ARGUMENT.fullmatch(name)}
    return Token(attributes["id"], word, attributes.get("pos", "_"), attributes.get("pred", ""), arguments)


class EnjuStandOff(_Sentences):
    """Reads lines with BEGIN, END, element and attributes, separated by tabs. Offsets count bytes, as Enju does."""

    def __init__(
        self, file: str, skip_bad: bool, text: str = "", heads: str = "syntactic", offsets: str = "bytes"
    ) -> None:
        super().__init__(file, skip_bad, heads)
        if offsets not in ("bytes", "characters"):
            raise UsageError(f"offsets is {offsets!r}; expected bytes or characters")
        if not text:
            raise UsageError("stand-off annotation is read with the text that it is on: give it as the option text")
        self._raw = _AnnotatedText(text, offsets)
        self._sentence: PredicateSentence | None = None
        self._ids: set[str] = set()  # of its elements
        self._span = (0, 0)  # where it is
        self._spans: list[tuple[int, int, str]] = []  # of its constituents
        self._at = 0  # where its last token ends
        self._place: tuple[str, int, int] | None = None  # its id and span
        self._bad = False  # whether lines are left out up to the next sentence

    def take(self, number: int, line: str) -> Iterator[Dependency | BadRecordError]:
        """If this line begins another sentence, yield the one before it."""
        try:
            found = self._annotation(number, line)
            if found is None:
                return
            name, begin, end, attributes = found
            if name == "sentence":
                yield from self.end(number)
                place = (attributes.get("id", ""), begin, end)
                if place[0] and place == self._place:
                    self.further += 1
                    self._bad = True  # up to the next sentence
                    return
                self._bad, self._place = False, place
                before, self._span = self._span[1], (begin, max(end, self._span[1]))
                if begin < before:
                    raise BadRecordError(number, f"the sentence at {begin} to {end} overlaps the one before it")
                self._sentence, self._spans, self._ids, self._at = PredicateSentence(), [], set(), begin
            elif self._sentence is not None:
                self._add(self._sentence, number, name, begin, end, attributes)
            elif not self._bad:
                raise BadRecordError(number, f"a {name} before the first sentence")
        except BadRecordError as bad:
            if not self._bad:
                yield bad
            self._sentence, self._bad = None, True  # up to the next sentence

    def end(self, number: int) -> Iterator[Dependency | BadRecordError]:
        """Yield the last sentence of the file."""
        sentence, self._sentence = self._sentence, None
        if sentence is None:
            return
        sentence.tokens += _outside(self._raw.cut(self._at, self._span[1]))
        tops, reached = [], -1
        for begin, end, id in sorted(self._spans, key=lambda span: (span[0], -span[1])):
            if end > reached:
                tops.append((begin - end, id))
                reached = end
        sentence.tops = [id for _, id in sorted(tops, key=lambda top: top[0])]
        yield self.finished(sentence)

    def _annotation(self, number: int, line: str) -> tuple[str, int, int, dict[str, str]] | None:
        if not line.strip():
            return None
        fields = line.split("\t")
        if len(fields) != 3 or not (_OFFSET.fullmatch(fields[0]) and _OFFSET.fullmatch(fields[1])):
            raise BadRecordError(
                number, f"{line[:40]!r} is not an annotation; expected BEGIN, END, element between tabs"
            )
        begin, end = int(fields[0]), int(fields[1])
        name, _, rest = fields[2].strip().partition(" ")
        if name not in ("sentence", "cons", "tok"):
            raise BadRecordError(number, f"element {name!r} is not known; expected sentence, cons or tok")
        if problem := self._raw.problem(begin, end):
            raise BadRecordError(number, problem)
        attributes = _attributes(rest, number)
        if name != "sentence" and "id" not in attributes:
            raise BadRecordError(number, f"a {name} without an id")
        return name, begin, end, attributes

    def _add(
        self, sentence: PredicateSentence, number: int, name: str, begin: int, end: int, attributes: dict[str, str]
    ) -> None:
        id = attributes["id"]
        if id in self._ids:
            raise BadRecordError(number, f"two elements have the id {id!r}")
        self._ids.add(id)
        if not self._span[0] <= begin <= end <= self._span[1]:
            inside = f"{self._span[0]} to {self._span[1]}"
            raise BadRecordError(number, f"the {name} {id} at {begin} to {end} is outside of its sentence, {inside}")
        if name == "cons":
            sentence.phrases[id] = _phrase(attributes)
            self._spans.append((begin, end, id))
            return
        if begin < self._at:
            raise BadRecordError(number, f"the token {id} at {begin} to {end} overlaps the one before it")
        sentence.tokens += _outside(self._raw.cut(self._at, begin))
        self._at = end
        word = self._raw.cut(begin, end)
        sentence.tokens.append(_token(attributes, word, lambda problem: BadRecordError(number, problem)))


class _AnnotatedText:
    """The text that offsets refer to. Bytes count with a byte order mark, characters without it."""

    def __init__(self, path: str, unit: str) -> None:
        data = b"".join(read_chunks(path))
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise FormatError(path, line, f"byte 0x{data[error.start]:02x} is not UTF-8") from error
        self._unit = unit
        self._bytes = data if unit == "bytes" else b""
        self._text = text.removeprefix("\ufeff") if unit == "characters" else ""
        self._size = len(self._bytes) or len(self._text)

    def problem(self, begin: int, end: int) -> str:
        """Return why there is nothing from one offset to the other, if so."""
        if not begin <= end <= self._size:
            return f"offsets {begin} to {end} do not fit the text, which has {self._size} {self._unit}"
        for offset in (begin, end):
            if self._bytes[offset : offset + 1] and self._bytes[offset] & 0xC0 == 0x80:
                return f"offset {offset} is inside a character; if offsets count characters, set offsets=characters"
        return ""

    def cut(self, begin: int, end: int) -> str:
        """Return the text from one offset to the other."""
        if self._unit == "characters":
            return self._text[begin:end]
        return self._bytes[begin:end].decode().removeprefix("\ufeff")


def _unescape(value: str) -> str:
    for entity, character in _ENTITIES.items():
        value = value.replace(entity, character)
    return value


def _attributes(text: str, number: int) -> dict[str, str]:
    found, at = {}, 0
    while (match := _ATTRIBUTE.match(text, at)) is not None:
        if match[1] in found:
            raise BadRecordError(number, f"the attribute {match[1]} is given twice")
        found[match[1]] = _unescape(match[2])
        at = match.end()
    if text[at:].strip():
        raise BadRecordError(number, f'{text[at:].strip()[:40]!r} is not an attribute; expected NAME="VALUE"')
    return found


ENJU = Format("enju", "Enju's XML: dependencies from predicate-argument structures", Dependency, (".enju",), EnjuXml)
ENJU_STANDOFF = Format("enju-so", "Enju's stand-off annotation of a text, likewise", Dependency, (".so",), EnjuStandOff)
