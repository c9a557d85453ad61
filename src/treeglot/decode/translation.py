"""Translations: their text, and the derivations that explain it."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, Protocol, runtime_checkable

from treeglot import _core
from treeglot._core import Derivation, Hypergraph, Hypothesis, Tokens
from treeglot.decode.confidence import Confidence
from treeglot.graph.arrays import Floats, floats
from treeglot.syntax import Alignment, Dependency
from treeglot.syntax.lattice import Lattice


def tokens(text: str) -> list[str]:
    """Return the tokens of a sentence, split at blanks only. A token may contain other spaces.

    >>> tokens(" 10\u00a0000  men ")
    ['10\xa0000', 'men']
    """
    return [token for token in text.split(" ") if token]


@dataclass(frozen=True, eq=False, repr=False)
class SearchForest:
    """The search forest of a sentence: a hypergraph whose derivations are translations.

    Its nodes are hypotheses. So the same label and span can occur with several states of the language model. The score
    and the features of a derivation are sums over its edges. `treeglot.graph` provides the algorithms: k-best lists,
    posteriors, samples, pruning.
    """

    graph: Hypergraph
    scores: Floats  # by edge
    labels: tuple[str, ...]  # by node
    spans: tuple[tuple[int, int], ...]  # by node: the source words covered, half open
    rules: tuple[str, ...]  # by edge: [X] ||| das [X,1] ||| the [X,1]
    features: tuple[dict[str, float], ...]  # by edge

    @staticmethod
    def of(found: _core.SearchGraph | None) -> SearchForest:
        """Build the forest from the search graph of a translation. An empty line has an empty forest."""
        if found is None:
            return SearchForest(Hypergraph.from_arrays([0], [0], [], None), floats([]), (), (), (), ())
        labels, spans, rules = tuple(found.labels), tuple(found.spans), tuple(map(str, found.steps))
        return SearchForest(found.graph, floats(found.scores), labels, spans, rules, tuple(found.features))

    @property
    def names(self) -> list[str]:
        """The name of each node, such as `X 0-2`."""
        return [f"{label} {begin}-{end}" for label, (begin, end) in zip(self.labels, self.spans, strict=True)]

    def to_json(self) -> str:
        """Return one line of JSON in the format of docs/formats.md. Nodes are labelled `X 0-2`."""
        tails = self.graph.tails.tolist()
        edges = [tails[begin:end] for begin, end in pairwise(self.graph.first_tail.tolist())]
        document = {
            "goal": self.graph.goal,
            "nodes": [edges[begin:end] for begin, end in pairwise(self.graph.first_edge.tolist())],
            "scores": [None if score == -math.inf else score for score in self.scores.tolist()],
            "node_labels": self.names,
            "edge_labels": self.rules,
            "edge_features": self.features,
        }
        return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    def __repr__(self) -> str:
        return f"<SearchForest of {self.graph.nodes:,} nodes, {self.graph.edges:,} edges>"

    def _repr_html_(self) -> str:
        from treeglot.decode.draw import forest_html

        return forest_html(self)


class More(Protocol):
    """The interface of a translator that can search a sentence again for more hypotheses."""

    def kbest(self, of: Translation, size: int, distinct: bool) -> tuple[Hypothesis, ...]:
        """Return the best derivations of a translation."""
        ...

    def forest(self, of: Translation, margin: float) -> SearchForest:
        """Return all derivations of a translation, as a forest."""
        ...


@runtime_checkable
class Judge(Protocol):
    """The interface of a model that estimates the confidence of a translation."""

    def confidence(self, of: Translation) -> Confidence:
        """Return the confidence of the translation and of its words."""
        ...


@dataclass(frozen=True)
class Texts:
    """The texts of a translation: both sides with the positions of words, and the sentences if there are several."""

    source: Tokens
    target: Tokens
    sentences: tuple[Translation, ...] = ()


class UsedTerm(NamedTuple):
    """A term that was used: from a glossary, from markup, or for protected text."""

    span: tuple[int, int]  # source words, half open
    source: str
    target: str
    entry: int  # the number of the glossary's entry, from 0; -1: none


class Translation(_core.Translation):
    """The translation of one sentence. An empty line translates to an empty text, without a derivation.

    A model of text also translates texts of several sentences. `sentences` then contains their translations, and the
    score of the text is the sum of their scores. Only the translations of single sentences have derivations. You can
    pickle a translation with its hypotheses. The copy has no decoder, so it cannot search for more.
    """

    def __init__(
        self, found: _core.Translation, more: More | None = None, source: str | None = None, texts: Texts | None = None
    ) -> None:
        super().__init__(found)
        self._more = more
        self._source = source
        self._texts = texts

    def with_texts(self, texts: Texts) -> Translation:
        """Return a copy of the translation with the given texts."""
        return Translation(self, self._more, texts.source.text, texts)

    def with_hypotheses(self, hypotheses: Sequence[Hypothesis]) -> Translation:
        """Return a copy of the translation with these hypotheses, best first."""
        fields = self.problem, self.notes, self.tree, self.seconds, self.marks, self.asked
        words = self.words
        if isinstance(self.given, Lattice) and hypotheses:
            words = self.given.words_on(hypotheses[0].path)
        found = _core.Translation(self.given, words, list(hypotheses), *fields)
        return Translation(found, self._more, self._source, self._texts)

    @property
    def source(self) -> str:
        """The translated input as a line. For a lattice, it is the path of the best translation."""
        given = self.given
        if self._source is not None or isinstance(given, str):
            return str(given) if self._source is None else self._source
        words = self.words if isinstance(given, Lattice) else given if isinstance(given, list) else given.words
        return " ".join(words)

    @property
    def best(self) -> Hypothesis:
        """The hypothesis with the best score, which gives the text."""
        return self.hypotheses[0] if self.hypotheses else Hypothesis("", 0.0, {}, Derivation())

    @property
    def text(self) -> str:
        """The output text. Models of tokenised text give the words, separated by blanks."""
        return self._texts.target.text if self._texts is not None else self.best.text

    @property
    def sentences(self) -> tuple[Translation, ...]:
        """The translations of the text's sentences. For a single sentence, the list contains only this translation."""
        return (self._texts.sentences if self._texts is not None else ()) or (self,)

    @property
    def source_tokens(self) -> Tokens:
        """The words of `source` as they were given, each with its character span."""
        return self._texts.source if self._texts is not None else place_words(self.words)

    @property
    def target_tokens(self) -> Tokens:
        """The words of `text`, each with its character span."""
        return self._texts.target if self._texts is not None else place_words(tokens(self.best.text))

    @property
    def alignment(self) -> Alignment:
        """Word links from the alignments of the rules. A rule without an alignment links all its words."""
        found: list[tuple[int, int]] = []
        source = target = 0
        for sentence in self.sentences:
            found += [(source + i, target + j) for i, j in links(sentence.best)]
            source += len(sentence.source_tokens)
            target += len(sentence.target_tokens)
        return Alignment(found)

    @property
    def terms(self) -> tuple[UsedTerm, ...]:
        """The given translations that were used, in the order of the source."""
        found: list[UsedTerm] = []
        offset = 0
        for sentence in self.sentences:
            found += _used_terms(sentence, offset)
            offset += len(sentence.words)
        return tuple(found)

    @property
    def score(self) -> float:
        """The score of the best hypothesis (natural log)."""
        return self.best.score

    @property
    def features(self) -> dict[str, float]:
        """The features of the best derivation, with their values."""
        return self.best.features

    @property
    def dependency(self) -> Dependency | None:
        """The dependency tree of the text, if the model makes one."""
        return self.best.dependency

    @property
    def derivation(self) -> Derivation:
        """The rules behind the best translation, and where each was used."""
        return self.best.derivation

    def kbest(self, size: int, distinct: bool = False) -> tuple[Hypothesis, ...]:
        """Return the best `size` derivations, or with `distinct` the best one of each text. There can be fewer.

        If this was the last sentence translated alone, its search is still available. Other sentences are searched
        again.
        """
        return self._asked().kbest(self, size, distinct) if self.hypotheses else ()

    def forest(self, margin: float = math.inf) -> SearchForest:
        """Return all derivations that the search kept, or those within `margin` (natural logarithm) of the best.

        The search is repeated unless it was the last one, as for `kbest`. An empty line has an empty forest. A refused
        line raises ValueError.
        """
        return self._asked().forest(self, margin) if self.hypotheses or self.problem else SearchForest.of(None)

    @property
    def confidence(self) -> float:
        """The calibrated probability that the translation is good.

        For several sentences, it is the lowest value of any sentence.

        *Good* means a chrF of at least the median of the sentences given to `treeglot confidence`.
        """
        return min((each._confidence.sentence for each in self.sentences), default=1.0)

    @property
    def word_confidence(self) -> tuple[float, ...]:
        """The calibrated probabilities that a reference contains each of the `target_tokens`."""
        return tuple(p for each in self.sentences for p in each._confidence.words)

    @cached_property
    def _confidence(self) -> Confidence:
        if not self.hypotheses:
            return Confidence(0.0 if self.problem else 1.0, ())
        judge = self._asked()
        if not isinstance(judge, Judge):
            raise ValueError("translations by other decoders' files have no confidence; expected those of a model")
        return judge.confidence(self)

    def left_out(self, note: str) -> Translation:
        """Return a copy of the translation without its output, and with a note that gives the reason."""
        notes = (*self.notes, note)
        found = _core.Translation(self.given, self.words, [], self.problem, notes, self.tree, self.seconds)
        return Translation(found, self._more, self._source)

    def _asked(self) -> More:
        if len(self.sentences) > 1:
            raise ValueError(f"a text of {len(self.sentences)} sentences; expected one of its `sentences`")
        if self._more is None:
            raise ValueError("this translation comes from a pickle, without its decoder; expected a new translation")
        return self._more

    def __reduce__(self) -> tuple[Any, ...]:
        fields = self.given, self.words, self.hypotheses, self.problem, self.notes, self.tree, self.seconds, self.marks
        return _unpickled, (self._source, self._texts, *fields)

    def _repr_html_(self) -> str:
        from treeglot.decode.draw import to_html

        return to_html(self)

    def _repr_svg_(self) -> str | None:
        from treeglot.decode.draw import to_svg

        return to_svg(self)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        text = self.text if len(self.text) <= 80 else f"{self.text[:79]}…"
        return f"Translation({text!r}, score={self.score:.4f})"


