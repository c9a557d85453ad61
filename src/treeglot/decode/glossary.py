"""Glossaries: terms that translations must use, should use, or must not have (docs/corrections.md).

    source    target    mode      case    forms            pos
    Haus      house     force     any     Häuser=houses    NN
              cheap     forbid

>>> glossary = Glossary.of({"Haus": "building"})
>>> found = glossary.bind().find([["das", "haus"]])[0]
>>> [(mark.span, mark.translations) for mark in found.marks]
[((1, 2), ('building',))]
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from treeglot._core import Mark, PhraseFinder, Terms
from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import PathLike, logical_suffix, read_chunks, read_lines
from treeglot.base.later import Later
from treeglot.base.options import unknown

if TYPE_CHECKING:
    from xml.etree import ElementTree
else:
    ElementTree = Later("xml.etree.ElementTree")

Mode: TypeAlias = Literal["prefer", "force", "forbid"]
Case: TypeAlias = Literal["any", "exact"]
Words: TypeAlias = list[str]
Split: TypeAlias = Callable[[Sequence[str]], list[Words]]

BONUS = 3.0  # of preferred terms, natural log


@dataclass(frozen=True)
class Entry:
    """An entry of a glossary: a term, its translation, and how strictly it must be used.

    `forms` contains other forms of the source, and `Häuser=houses` gives a form its own translation. With `pos`, a word
    of the term must have a tag that begins with `pos`, if the input has tags. If a forbidden target has no source, it
    never appears. Otherwise, it does not appear in the translation of sentences that contain the source.
    """

    source: str
    target: str
    mode: Mode = "force"
    case: Case = "any"
    forms: tuple[str, ...] = ()
    pos: str = ""

    def __post_init__(self) -> None:
        """Refuse fields that contradict each other."""
        for name, kind in (("mode", Mode), ("case", Case)):
            if getattr(self, name) not in get_args(kind):
                raise UsageError(unknown(name, getattr(self, name), get_args(kind)))
        if not self.source.strip() and (self.mode != "forbid" or self.forms):
            raise UsageError(f"there is no source for {self.target!r}; only forbidden terms may lack one")
        if not self.target.strip() and self.mode == "forbid":
            raise UsageError(f"there is no target for {self.source!r}; expected the phrase to forbid")

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield each form of the source with its translation."""
        if self.source.strip():
            yield self.source, self.target
        for form in self.forms:
            source, equals, target = form.partition("=")
            yield source, target if equals else self.target


COLUMNS = tuple(column.name for column in fields(Entry))


@dataclass(frozen=True)
class Glossary:
    """Terms and their translations. `bonus` (natural logarithm) is added to the score for each preferred term used."""

    entries: tuple[Entry, ...]
    bonus: float = BONUS

    def __post_init__(self) -> None:
        """Refuse a forced term that contains a phrase that is always forbidden."""
        never = {entry.target for entry in self.entries if entry.mode == "forbid" and not entry.source.strip()}
        for entry in self.entries if never else ():
            for _, target in entry.pairs():
                clash = next((each for each in never if f" {each} " in f" {target} "), None)
                if entry.mode == "force" and clash is not None:
                    raise UsageError(f"{target!r} is forced for {entry.source!r}, and {clash!r} is always forbidden")

    @staticmethod
    def of(given: Glossary | Mapping[str, str] | PathLike) -> Glossary:
        """Return a glossary. `given` is a glossary, its file, or a mapping from terms to forced translations."""
        if isinstance(given, Glossary):
            return given
        if isinstance(given, Mapping):
            return Glossary(tuple(Entry(source, target) for source, target in given.items()))
        return Glossary.read(given)

    @staticmethod
    def read(path: PathLike) -> Glossary:
        """Read a table, or a TBX file if the name ends in .tbx or .xml.

        If the first line begins with `source`, it names the columns. Otherwise, the columns are source, target, mode,
        case, forms and pos, and the last ones can be missing. `|` separates forms. Lines that begin with `#` are
        comments.
        """
        if logical_suffix(path) in (".tbx", ".xml"):
            return Glossary(tuple(_read_tbx(path)))
        return Glossary(tuple(_read_table(path)))

    def bind(
        self,
        source: Split | None = None,
        target: Split | None = None,
        fold: Callable[[list[Words]], list[Words]] = list,
        joined: bool = False,
    ) -> BoundGlossary:
        """Return the glossary in the words of a model.

        `source` and `target` tokenise text; with None, blanks separate words.

        `fold` gives target words the case of the model's words. With `joined`, source terms are found by their
        characters. In languages without blanks, a term can be tokenised differently alone and in a sentence.
        """
        return BoundGlossary(self, source or _split, target or _split, fold, joined)


