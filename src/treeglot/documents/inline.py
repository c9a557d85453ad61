"""Translates text with inline elements, and places the elements in the translation.

A segment is a list of items: text, the beginnings and ends of elements, and objects that stay as they are. Each word
of a translation takes the elements of the source words that the derivation links it to.
"""

from __future__ import annotations

import warnings
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from treeglot.base.errors import UsageError
from treeglot.decode import Translation
from treeglot.text import TextPipeline
from treeglot.text.protected import Place, Protected, addresses, stays

DEEPEST = 50  # elements within each other


@dataclass(frozen=True, eq=False)
class Begin:
    """The beginning of an element. An element that is `whole` must not appear twice."""

    tag: Any
    whole: bool = False


@dataclass(frozen=True, eq=False)
class End:
    """The end of the element that was begun last. In the output, it has the tag of that element."""

    tag: Any = None


@dataclass(frozen=True, eq=False)
class Object:
    """An item that is not translated. `text` is the word that represents it in the sentence, or empty."""

    tag: Any
    text: str = ""


Item = str | Begin | End | Object


def pairs(items: Sequence[Item], same: Callable[[Begin, End], bool]) -> dict[int, int]:
    """Return the partner of each beginning and each end of an element, by place.

    Elements that contain an unpaired tag, or that are nested too deeply, are broken and left out.
    """
    found: dict[int, int] = {}
    opened: list[tuple[int, Begin]] = []
    alone: list[int] = []
    for place, item in enumerate(items):
        if isinstance(item, Begin):
            opened.append((place, item))
            if len(opened) > DEEPEST:
                alone.append(opened.pop()[0])
        elif isinstance(item, End):
            if opened and same(opened[-1][1], item):
                found[opened.pop()[0]] = place
            else:
                alone.append(place)
    alone = sorted([*alone, *(place for place, _ in opened)])
    whole = {a: b for a, b in found.items() if bisect_left(alone, a) == bisect_left(alone, b)}
    return whole | {b: a for a, b in whole.items()}


class Translates(Protocol):
    """The interface of a model that takes text."""

    @property
    def text(self) -> TextPipeline | None:
        """The pipeline that converts text to words and back."""
        ...

    def translate_batch(
        self, sources: Any, kbest: int = ..., distinct: bool = ..., threads: int = ...
    ) -> list[Translation]:
        """Translate texts, and return their translations in order."""
        ...


def translate_segments(model: Translates, segments: Sequence[list[Item]], threads: int = 1) -> list[list[Item]]:
    """Translate segments with a model, and return the translated segments."""
    if model.text is None:
        raise UsageError("the model takes words, which no document has; expected one trained with --languages")
    flat = [_Flat.of(items) for items in segments]
    wanted = [i for i, each in enumerate(flat) if any(c.isalnum() for c in each.text)]
    found = model.translate_batch([flat[i].protected for i in wanted], threads=threads)
    out = list(segments)
    for i, translation in zip(wanted, found, strict=True):
        problem = next((one.problem for one in translation.sentences if one.problem), "")
        if problem:
            warnings.warn(f"{flat[i].text[:40]!r} stays as it is: {problem}", stacklevel=3)
        elif len(translation.source_tokens):
            out[i] = list(_rendered(_units(flat[i], translation), flat[i], translation.text))
    return out


@dataclass
class _Element:
    begin: Begin
    parent: int  # the element around it; -1 for none
    place: Place


