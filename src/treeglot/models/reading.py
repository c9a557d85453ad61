"""Converts a user's input to the input of the decoder, and the decoder's output to text."""

from __future__ import annotations

import dataclasses
import os
import re
import unicodedata
import warnings
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from treeglot._core import Mark, Terms, Tokens, read_sentence
from treeglot.base.errors import FormatError, UsageError
from treeglot.decode import Translation
from treeglot.decode.glossary import BoundGlossary, Glossary
from treeglot.decode.translation import Texts, join_translations, links, place_words, tokens
from treeglot.decode.translator import Source
from treeglot.models.kind import Kind
from treeglot.syntax import Dependency, ParseForest, Tree
from treeglot.syntax.lattice import Lattice, LatticeForest
from treeglot.text import TextPipeline
from treeglot.text.numbers import convert_number
from treeglot.text.protected import Place, Protected, read_markup, split_protected, stays, tokenise_protected
from treeglot.text.side import lowered
from treeglot.text.words import without_surrogates

if TYPE_CHECKING:
    from treeglot.parse.protocol import Parser

Given: TypeAlias = Source | Tree | Protected
Kept: TypeAlias = dict[int, tuple[str, ...]]  # words of a sentence, with the translations that are given for them

TRUST = "TREEGLOT_TRUST_PARSERS"
KEPT = "\ue000"  # placeholder of an unchanged word: a private character that no corpus has
WORD = re.compile("[^\x00-\x20\x7f\ud800-\udfff]+")  # what the decoder takes as one
MOST_WORDS = 100  # of a piece that is translated at once: parsing takes cubic time
CUT = f"a sentence of more than {MOST_WORDS} words: translated in pieces"


def open_model_parser(folder: Path, name: str, trusted: bool = False) -> Parser[Any]:
    """Open the parser that `model.toml` names: the folder of a grammar, or ADAPTER:MODEL.

    Models can come from anywhere. So if a parser's files, which are in the model's folder, can run code, they are
    opened only if the user trusts them.
    """
    from treeglot.parse import load_parser
    from treeglot.parse.adapters import RUN_CODE, open_parser

    adapter, colon, model = name.partition(":")
    if not colon:
        return load_parser(folder / name)
    own = folder / model
    is_file = own.exists() or "/" in model or Path(model).exists()
    if is_file and adapter in RUN_CODE and not trusted and os.environ.get(TRUST) != "1":
        raise UsageError(
            f"{folder} has a parser, {name}, whose files may run any code when they are opened; {TRUST}=1 opens it "
            "if you trust its author"
        )
    if not own.exists() and "/" in model:
        raise FormatError(os.fspath(folder), 0, f"has no {model}, which model.toml names as its parser")
    return open_parser(adapter, str(own) if own.exists() else model)