def _unpickled(source: str | None, texts: Texts | None, *fields: Any) -> Translation:
    return Translation(_core.Translation(*fields), None, source, texts)


def place_words(words: Sequence[str]) -> Tokens:
    """Join words with blanks, and record the position of each.

    >>> place_words(["das", "Haus"]).spans
    [(0, 3), (4, 8)]
    """
    ends = list(accumulate(len(word) + 1 for word in words))
    return Tokens(" ".join(words), words, [(end - 1 - len(w), end - 1) for w, end in zip(words, ends, strict=True)])


def join_translations(
    source: str,
    places: Sequence[tuple[int, int]],
    parts: Sequence[Translation],
    spaces: bool,
    kbest: int = 1,
    distinct: bool = False,
    note: str = "",
) -> Translation:
    """Join the translations of a text's sentences, which stand at these positions.

    Text around sentences is kept. Sentences of one line are separated by blanks if the target language has `spaces`.
    There are `kbest` hypotheses. Each combines one hypothesis from the list of every sentence. `note` is an additional
    note.
    """
    text = ""
    words: tuple[list[str], list[str]] = [], []  # of both sides, with their spans
    spans: tuple[list[tuple[int, int]], list[tuple[int, int]]] = [], []
    last = 0
    for (begin, end), part in zip(places, parts, strict=True):
        between = source[last:begin]
        if last and not between.strip(" \u3000"):
            between = (between.replace("\u3000", " ") or " ") if spaces else ""
        text += between
        for side, found, offset in ((0, part.source_tokens, begin), (1, part.target_tokens, len(text))):
            words[side].extend(found.words)
            spans[side].extend((offset + a, offset + b) for a, b in found.spans)
        text += part.text
        last = end
    text += source[last:]
    sides = Tokens(source, words[0], spans[0]), Tokens(text, words[1], spans[1])
    if len(parts) == 1:
        return parts[0].with_texts(Texts(*sides))
    choices = _best_choices([part.hypotheses or (part.best,) for part in parts], kbest, distinct) if parts else []
    folded = [word for part in parts for word in part.words]
    problem = next((part.problem for part in parts if part.problem), "")
    notes = [*dict.fromkeys(each for part in parts for each in part.notes), *([note] if note else [])]
    seconds = sum(part.seconds for part in parts)
    joined = _core.Translation(folded, folded, choices, problem, notes, None, seconds)
    return Translation(joined, None, source, Texts(*sides, tuple(parts)))