@dataclass
class _Flat:
    """A segment as plain text, with the places of its elements and objects. The element -1 surrounds everything."""

    text: str = ""
    elements: list[_Element] = field(default_factory=list)
    objects: list[tuple[Object, int, Place]] = field(default_factory=list)  # with the elements around them
    inner: list[int] = field(default_factory=list)  # by character: the innermost element

    @staticmethod
    def of(items: Sequence[Item]) -> _Flat:
        flat = _Flat()
        parts: list[str] = []
        at, current = 0, -1
        for item in items:
            if isinstance(item, Begin):
                flat.elements.append(_Element(item, current, (at, at)))
                current = len(flat.elements) - 1
            elif isinstance(item, End):
                element = flat.elements[current]
                element.place = element.place[0], at
                current = element.parent
            else:
                text = item.text if isinstance(item, Object) else item
                if isinstance(item, Object):
                    flat.objects.append((item, current, (at, at + len(text))))
                parts.append(text)
                flat.inner += [current] * len(text)
                at += len(text)
        flat.text = "".join(parts)
        return flat

    @property
    def protected(self) -> Protected:
        """The text for the model, with the parts that must stay unchanged."""
        own = [place for _, _, place in self.objects if place[0] < place[1]]
        pages = set(addresses(self.text))
        free = [
            (a, b)
            for a, b in stays(self.text)
            if self._is_free(a, b, own) and ((a, b) in pages or len(set(self.inner[a:b])) == 1)
        ]
        return Protected(self.text, tuple(sorted(own + free)))

    @staticmethod
    def _is_free(begin: int, end: int, taken: Sequence[Place]) -> bool:
        """Return whether a span overlaps none of these places, which are sorted."""
        after = bisect_left(taken, (begin, begin))
        return not (after and taken[after - 1][1] > begin) and not (after < len(taken) and taken[after][0] < end)

    def path(self, element: int) -> list[int]:
        """Return the elements around an element, outermost first, and the element itself."""
        out: list[int] = []
        while element >= 0:
            out.append(element)
            element = self.elements[element].parent
        return out[::-1]

    def common(self, left: int, right: int) -> int:
        """Return the innermost element that contains both elements."""
        shared = -1
        for a, b in zip(self.path(left), self.path(right), strict=False):
            if a != b:
                break
            shared = a
        return shared


@dataclass
class _Unit:
    """A word of the translation, an object, or the place of an element without words."""

    element: int
    place: Place  # in the translation
    item: Object | None = None
    space: str = ""  # after it
    text: str | None = None  # what stays, with its own blanks; else the translation has it


def _units(flat: _Flat, translation: Translation) -> list[_Unit]:
    """Split the translation into units, in order."""
    source, target = translation.source_tokens.spans, translation.target_tokens.spans
    elements = [flat.inner[begin] for begin, _ in source]
    links: list[list[int]] = [[] for _ in target]
    for i, j in translation.alignment:
        links[j].append(i)
    objects = {place: n for n, (_, _, place) in enumerate(flat.objects) if place[0] < place[1]}
    own: list[int] = []
    for sentence in translation.sentences:
        size = len(sentence.best.given_by)
        own += _elements_of_words(flat, elements, links[len(own) : len(own) + size])
    units = [_Unit(element, place) for element, place in zip(own, target, strict=True)]
    placed: set[int] = set()
    for unit, linked in zip(units, links, strict=True):
        number = objects.get(source[linked[0]]) if len(linked) == 1 else None
        if number is not None and number not in placed:
            unit.item, unit.element, _ = flat.objects[number]
            placed.add(number)
        if len(linked) == 1:
            kept = flat.text[slice(*source[linked[0]])]
            if translation.text[slice(*unit.place)] == "\u00a0".join(kept.split()):
                unit.text = kept
    before: list[list[_Unit]] = [[] for _ in range(len(units) + 1)]
    anchors = _Anchors(flat.text, translation)
    for number, (item, element, (at, _)) in enumerate(flat.objects):
        if number not in placed:
            anchors.put(_Unit(element, (0, 0), item), at, before)
    for number in _missing(flat, [*units, *(unit for found in before for unit in found)]):
        anchors.put(_Unit(number, (0, 0)), flat.elements[number].place[0], before, space=False)
    out: list[_Unit] = []
    for place, found in enumerate(before):
        out += [*sorted(found, key=lambda each: each.place), *units[place : place + 1]]
    _make_whole(flat, out)
    for number in _missing(flat, out):
        paths = [flat.path(unit.element) for unit in out]
        above = reversed(flat.path(flat.elements[number].parent))
        beside = next((i for around in above for i, path in enumerate(paths) if around in path), 0)
        out.insert(beside, _Unit(number, (out[beside].place[0],) * 2))
    return out


def _missing(flat: _Flat, units: Sequence[_Unit]) -> Iterator[int]:
    """Yield the elements that have no unit. Inner elements come first, because they include their parents."""
    used = {element for unit in units for element in flat.path(unit.element)}
    for number in range(len(flat.elements) - 1, -1, -1):
        if number not in used:
            used |= set(flat.path(number))
            yield number