@dataclass(frozen=True)
class Reader:
    """Splits text into sentences and parses them, for one kind of model.

    Without `text`, a string contains words separated by blanks. Lists always contain words. `open_parser` is called
    when the first sentence needs a parse.
    """

    kind: Kind
    text: TextPipeline | None = None
    open_parser: Callable[[], Parser[Any]] | None = None
    open_target_parser: Callable[[], Parser[Any]] | None = None

    @cached_property
    def parser(self) -> Parser[Any] | None:
        """The parser of the model, which parses the source."""
        return self.open_parser() if self.open_parser is not None else None

    @cached_property
    def target_parser(self) -> Parser[Any] | None:
        """The parser of the target language. The model needs it to learn from sentence pairs."""
        return self.open_target_parser() if self.open_target_parser is not None else None

    def bind(self, glossary: Glossary) -> BoundGlossary:
        """Return a glossary in the words of the model."""
        if self.text is None:
            return glossary.bind()
        source, target = self.text.source, self.text.target
        return glossary.bind(
            lambda texts: [tokens.words for tokens in source.tokenise(texts)],
            lambda texts: [tokens.words for tokens in target.tokenise(texts)],
            target.fold,
            joined=not source.language.spaces,
        )

    def translate(
        self,
        translate: Callable[[list[Source], list[Terms]], list[Translation]],
        sources: Iterable[Given],
        threads: int = 1,
        kbest: int = 1,
        distinct: bool = False,
        markup: bool = False,
        glossary: BoundGlossary | None = None,
    ) -> list[Translation]:
        """Translate texts, documents, lists of words and parses. `translate` is the function of the decoder.

        `kbest` and `distinct` select the hypotheses for texts of several sentences. With `markup`, a string can contain
        translations of its parts.
        """
        text = self.text
        sources = list(sources)
        if glossary is not None and any(isinstance(source, Lattice | LatticeForest) for source in sources):
            raise UsageError("a glossary finds its terms in sentences; a lattice was given, expected no glossary")
        if text is None:
            lines = [_words(source) for source in sources]
            marks = _take_marks(lines) if markup and self.kind.parses else {}
            inputs, _ = self.ready(lines, threads, markup=markup)
            plain = [sentence_words(each, markup) for each in inputs] if glossary is not None else []
            return translate(inputs, _terms(glossary, plain, inputs, marks))
        given = [_text(source, markup) if isinstance(source, str | Protected) else _words(source) for source in sources]
        spans, sentences, units, kept = self._sentences(text, given, threads)
        inputs, surface = self.ready(units, threads, kept)
        found_all = translate(inputs, _terms(glossary, surface, inputs, self._marks(kept)))
        targets = _to_text(text, found_all, surface, kept, glossary, threads)
        surface = _on_paths(found_all, surface)
        made = iter(zip(found_all, targets, surface, strict=True))
        out = []
        for source, whole, found in zip(given, spans, sentences, strict=True):
            if found is None:
                translation, target, words = next(made)
                out.append(translation.with_texts(Texts(place_words(words), target)))
                continue
            parts = []
            for _, each in found:
                translation, target, _ = next(made)
                stays = translation.problem and len(found) > 1  # a refused sentence stays as it is among others
                parts.append(translation.with_texts(Texts(each, each if stays else target)))
            places = [place for place, _ in found]
            spaces = text.target.language.spaces
            note = CUT if len(found) > len(whole or ()) else ""
            out.append(join_translations(source.text, places, parts, spaces, kbest, distinct, note))
        return out

    def _sentences(
        self, text: TextPipeline, given: Sequence[Any], threads: int
    ) -> tuple[list[list[Place] | None], list[list[tuple[Place, Tokens]] | None], list[Any], dict[int, Kept]]:
        """Split texts into sentences. Return their places, their pieces with words, and all pieces in one list.

        The last returned value contains the words of each piece that stay unchanged or have given translations. Parses
        have no places.
        """
        spans = [split_protected(text.source, source) if isinstance(source, Protected) else None for source in given]
        parts_of = [(source, place) for source, found in zip(given, spans, strict=True) for place in found or ()]
        tokens = iter(tokenise_protected(text.source, parts_of, threads))
        sentences: list[list[tuple[Place, Tokens]] | None] = [
            None if found is None else [piece for place in found for piece in shorter(place, next(tokens))]
            for found in spans
        ]
        units: list[Any] = []
        kept: dict[int, Kept] = {}
        for source, found in zip(given, sentences, strict=True):
            for place, each in found or ():
                if source.places and (stay := _kept(source, place, each)):
                    kept[len(units)] = stay
                units.append(each.words)
            units += [source] if found is None else []
        return spans, sentences, units, kept

    def inputs(self, source: Given) -> tuple[list[Source], list[list[str]]]:
        """Return the decoder's input for a text's sentences or for a parse, and their words in the original case."""
        if self.text is None:
            inputs, _ = self.ready([_words(source)])
            return inputs, [_words_of(each) for each in inputs]
        given = [_text(source, False) if isinstance(source, str | Protected) else _words(source)]
        _, _, units, kept = self._sentences(self.text, given, 1)
        return self.ready(units, 1, kept)

    def words(self, sources: Sequence[Given], threads: int = 1) -> list[list[str]]:
        """Return the words of each text or parse, in the form that rules use. Sentences of a text are joined."""
        if self.text is None:
            return [_words_of(_words(source)) for source in sources]
        given = [_text(source, False) if isinstance(source, str | Protected) else _words(source) for source in sources]
        _, sentences, units, kept = self._sentences(self.text, given, threads)
        folded = iter(self._folded([_words_of(unit) for unit in units], kept))
        return [[word for _ in ([None] if found is None else found) for word in next(folded)] for found in sentences]

    def ready(
        self, sources: Sequence[Any], threads: int = 1, kept: Mapping[int, Kept] | None = None, markup: bool = False
    ) -> tuple[list[Source], list[list[str]]]:
        """Convert words and parses to the input of the decoder. Also return their words in the original case.

        `kept` contains words of sentences that stay unchanged or have given translations. The decoder gets placeholders
        for them, which no rule contains. With `markup`, the decoder reads lines, and they are not parsed.
        """
        parsed = self._parsed(sources, threads, markup)
        if self.text is None:
            return parsed, []
        surface = [list(each) if isinstance(each, list) else _words_of(each) for each in parsed]
        folded = self._folded(surface, kept or {})
        return [with_words(each, words) for each, words in zip(parsed, folded, strict=True)], surface

    def _folded(self, surface: Sequence[Sequence[str]], kept: Mapping[int, Kept]) -> list[list[str]]:
        """Convert the words of sentences to the form that rules use."""
        assert self.text is not None
        folded = self.text.source.fold(surface)
        if self.text.numbers is not None:
            folded = [self.text.numbers.fold_source(words) for words in folded]
        for number, places in kept.items():
            for place in places:
                folded[number][place] = KEPT
        return folded

    def _marks(self, kept: Mapping[int, Kept]) -> dict[int, list[Mark]]:
        """Return the words that have given translations, sentence by sentence."""
        return {number: found for number, given in kept.items() if (found := list(self._given_marks(given)))}

    def _given_marks(self, given: Kept) -> Iterator[Mark]:
        assert self.text is not None
        for place, choices in given.items():
            if choices:
                targets = self.text.target.fold(each.words for each in self.text.target.tokenise(choices))
                yield Mark((place, place + 1), [" ".join(target) for target in targets])

    def target_words(self, text: str, source: Given) -> list[str]:
        """Return the words of a target text, in the form that rules use for this source sentence."""
        if self.text is None:
            return tokens(text)
        [found] = self.text.target.fold([self.text.target.tokenise([text])[0].words])
        numbers = self.text.numbers
        if numbers is None:
            return found
        given = [source] if isinstance(source, str) else []
        [words] = [each.words for each in self.text.source.tokenise(given)] or [_words_of(_words(source))]
        return numbers.fold(found, numbers.values(words), numbers.target)

    def development(
        self, sources: Sequence[Source], references: Sequence[Sequence[str]], threads: int = 1
    ) -> tuple[list[Source], list[list[str]]]:
        """Prepare data for tuning. Sentences and references are converted to the model's words; parses stay unchanged.

        Each line is one sentence, as in training.
        """
        text = [place for place, source in enumerate(sources) if isinstance(source, str | Lattice)]
        if self.text is None or not text:
            return list(sources), [list(lines) for lines in references]
        lines = [source for place in text if isinstance(source := sources[place], str)]
        tokenised = iter(self.text.source.tokenise(lines, threads))
        given = [source if isinstance(source := sources[place], Lattice) else next(tokenised).words for place in text]
        inputs, _ = self.ready(given, threads)
        out = list(sources)
        for place, found in zip(text, inputs, strict=True):
            out[place] = found
        words = [
            [
                " ".join(self.target_words(line, cast("Given", source)))
                for line, source in zip(own, sources, strict=True)
            ]
            for own in references
        ]
        return out, words

    def _parsed(self, sources: Sequence[Any], threads: int, markup: bool = False) -> list[Source]:
        words = list if markup else str | list
        given = {i: _split(source) for i, source in enumerate(sources) if isinstance(source, words)}
        # The decoder reports words that are not valid.
        wanted = [i for i, words in given.items() if self.kind.parses and all(map(WORD.fullmatch, words))]
        found = dict(zip(wanted, self._parses([given[i] for i in wanted], threads), strict=False))
        return [self.kind.prepare(found.get(i, source)) for i, source in enumerate(sources)]

    def _parses(self, sentences: list[list[str]], threads: int) -> Iterable[Any]:
        if not any(sentences):
            return []
        if self.parser is None:
            warnings.warn(
                f"a {self.kind.name} model translates parses; it has no parser, and uses phrases alone", stacklevel=5
            )
            return []
        if hasattr(self.parser, "options"):
            self.parser.options = dataclasses.replace(self.parser.options, threads=threads)
        return self.parser.parse(sentences)