def _split(texts: Sequence[str]) -> list[Words]:
    return [text.split() for text in texts]


def _read_table(path: PathLike) -> Iterator[Entry]:
    name, columns = os.fspath(path), COLUMNS
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        if number == 1 and cells[0] == "source":
            for cell in cells:
                if cell not in COLUMNS:
                    raise FormatError(name, number, unknown("column", cell, COLUMNS))
            columns = tuple(cells)
            continue
        if not 2 <= len(cells) <= len(columns):
            problem = f"{len(cells)} columns; expected source, target and at most {', '.join(COLUMNS[2:])}"
            raise FormatError(name, number, problem + " with tabs between them")
        given = {column: cell for column, cell in zip(columns, cells, strict=False) if cell}
        forms = tuple(form.strip() for form in given.pop("forms", "").split("|") if form.strip())
        try:
            yield Entry(**({"source": "", "target": ""} | given), forms=forms)  # type: ignore[arg-type]
        except UsageError as error:
            raise FormatError(name, number, str(error)) from error


def _read_tbx(path: PathLike) -> Iterator[Entry]:
    """Read the entries of a TBX file (ISO 30042, all dialects).

    The first term of the second language translates the first language's terms. Further terms of the first language are
    forms. A target term whose status is deprecated or superseded is forbidden where the source occurs.
    """
    name = os.fspath(path)
    parser = ElementTree.XMLParser()
    for chunk in read_chunks(path):
        _feed(parser, chunk, name)
    root: ElementTree.Element = _feed(parser, None, name)
    languages: list[str] = []
    for concept in _tagged(root, "conceptEntry", "termEntry"):
        terms: dict[str, list[tuple[str, bool]]] = {}
        for section in _tagged(concept, "langSec", "langSet"):
            language = section.get("{http://www.w3.org/XML/1998/namespace}lang", "")
            for each in _tagged(section, "termSec", "tig", "ntig"):
                text = next((term.text or "" for term in _tagged(each, "term")), "").strip()
                if text:
                    terms.setdefault(language, []).append((text, _deprecated(each)))
        languages += [language for language in terms if language not in languages]
        if len(terms) < 2:
            continue
        if len(languages) > 2:
            raise FormatError(name, 0, f"has terms in {', '.join(languages)}; expected two languages")
        (source, *forms), targets = (terms[language] for language in languages)
        good = [text for text, bad in targets if not bad]
        others = tuple(text for text, _ in forms)
        if good:
            yield Entry(source[0], good[0], forms=others)
        for text, bad in targets:
            if bad:
                yield Entry(source[0], text, "forbid", forms=others)
    if not languages:
        raise FormatError(name, 0, "has no terms; expected TBX with conceptEntry or termEntry")


def _feed(parser: ElementTree.XMLParser, chunk: bytes | None, name: str) -> Any:
    """Pass bytes to a parser. None stands for the end of the file; the call then returns the root."""
    try:
        return parser.close() if chunk is None else parser.feed(chunk)
    except ElementTree.ParseError as error:
        raise FormatError(name, error.position[0], f"is no XML: {error}") from error
    except (LookupError, ValueError) as error:
        raise FormatError(name, 1, "is in an encoding that XML readers lack; expected UTF-8") from error


def _tagged(element: ElementTree.Element, *names: str) -> Iterator[ElementTree.Element]:
    return (each for each in element.iter() if each.tag.rpartition("}")[2] in names)


def _deprecated(term: ElementTree.Element) -> bool:
    notes = (note.text or "" for note in term.iter() if "status" in (note.get("type") or note.tag).lower())
    return any("deprecated" in note or "superseded" in note for note in notes)


@dataclass(frozen=True)
class Pair:
    """One form of a term with its translations, in the words of a model."""

    entry: int
    target: str  # the model's words, separated by blanks