def _best_choices(lists: Sequence[Sequence[Hypothesis]], most: int, distinct: bool) -> list[Hypothesis]:
    """Choose one hypothesis from each list, and return the `most` best choices. In each list, the best comes first.

    The best choices of all lists extend the best choices of the first ones, so lists are added one by one.
    """
    kept: list[_Choice] = [_Choice(0.0)]
    for found in lists:
        waiting = [(-(kept[0].score + found[0].score), 0, 0)]  # the choice so far, and its next hypothesis
        seen, texts = {(0, 0)}, set[str]()
        longer: list[_Choice] = []
        while waiting and len(longer) < most:
            negative, before, place = heappop(waiting)
            text = f"{kept[before].text} {found[place].text}" if distinct else ""
            if not distinct or text not in texts:
                longer.append(_Choice(-negative, text, kept[before], found[place]))
                texts.add(text)
            for later in ((before + 1, place), (before, place + 1)):
                if later[0] < len(kept) and later[1] < len(found) and later not in seen:
                    seen.add(later)
                    heappush(waiting, (-(kept[later[0]].score + found[later[1]].score), *later))
        kept = longer
    return [_joined(choice.hypotheses()) for choice in kept]


@dataclass(frozen=True)
class _Choice:
    """A choice of one hypothesis for each of the first sentences."""

    score: float
    text: str = ""  # if texts must differ
    before: _Choice | None = None
    last: Hypothesis | None = None

    def hypotheses(self) -> list[Hypothesis]:
        out: list[Hypothesis] = []
        choice: _Choice | None = self
        while choice is not None and choice.last is not None:
            out.append(choice.last)
            choice = choice.before
        return out[::-1]


