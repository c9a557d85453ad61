"""Creates any number of sentence pairs from those of the sample corpus, by replacing nouns and names."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, cycle
from random import Random
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from treeglot.sample.corpus import SamplePair

NOUNS = {("NN", "NN"), ("NN", "NNS"), ("NR", "NNP")}
"""The tags of linked words that take each other's places."""

Kind: TypeAlias = tuple[str, str, bool]
"""Tags of a noun and its translation, and whether that begins with a vowel: articles stay right."""

VOWEL = re.compile(r"(?!uni|use|eu|one)[aeiou]|hour|hon", re.IGNORECASE)

WORD = {  # in a record of a format; words come in order
    "text": re.compile(r"()([^ \n]+)"),
    "brackets": re.compile(r"(\([^\s()]+ )([^\s()]+)(?=\))"),
    "conllu": re.compile(r"(^\d+\t)([^\t]+)", re.MULTILINE),
}


@dataclass(frozen=True)
class _Template:
    """The records of a pair, with `%s` in the place of each word that changes."""

    records: tuple[tuple[str, int], ...]  # for each file, and which words it takes: source, target or none
    kinds: tuple[Kind, ...]  # of the places, as the source side has them
    target: tuple[int, ...]  # the same places as the target side has them


def varied(
    pairs: Sequence[SamplePair], formats: Mapping[str, str], records: Callable[[SamplePair], Sequence[str]]
) -> Iterator[list[str]]:
    """Yield records of varied pairs without end.

    A pair has one record for each file. Every run yields the same records.

    `formats` maps the suffix of each file to its format. `records` returns the content of a pair for these files.
    """
    places = [_places(pair) for pair in pairs]
    known: dict[Kind, dict[tuple[str, str], None]] = {}
    for pair, found in zip(pairs, places, strict=True):
        for (i, j), kind in found.items():
            known.setdefault(kind, {})[pair.source[i], pair.target[j]] = None
    choices = {kind: list(words) for kind, words in known.items()}
    templates = [_template(formats, records(pair), found) for pair, found in zip(pairs, places, strict=True)]
    draw = Random(1).random
    for template in cycle(templates):
        chosen = [words[int(draw() * len(words))] for words in (choices[kind] for kind in template.kinds)]
        given = tuple(word for word, _ in chosen), tuple(chosen[place][1] for place in template.target), ()
        yield [record % given[which] for record, which in template.records]


def _places(pair: SamplePair) -> dict[tuple[int, int], Kind]:
    """Return the places where other nouns can stand: words that are linked only with each other.

    They are in source order.
    """
    links = sorted(pair.alignment)
    sources, targets = [i for i, _ in links], [j for _, j in links]
    found: dict[tuple[int, int], Kind] = {}
    for i, j in links:
        tags = pair.source_tree.tags[i], pair.target_tree.tags[j]
        if tags in NOUNS and sources.count(i) == targets.count(j) == 1:
            found[i, j] = (*tags, VOWEL.match(pair.target[j]) is not None)
    return found


def _template(formats: Mapping[str, str], records: Sequence[str], places: Mapping[tuple[int, int], Kind]) -> _Template:
    source, target = {i for i, _ in places}, sorted(j for _, j in places)
    of_target = {j: place for place, (_, j) in enumerate(places)}
    made = []
    for (suffix, format), record in zip(formats.items(), records, strict=True):
        escaped = record.replace("%", "%%")
        if format in WORD:
            side = 0 if suffix.startswith(".zh") else 1
            made.append((_with_places(escaped, WORD[format], (source, target)[side]), side))
        else:
            made.append((escaped, 2))
    return _Template(tuple(made), tuple(places.values()), tuple(of_target[j] for j in target))


def _with_places(record: str, word: re.Pattern[str], places: Collection[int]) -> str:
    """Return a record in which `%s` replaces the words at these places."""
    number = count()
    return word.sub(lambda found: found[1] + ("%s" if next(number) in places else found[2]), record)
