"""Measures the effect of corrections: the sentences that they can change, before and after (docs/corrections.md)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from treeglot.base.errors import UsageError
from treeglot.models.kinds import find_kind
from treeglot.rules.merge import VARIABLE

if TYPE_CHECKING:
    from treeglot.models.model import Model
    from treeglot.models.reading import Given
    from treeglot.rules.corrections import Correction


@dataclass(frozen=True)
class Change:
    """A sentence whose translation changes. `number` is its place in the input, from 0."""

    number: int
    before: str
    after: str


@dataclass(frozen=True)
class Radius:
    """The effect of corrections on sentences. Scores are those of the sentences that can change, before and after."""

    sentences: int
    touched: tuple[int, ...]  # sentences that can change: these were translated
    changes: tuple[Change, ...]
    scores: dict[str, tuple[float, float]]


def check_corrections(
    model: Model,
    sources: Sequence[Given],
    references: Sequence[str] | None = None,
    threads: int = 1,
    before: Model | None = None,
) -> Radius:
    """Translate the sentences that a model's corrections can change, without and with them.

    `before` is the model to compare with. By default it has the same terms and no corrections.
    """
    from treeglot.evaluate.report import score_systems

    if references is not None and len(references) != len(sources):
        raise UsageError(f"{len(sources):,} sentences and {len(references):,} references; expected as many")
    old = before if before is not None else model.with_corrections(None)
    differ = set(model.corrections or ()) ^ set(old.corrections or ())
    weighed = model.weights != old.weights
    places = set(range(len(sources)) if weighed else touched(model, sources, differ, threads))
    if model.bound_glossary is not old.bound_glossary:
        places.update(number for each in (old, model) for number in having_terms(each, sources, threads))
    found = sorted(places)
    chosen = [sources[number] for number in found]
    outputs = [
        [translation.text for translation in each.translate_batch(chosen, threads=threads)] for each in (old, model)
    ]
    changes = [Change(*row) for row in zip(found, *outputs, strict=True) if row[1] != row[2]]
    scores: dict[str, tuple[float, float]] = {}
    if references is not None and found:
        named = dict(zip(("before", "after"), outputs, strict=True))
        one, two = score_systems(named, [[references[number] for number in found]])
        scores = {a.name: (a.value, b.value) for a, b in zip(one.scores, two.scores, strict=True)}
    return Radius(len(sources), tuple(found), tuple(changes), scores)


def touched(model: Model, sources: Sequence[Given], corrections: Iterable[Correction], threads: int = 1) -> list[int]:
    """Return the places of the sentences that corrections can change: those with the words of a corrected source side.

    The words must occur in the order of the source side. Words that are adjacent in it must also be adjacent in the
    sentence, unless the model translates parses.
    """
    in_row = not find_kind(model.kind).parses
    sentences = [f" {' '.join(words)} " for words in model.reader.words(sources, threads)]
    having: defaultdict[str, set[int]] = defaultdict(set)
    for number, sentence in enumerate(sentences):
        for word in sentence.split():
            having[word].add(number)
    out: set[int] = set()
    for side in {each.source for each in corrections}:
        parts = side_words(side)
        words = {word for part in parts for word in part}
        if not words:
            return list(range(len(sentences)))
        places = reduce(set.intersection, sorted((having.get(word, set()) for word in words), key=len))
        chunks = [" ".join(part) for part in parts] if in_row else [word for part in parts for word in part]
        out.update(number for number in places - out if _has(sentences[number], chunks))
    return sorted(out)


def having_terms(model: Model, sources: Sequence[Given], threads: int = 1) -> list[int]:
    """Return the places of the sentences that contain terms of the model's glossary."""
    if model.bound_glossary is None:
        return []
    asked = model.bound_glossary.find(model.reader.words(sources, threads))
    return [number for number, terms in enumerate(asked) if terms.marks or terms.forbidden]


def side_words(side: str) -> list[list[str]]:
    """Split the words of a source side at its variables. Brackets of fragments are left out.

    >>> side_words("VP( VV( sees ) [NP,1] ) ")
    [['sees']]
    """
    parts: list[list[str]] = [[]]
    for symbol in side.split():
        if VARIABLE.fullmatch(symbol):
            parts.append([])
        elif symbol != ")" and not (len(symbol) > 1 and symbol.endswith("(") and not symbol.startswith("\\")):
            parts[-1].append(symbol.removeprefix("\\"))
    return [part for part in parts if part]


def _has(sentence: str, chunks: Iterable[str]) -> bool:
    """Return whether a sentence contains these parts, one after the other."""
    start = 0
    for chunk in chunks:
        found = sentence.find(f" {chunk} ", start)
        if found < 0:
            return False
        start = found + len(chunk) + 1
    return True