def _elements_of_words(flat: _Flat, elements: list[int], links: list[list[int]]) -> list[int]:
    """Return the element of each target word: the one that contains most of its source words.

    A word without links belongs to the innermost element around both of its neighbours.
    """
    own = [Counter(elements[i] for i in linked).most_common(1)[0][0] if linked else None for linked in links]
    linked = [element for element in own if element is not None]
    if not linked:
        return [-1] * len(own)
    right, after = [], linked[-1]  # by word, from the last: the element of the next that has links
    for here in reversed(own):
        after = after if here is None else here
        right.append(after)
    out: list[int] = []
    for here, following in zip(own, reversed(right), strict=True):
        out.append(flat.common(out[-1] if out else following, following) if here is None else here)
    return out


def _make_whole(flat: _Flat, units: list[_Unit]) -> None:
    """Restrict each element that may appear only once to one run of words, its longest."""
    within: dict[int, list[int]] = defaultdict(list)
    for place, unit in enumerate(units):
        for element in flat.path(unit.element):
            within[element].append(place)
    for number in (n for n, element in enumerate(flat.elements) if element.begin.whole):  # outer ones come first
        inside = [i for i in within[number] if number in flat.path(units[i].element)]
        parent = flat.elements[number].parent
        runs: list[list[int]] = []
        for i in inside:
            if runs and runs[-1][-1] == i - 1:
                runs[-1].append(i)
            else:
                runs.append([i])
        if len(runs) < 2:
            continue
        above = {-1, *flat.path(parent)}
        gaps = sorted(set(range(inside[0], inside[-1])) - set(inside))
        if all(units[i].element in above and units[i].item is None for i in gaps):
            for i in gaps:
                units[i].element = number
            continue
        kept = max(runs, key=len)
        for i in (i for run in runs if run is not kept for i in run):
            units[i].element = parent


class _Anchors:
    """Places items without words beside the translations of their neighbours."""

    def __init__(self, text: str, translation: Translation) -> None:
        self.text, self.end = text, len(translation.text)
        self.source, self.target = translation.source_tokens.spans, translation.target_tokens.spans
        self.begins = [begin for begin, _ in self.source]
        first: dict[int, int] = {}  # by source word: its first and its last target word
        last: dict[int, int] = {}
        for i, j in translation.alignment:
            first[i] = min(first.get(i, j), j)
            last[i] = max(last.get(i, j), j)
        # By source word: the target words where an item before it, and one after it, is placed.
        self.before: list[int] = [len(self.target)] * (len(self.source) + 1)
        self.after: list[int] = [0] * (len(self.source) + 1)
        for i in range(len(self.source) - 1, -1, -1):
            self.before[i] = first.get(i, self.before[i + 1])
        for i in range(len(self.source)):
            self.after[i + 1] = last[i] + 1 if i in last else self.after[i]

    def put(self, unit: _Unit, at: int, before: list[list[_Unit]], space: bool = True) -> None:
        """Place a unit before a target word. `at` is the position of the unit in the source."""
        following = bisect_left(self.begins, at)
        glued = following > 0 and self.source[following - 1][1] == at
        touches = following < len(self.source) and self.begins[following] == at
        if glued and (not touches or not self.text[at].isalnum()):  # as a mark of a footnote before a full stop
            place = self.after[following]
            here = self.target[place - 1][1] if place else 0
        else:
            place = self.before[following]
            here = self.target[place][0] if place < len(self.target) else self.end
            if space and place < len(self.target) and self.text[at : at + 1].isspace():
                unit.space = " "
        unit.place = here, here
        before[place].append(unit)


def _rendered(units: list[_Unit], flat: _Flat, text: str) -> Iterator[Item]:
    """Turn units into items. An item between two words belongs to the innermost element around both."""
    at = 0
    opened: list[int] = []
    for unit in units:
        path = flat.path(unit.element)
        shared = 0
        while shared < min(len(path), len(opened)) and path[shared] == opened[shared]:
            shared += 1
        yield from (End(flat.elements[number].begin.tag) for number in reversed(opened[shared:]))
        yield text[at : unit.place[0]]
        yield from (flat.elements[number].begin for number in path[shared:])
        opened = path
        word = text[unit.place[0] : unit.place[1]] if unit.text is None else unit.text
        yield unit.item if unit.item is not None else word
        yield unit.space
        at = max(at, unit.place[1])
    yield from (End(flat.elements[number].begin.tag) for number in reversed(opened))
    yield text[at:]