def shorter(place: Place, tokens: Tokens) -> list[tuple[Place, Tokens]]:
    """Split a sentence into pieces of a limited number of words, after punctuation if possible.

    >>> [piece.line for _, piece in shorter((0, 5), place_words(["a", "b", "c"]))]
    ['a b c']
    """
    if len(tokens) <= MOST_WORDS:
        return [(place, tokens)]
    words, spans = tokens.words, tokens.spans
    out = []
    start = 0
    while start < len(words):
        stop = min(start + MOST_WORDS, len(words))
        if stop < len(words):
            marks = (i for i in range(stop, start + MOST_WORDS // 2, -1) if _ends_clause(words[i - 1]))
            stop = next(marks, stop)
        begin, end = spans[start][0], spans[stop - 1][1]
        inner = [(a - begin, b - begin) for a, b in spans[start:stop]]
        out.append(((place[0] + begin, place[0] + end), Tokens(tokens.text[begin:end], words[start:stop], inner)))
        start = stop
    return out


def _ends_clause(word: str) -> bool:
    """Return whether a word consists of punctuation without opening brackets and quotation marks."""
    return all(unicodedata.category(letter) in ("Pd", "Pe", "Pf", "Po") for letter in word)


def _text(source: str | Protected, markup: bool) -> Protected:
    """Turn a text into protected text.

    Surrogates become U+FFFD. Without markup, protected parts are found by their form.
    """
    if isinstance(source, Protected):
        given = source
    else:
        given = read_markup(source) if markup else Protected(source, tuple(stays(source)))
    return dataclasses.replace(given, text=without_surrogates(given.text))


def _kept(source: Protected, place: Place, tokens: Tokens) -> Kept:
    """Return the protected words of a piece, with their given translations."""
    first, last = (bisect_left(source.places, (at, at)) for at in place)
    stay = set(source.places[first:last])
    spans = [(place[0] + begin, place[0] + end) for begin, end in tokens.spans]
    return {word: source.given.get(span, ()) for word, span in enumerate(spans) if span in stay}


def _words(source: Given) -> Any:
    """Check a sentence or parse, and split a string into words. Other types are refused."""
    if isinstance(source, str | ParseForest | Dependency | Lattice | LatticeForest | Tree):
        return source
    if isinstance(source, list | tuple) and all(isinstance(word, str) for word in source):
        return list(source)
    expected = "expected a string, a list of tokens, a tree, a forest, a dependency tree or a lattice"
    raise TypeError(f"{repr(source)[:60]} is not a sentence; {expected}")


def _split(source: str | list[str]) -> list[str]:
    return tokens(source.replace("\t", " ")) if isinstance(source, str) else source


def _words_of(source: Any) -> list[str]:
    if isinstance(source, Protected):
        return _split(source.text)
    if isinstance(source, LatticeForest):
        return [*source.words, *source.lattice.words]
    return _split(source) if isinstance(source, str | list) else list(source.words)


def with_words(source: Source, words: list[str]) -> Source:
    """Replace the words of a sentence, parse or lattice by the same number of others."""
    if isinstance(source, Lattice):
        arcs = zip(source.arcs, words, strict=True)
        return Lattice([(begin, end, word, score) for (begin, end, _, score), word in arcs])
    if isinstance(source, LatticeForest):
        own = len(source.words)
        forest, lattice = with_words(source.forest, words[:own]), with_words(source.lattice, words[own:])
        return LatticeForest(cast("ParseForest", forest), cast("Lattice", lattice))
    if isinstance(source, ParseForest):
        if source.words == words:
            return source
        labels = [*words, *source.labels[len(words) :]]
        return ParseForest(source.graph, labels, source.spans.tolist(), source.scores.tolist(), source.kind)
    if isinstance(source, Dependency):
        return (
            source if source.words == words else Dependency(words, source.heads.tolist(), source.tags, source.relations)
        )
    return words


def sentence_words(source: Source, markup: bool) -> list[str]:
    """Return the words of a source, which spans refer to. Markup is left out. A line that is refused has no words."""
    if isinstance(source, ParseForest | Dependency | Lattice | LatticeForest):
        return source.words
    if not isinstance(source, str):
        return list(source)
    try:
        return read_sentence(source, markup)[0]
    except ValueError:
        return []


def _on_paths(found: list[Translation], surface: list[list[str]]) -> list[list[str]]:
    """Return the words of sentences in their original form. For a lattice, return those of the chosen path."""

    def own(one: Translation, words: list[str]) -> list[str]:
        if isinstance(one.given, Lattice):
            return [words[arc] for arc in one.best.path if words[arc]]
        return words[: len(one.given.words)] if isinstance(one.given, LatticeForest) else words

    return [own(one, words) for one, words in zip(found, surface, strict=True)]


def _take_marks(sources: list[Any]) -> dict[int, list[Mark]]:
    """Replace lines that contain markup by their words. Return the given translations of each line.

    A line that the decoder refuses stays as it is.
    """
    out = {}
    for number, source in enumerate(sources):
        if isinstance(source, str):
            with suppress(ValueError):
                sources[number], marks = read_sentence(source, True)
                if marks:
                    out[number] = marks
    return out


def _terms(
    glossary: BoundGlossary | None, words: list[list[str]], inputs: list[Source], marks: Mapping[int, list[Mark]]
) -> list[Terms]:
    """Return the given translations of each sentence. Those from markup come first, then those from a glossary."""
    if glossary is None:
        return [Terms(marks.get(number, [])) for number in range(len(inputs))] if marks else []

    def tags(number: int) -> Sequence[str]:
        given = inputs[number]
        if isinstance(given, ParseForest):
            return given.viterbi().tags if given.parsed else ()
        return (given.tags or ()) if isinstance(given, Dependency) else ()

    found = glossary.find(words, tags)
    for number, own in marks.items():
        apart = [
            mark
            for mark in found[number].marks
            if not any(mark.span[0] < one.span[1] and one.span[0] < mark.span[1] for one in own)
        ]
        found[number] = Terms(sorted([*own, *apart], key=lambda mark: mark.span), list(found[number].forbidden))
    return found


def _to_text(
    text: TextPipeline,
    found: list[Translation],
    surface: list[list[str]],
    kept: Mapping[int, Kept],
    glossary: BoundGlossary | None,
    threads: int,
) -> list[Tokens]:
    """Convert the best hypotheses to text.

    Words that were copied keep the case of the source, and numbers get the form of the target language. Given
    translations keep their own case, and terms have the capitals of the glossary.
    """
    languages = text.source.language, text.target.language
    given = [tokens(one.best.text) for one in found]
    if text.numbers is not None:
        # The variables of a lattice are those of all its arcs.
        given = [text.numbers.unfold(words, source) for words, source in zip(given, surface, strict=True)]
    cased = text.target.unfold(given, threads)
    for translation, words, source in zip(found, cased, _on_paths(found, surface), strict=True):
        if translation.best.features.get("unknown"):
            for word, place in passed(translation):
                stays = translation.words[word] == KEPT
                words[place] = source[word] if stays else convert_number(source[word], *languages)
        if glossary is not None and translation.marks:
            for place, term in _given(translation, glossary):
                words[place] = term
    for number, given_words in kept.items():
        for choice in (choice for choices in given_words.values() for choice in choices):
            _recase(cased[number], text.target.tokenise([choice])[0].words)
    return text.target.detokenise(cased, threads)


def _recase(words: list[str], given: Sequence[str]) -> None:
    """Restore the original case of consecutive words."""
    wanted = lowered([given])[0]
    own = lowered([words])[0]
    for place in range(len(own) - len(wanted) + 1):
        if wanted and own[place : place + len(wanted)] == wanted:
            words[place : place + len(wanted)] = given


def _given(translation: Translation, glossary: BoundGlossary) -> Iterable[tuple[int, str]]:
    """Yield the places of output words that the glossary writes with capitals, and these forms."""
    terms = {(term.span, term.target): glossary.cased.get((term.entry, term.target), ()) for term in translation.terms}
    steps = translation.derivation.steps
    used: dict[int, int] = {}  # by step, how many of its words came already
    for place, step in enumerate(translation.best.given_by):
        cased = terms.get((steps[step].span, steps[step].target), ()) if steps[step].local else ()
        word = used[step] = used.get(step, -1) + 1
        if word < len(cased) and cased[word] != cased[word].lower():
            yield place, cased[word]


def passed(translation: Translation) -> Iterable[tuple[int, int]]:
    """Yield the unknown words that the best translation copies: their places on both sides."""
    steps, given_by = translation.best.derivation.steps, translation.best.given_by
    out = tokens(translation.best.text)
    for word, place in links(translation.best):
        if steps[given_by[place]].local and translation.words[word] == out[place]:
            yield word, place