def _joined(parts: Sequence[Hypothesis]) -> Hypothesis:
    features: Counter[str] = Counter()
    for part in parts:
        features.update(part.features)
    line = " ".join(part.text for part in parts)
    return Hypothesis(line, sum(part.score for part in parts), dict(features), Derivation())


def links(hypothesis: Hypothesis) -> Iterator[tuple[int, int]]:
    """Yield the source and target words that the alignments of the rules link."""
    by_step = [defaultdict[int, list[int]](list) for _ in hypothesis.derivation.steps]
    for found, step in zip(by_step, hypothesis.derivation.steps, strict=True):
        for source, target in step.links:
            found[target].append(source)
    given: Counter[int] = Counter()  # by step: the words that it has given so far
    for place, number in enumerate(hypothesis.given_by):
        yield from ((source, place) for source in by_step[number][given[number]])
        given[number] += 1


def _used_terms(sentence: Translation, offset: int) -> Iterator[UsedTerm]:
    if not sentence.marks:
        return
    used = {(step.span, step.target) for step in sentence.derivation.steps if step.local}
    for mark in sentence.marks:
        for target in mark.translations:
            if (mark.span, target) in used:
                begin, end = mark.span
                source = " ".join(sentence.words[begin:end])
                yield UsedTerm((begin + offset, end + offset), source, target, mark.entry)
                break


def as_object(
    translation: Translation, number: int | None = None, *, kbest: bool = False, trace: bool = False
) -> dict[str, Any]:
    """Return a translation as a JSON object (docs/formats.md).

    `number` is its place in the input, from 0. `kbest` lists all hypotheses. `trace` adds the derivation of each, and
    its dependency tree if there is one.
    """
    found: dict[str, Any] = {} if number is None else {"number": number}
    found |= {"source": translation.source, **_hypothesis(translation.best, trace), "text": translation.text}
    if translation.text != translation.best.text:
        found["tokens"] = translation.best.text
    if kbest:
        found["kbest"] = [_hypothesis(hypothesis, trace) for hypothesis in translation.hypotheses]
    if translation.terms:
        found["terms"] = [term._asdict() for term in translation.terms]
    if translation.problem:
        found["problem"] = translation.problem
    if translation.notes:
        found["notes"] = list(translation.notes)
    return found


def _hypothesis(hypothesis: Hypothesis, trace: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"text": hypothesis.text, "score": hypothesis.score, "features": hypothesis.features}
    if hypothesis.path:
        found["path"] = hypothesis.path
    if trace:
        found["derivation"] = [
            {"label": s.label, "source": s.source, "target": s.target, "span": s.span, "children": s.children}
            | ({"grammar": s.grammar} if s.grammar else {})  # of a joint model
            for s in hypothesis.derivation.steps
        ]
    if trace and hypothesis.dependency is not None:
        found["heads"], found["tags"] = hypothesis.dependency.heads.tolist(), hypothesis.dependency.tags
    return found


def attach_views() -> None:
    """Attach the notebook views to the types of the core."""

    def html(hypothesis: Hypothesis) -> str:
        from treeglot.decode.draw import hypothesis_html

        return hypothesis_html(hypothesis)

    def svg(derivation: Derivation) -> str | None:
        from treeglot.decode.draw import derivation_svg

        return derivation_svg(derivation)

    Hypothesis._repr_html_ = html  # type: ignore[attr-defined]
    Derivation._repr_svg_ = svg  # type: ignore[attr-defined]
