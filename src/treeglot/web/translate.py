"""Splits a text into sentences, and joins the translations of the sentences."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from treeglot import _core
from treeglot._core import Hypothesis, Tokens
from treeglot.decode import Translation
from treeglot.decode.translation import Texts, join_translations, place_words, tokens
from treeglot.models import Model
from treeglot.models.reading import passed, shorter
from treeglot.web.work import Workers

SHORT = 500  # characters of a text that is split at once: a thread would take longer to begin
WHOLE = 200  # characters of a text that takes one turn, however many sentences it has
Place: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Wish:
    """Options that a client chose for a translation."""

    kbest: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)  # of `Model.translate_batch`


def cut(model: Model, text: str) -> list[tuple[Place, Tokens]]:
    """Split a text into sentences with their positions, in the same way as `Model.translate`.

    If the model takes words, each line is a sentence.
    """
    if model.text is None:
        lines = re.finditer(r"[^\n]*[^\s][^\n]*", text)
        return [((line.start(), line.end()), _words(line.group())) for line in lines]
    places = model.text.source.split(text)
    found = model.text.source.tokenise([text[begin:end] for begin, end in places])
    return [piece for place, sentence in zip(places, found, strict=True) for piece in shorter(place, sentence)]


def _words(line: str) -> Tokens:
    found = list(re.finditer("[^ ]+", line))
    return Tokens(line, [word.group() for word in found], [word.span() for word in found])


@dataclass(frozen=True)
class Decoding:
    """A call that translates a sentence or a short text. Several calls for the same model can form a batch."""

    model: Model
    given: Tokens | str
    wish: Wish

    def __call__(self) -> Translation:
        """Translate this text alone."""
        return self.together([])[0]

    @property
    def size(self) -> int:
        """The number of characters to translate."""
        return len(self.given if isinstance(self.given, str) else self.given.text)

    def joins(self, other: Any) -> bool:
        """Return whether this call and another can form a batch: same model and options, and no long sentences."""
        if not isinstance(other, Decoding) or other.model is not self.model or other.wish != self.wish:
            return False
        return self.size <= WHOLE and other.size <= WHOLE

    def together(self, others: Sequence[Decoding]) -> list[Translation]:
        """Translate this text and the texts of other calls in one batch."""
        calls, wish = [self, *others], self.wish
        given = [call.given if isinstance(call.given, str) else call.given.words for call in calls]
        found = self.model.translate_batch(given, wish.kbest, wish.kbest > 1, **wish.options)
        parser: Any = self.model.reader.parser
        if hasattr(parser, "places"):
            parser.places.clear()  # a parser keeps the numbers of sentences; a service has no end of them
        return [
            each if isinstance(call.given, str) else each.with_texts(Texts(call.given, each.target_tokens))
            for call, each in zip(calls, found, strict=True)
        ]


def joined(model: Model, text: str, places: Iterable[Place], parts: list[Translation]) -> Translation:
    """Join translated sentences into the translation of a text."""
    spaces = model.text is None or model.text.target.language.spaces
    return join_translations(text, list(places), parts, spaces)


async def sentences(workers: Workers, model: Model, text: str, wish: Wish) -> AsyncIterator[tuple[Place, Translation]]:
    """Yield the translations of a text's sentences, one by one."""
    [pieces] = [cut(model, text)] if len(text) < SHORT else await workers.all([partial(cut, model, text)])
    calls = [Decoding(model, sentence, wish) for _, sentence in pieces]
    number = 0
    async for found in workers.each(calls):
        yield pieces[number][0], found
        number += 1


async def translate(workers: Workers, model: Model, text: str, wish: Wish = Wish()) -> Translation:
    """Return the translation of a text, the same as that of `Model.translate`."""
    plain = model.text is not None and not model.translator.options.markup
    if plain and wish.kbest == 1 and len(text) <= WHOLE:
        [whole] = await workers.all([Decoding(model, text, wish)])
        return whole
    found = [each async for each in sentences(workers, model, text, wish)]
    return joined(model, text, [place for place, _ in found], [part for _, part in found])


class InTurns:
    """Acts as a model for threads. Its batches take turns with the sentences of other requests."""

    def __init__(self, model: Model, workers: Workers) -> None:
        self._model = model
        self._workers = workers
        self._stopped = False
        self._futures: list[Future[Translation]] = []

    def stop(self) -> None:
        """Cancel the calls that are waiting."""
        self._stopped = True
        for future in self._futures:
            future.cancel()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def translate_batch(
        self, sources: Iterable[Any], kbest: int = 1, distinct: bool = False, threads: int = 1, **options: Any
    ) -> list[Translation]:
        """Translate like the model, in turn with other requests."""

        def call(source: Any) -> Translation:
            return self._model.translate_batch([source], kbest, distinct, **options)[0]

        self._futures = self._workers.submit([partial(call, source) for source in sources])
        if self._stopped:
            self.stop()
        return [future.result() for future in self._futures]

    def translate(self, source: Any, **options: Any) -> Translation:
        """Translate like the model, in turn with other requests."""
        return self.translate_batch([source], **options)[0]


def alternatives(model: Model, translation: Translation, number: int) -> list[str]:
    """Return at most `number` other translations of a text. Each differs from the best one in a single sentence.

    Those with the smallest loss of score come first.
    """
    parts = translation.sentences
    others = sorted(
        (part.score - hypothesis.score, place, rank)
        for place, part in enumerate(parts)
        for rank, hypothesis in enumerate(part.hypotheses[1:], 1)
    )
    found: dict[str, None] = {}
    for _, place, rank in others:
        if len(found) == number:
            break
        text = _replaced(model, translation, place, parts[place].hypotheses[rank])
        if text != translation.text:
            found[text] = None
    return list(found)


def _replaced(model: Model, translation: Translation, place: int, hypothesis: Hypothesis) -> str:
    """Return the text in which another hypothesis replaces the sentence at `place`."""
    part = translation.sentences[place]
    new = hypothesis_text(model, part, hypothesis).text
    if len(translation.sentences) == 1:  # its text has the blanks around it
        bare = part.text.strip()
        return part.text.replace(bare, new) if bare else part.text
    begin = 0
    for other in translation.sentences[:place]:
        begin = translation.text.index(other.text, begin) + len(other.text)
    begin = translation.text.index(part.text, begin)
    return translation.text[:begin] + new + translation.text[begin + len(part.text) :]


def hypothesis_text(model: Model, part: Translation, hypothesis: Hypothesis) -> Tokens:
    """Convert a hypothesis of one sentence to text."""
    words = tokens(hypothesis.text)
    if model.text is None:
        return place_words(words)
    [cased] = model.text.target.unfold([words])
    for word, place in passed(Translation(_core.Translation(part.given, part.words, [hypothesis]))):
        cased[place] = part.source_tokens.words[word]
    return model.text.target.detokenise([cased])[0]


def marked(translation: Translation, mark: str = "*") -> str:
    """Return the text, with a mark before every untranslated word."""
    text, places = translation.text, []
    offset = 0
    for part in translation.sentences:
        places += [offset + place for _, place in passed(part)]
        offset += len(part.best.given_by)
    for begin, _ in sorted((translation.target_tokens.spans[place] for place in places), reverse=True):
        text = text[:begin] + mark + text[begin:]
    return text