class BoundGlossary:
    """A glossary in the words of a model, which finds its terms in sentences."""

    def __init__(
        self,
        glossary: Glossary,
        source: Split,
        target: Split,
        fold: Callable[[list[Words]], list[Words]],
        joined: bool,
    ) -> None:
        """Split all terms into words in one batch."""
        self.glossary, self.joined = glossary, joined
        self.pairs: list[Pair] = []
        self.cased: dict[tuple[int, str], tuple[str, ...]] = {}  # by entry and words: with the glossary's case
        self.finders = PhraseFinder(), PhraseFinder()  # of any case, and of exact case
        entries = glossary.entries
        forms = [(number, *pair) for number, entry in enumerate(entries) for pair in entry.pairs()]
        sources = source([each for _, each, _ in forms])
        targets = target([each for _, _, each in forms])
        for (number, term, _), words, cased, folded in zip(forms, sources, targets, fold(targets), strict=True):
            if not words:
                raise UsageError(f"the term {term!r} has no words")
            exact = entries[number].case == "exact"
            [found] = [words] if exact else lowered([words])
            self.finders[exact].add(list("".join(found)) if joined else found, len(self.pairs))
            self.pairs.append(Pair(number, " ".join(folded)))
            self.cased.setdefault((number, " ".join(folded)), tuple(cased))
        never = [entry.target for entry in entries if entry.mode == "forbid" and not entry.source.strip()]
        self.always = [" ".join(words) for words in fold(target(never))]

    def find(self, sentences: Sequence[Words], tags: Callable[[int], Sequence[str]] = lambda number: ()) -> list[Terms]:
        """Return the terms in each sentence. Words have their original case.

        `tags` returns the tags of a sentence's words, if there are any. It is called for entries with a part of speech.
        """
        lower, exact = (
            finder.find([list("".join(words)) for words in each] if self.joined else each)
            for finder, each in zip(self.finders, (lowered(sentences), [list(s) for s in sentences]), strict=True)
        )
        return [
            self._terms(number, words, low + same, tags) if low or same or self.always else Terms()
            for number, (words, low, same) in enumerate(zip(sentences, lower, exact, strict=True))
        ]

    def _terms(
        self,
        number: int,
        words: Words,
        found: list[tuple[int, int, int]],
        tags: Callable[[int], Sequence[str]],
    ) -> Terms:
        entries = self.glossary.entries
        if self.joined:
            found = _at_words(found, words)
        modes: dict[str, dict[tuple[int, int], list[int]]] = {"force": {}, "prefer": {}, "forbid": {}}
        for begin, end, pair in found:
            entry = entries[self.pairs[pair].entry]
            if entry.pos and (known := tags(number)) and not any(t.startswith(entry.pos) for t in known[begin:end]):
                continue
            modes[entry.mode].setdefault((begin, end), []).append(pair)
        marks: list[Mark] = []
        for mode in ("force", "prefer"):
            for span in sorted(modes[mode], key=lambda span: (span[0], -span[1])):
                if any(span[0] < mark.span[1] and mark.span[0] < span[1] for mark in marks):
                    continue
                pairs = [self.pairs[pair] for pair in modes[mode][span]]
                required = mode == "force"
                bonus = 0.0 if required else self.glossary.bonus
                targets = list(dict.fromkeys(pair.target for pair in pairs))
                marks.append(Mark(span, targets, required, bonus, pairs[0].entry))
        marks.sort(key=lambda mark: mark.span)
        forbidden = [self.pairs[pair].target for pairs in modes["forbid"].values() for pair in pairs]
        return Terms(marks, list(dict.fromkeys([*self.always, *forbidden])))


def _at_words(found: list[tuple[int, int, int]], words: Words) -> list[tuple[int, int, int]]:
    """Convert character spans to word spans. Spans that begin or end inside a word are dropped."""
    places = {0: 0}
    at = 0
    for place, word in enumerate(words, start=1):
        at += len(word)
        places[at] = place
    return [(places[a], places[b], pair) for a, b, pair in found if a in places and b in places]


def lowered(sentences: Sequence[Words]) -> list[Words]:
    """Lowercase words. Their number stays the same."""
    return [[word.lower() for word in words] for words in sentences]
