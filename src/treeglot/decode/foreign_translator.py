"""Other decoders' grammars and weights, decoded by their definitions: what passes through, what is glued, limits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from treeglot import _core
from treeglot.decode.foreign import Decoder, ForeignWeights
from treeglot.decode.search import SearchOptions
from treeglot.decode.search_forest import SearchForest
from treeglot.decode.translation import Derivation, Hypothesis, Translation
from treeglot.decode.translator import Source, Translator

if TYPE_CHECKING:
    from treeglot.lm import NgramModel

MARKS = frozenset({"<s>", "</s>"})
OWN = " "  # what our own features' names begin with here: no feature of a grammar has a blank in its name
PassThrough: TypeAlias = Literal["none", "unknown", "all"]
PASS_THROUGH = {
    "none": _core.PassThrough.none,
    "unknown": _core.PassThrough.unknown,
    "all": _core.PassThrough.all,
}


@dataclass(frozen=True)
class Definition:
    """What a decoder does unless it is told otherwise."""

    span_limit: int
    per_source: int
    pass_through: PassThrough
    glued: str  # the label that glue joins; empty: all
    goal: str  # the label of sentences, where the grammar's rules may have it too


DEFINITIONS: Mapping[Decoder, Definition] = {
    # --scfg_max_span_limit 10, --scfg_default_nt X, --goal S; pass-through rules are for all words.
    "cdec": Definition(10, 0, "all", "X", "S"),
    # -maxspan 20, true_oovs_only = false, goal_symbol = GOAL.
    "joshua": Definition(20, 0, "all", "", "GOAL"),
    # max-chart-span 20, table-limit 20; unknown words are those without a rule.
    "moses": Definition(20, 20, "unknown", "", ""),
}


@dataclass(frozen=True)
class Line:
    """What of a line is to be translated, why it is not, and what is to be counted."""

    source: Source
    problem: str = ""
    notes: tuple[str, ...] = ()


def input_line(line: str, decoder: Decoder) -> Line:
    """A line as another decoder reads it: cdec's and Joshua's may have a reference, cdec's a tag.

    >>> input_line('<seg id="0">das Haus</seg> ||| the house', "cdec").source
    'das Haus'
    """
    if decoder == "moses":
        return Line(line)
    text, bars, _ = line.partition("|||")
    notes = ("the reference after ||| is not used",) if bars else ()
    segment = None
    if decoder == "cdec" and (segment := re.fullmatch(r'\s*<seg((?:\s+[\w-]+="[^"]*")*)\s*>(.*)</seg>\s*', text)):
        if grammar := re.search(r'grammar\w*="[^"]*"', segment[1]):
            return Line("", f"{grammar[0]} is a grammar of the sentence's own; expected rules in --grammar alone")
        text = segment[2]
    return Line(text.strip() if bars or segment else line, notes=notes)


class ForeignTranslator:
    """Translates with a grammar and weights of another decoder; scores and features are in its terms.

    `options` say how to search; `span_limit` and `per_source` are the other decoder's when `options` are not
    given. `pass_through` says which words may be their own translation, `glue` whether the built-in glue rules are
    there: without them a grammar has to have its own. If those have <s> and </s>, so has every sentence.
    """

    def __init__(
        self,
        table: _core.RuleTable,
        weights: ForeignWeights,
        lm: NgramModel | None = None,
        options: SearchOptions | None = None,
        *,
        pass_through: PassThrough | None = None,
        glue: bool = True,
    ) -> None:
        definition, settings = DEFINITIONS[weights.decoder], weights.settings
        marked = not glue and not MARKS.isdisjoint(table.source_words)
        self.foreign = replace(weights, glue=glue, marked=marked)
        self.grammar = frozenset(table.features)
        self.options = options or search_options(weights)
        passing = PASS_THROUGH[pass_through or definition.pass_through]

        def setup(features: _core.FeatureSet, search: SearchOptions) -> _core.Matcher:
            if weights.decoder == "cdec":
                features.add_unknown_lengths()
            if lm is not None:
                features.add_ngram(lm.core, marked)
            goal, passed = settings.goal or definition.goal, settings.passed or definition.glued
            return _core.ChartMatcher(
                features, search.span_limit, passing, glue, definition.glued, goal, passed=passed, marked=marked
            )

        ours = self.foreign.ours(self.grammar, OWN)
        self.translator = Translator(table, ours, None, self.options, setup, prefix=OWN)

    @property
    def unknown_weights(self) -> list[str]:
        """Names in the weights that no feature has, as the file has them."""
        unknown, terms = set(self.translator.unknown_weights), self.foreign.terms
        if not self.foreign.glue:  # nothing but the built-in rules fires it
            unknown.add(OWN + "glue")
        return [
            name
            for name in self.foreign.weights
            if name not in self.grammar and (name not in terms or unknown.issuperset(OWN + of for of in terms[name].of))
        ]

    @property
    def left_out(self) -> int:
        """Rules that are never used, for they would close a circle of labels."""
        return self.translator.left_out

    def translate(self, source: Source) -> Translation:
        """Translate one sentence, its tokens separated by blanks."""
        return self.translate_all([source])[0]

    def translate_all(
        self, sources: Iterable[Source], kbest: int = 1, distinct: bool = False, threads: int = 1
    ) -> list[Translation]:
        """Translate sentences; the result is the same for any number of threads."""
        given = list(sources)
        lines = [self._line(source) for source in given]
        return [
            Translation(
                source if isinstance(source, str) else found.source,
                [self._theirs(hypothesis) for hypothesis in found.hypotheses],
                line.problem or found.problem,
                found.seconds,
                _Again(self, found),
                line.notes + found.notes,
                found.tree,
            )
            for source, line, found in zip(
                given,
                lines,
                self.translator.translate_all([line.source for line in lines], kbest, distinct, threads),
                strict=True,
            )
        ]

    def _line(self, source: Source) -> Line:
        return input_line(source, self.foreign.decoder) if isinstance(source, str) else Line(source)

    def _theirs(self, hypothesis: Hypothesis) -> Hypothesis:
        features = self.foreign.features(hypothesis.features, prefix=OWN)
        if self.foreign.marked:
            hypothesis = _unmarked(hypothesis)
        return replace(hypothesis, score=hypothesis.score + self.foreign.constant, features=features)


def _unmarked(hypothesis: Hypothesis) -> Hypothesis:
    """Without <s> and </s> in the text; spans count the sentence's words."""
    words = hypothesis.text.split(" ")
    begin = 1 if words[0] == "<s>" else 0
    end = len(words) - (1 if len(words) > begin and words[-1] == "</s>" else 0)
    spans = _unmarked_spans([step.span for step in hypothesis.derivation.steps])
    steps = tuple(replace(step, span=span) for step, span in zip(hypothesis.derivation.steps, spans, strict=True))
    text, given_by = " ".join(words[begin:end]), hypothesis.given_by[begin:end]
    return replace(hypothesis, text=text, derivation=Derivation(steps), given_by=given_by)


def _unmarked_spans(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans of a whole sentence, <s> and </s> among its words, as those without."""
    last = max(end for _, end in spans) - 2
    return [(min(max(begin - 1, 0), last), min(max(end - 1, 0), last)) for begin, end in spans]


class _Again:
    def __init__(self, translator: ForeignTranslator, found: Translation) -> None:
        self.translator = translator
        self.found = found
        self.source = found.given

    @property
    def words(self) -> Sequence[str]:
        return self.found.words

    def kbest(self, size: int, distinct: bool) -> Sequence[Hypothesis]:
        return [self.translator._theirs(hypothesis) for hypothesis in self.found.kbest(size, distinct)]

    def forest(self, margin: float) -> SearchForest:
        forest, weights = self.found.forest(margin), self.translator.foreign
        if forest.graph.goal is None:
            return forest
        # What the other decoder adds to every sentence is on the edges into the goal.
        last = range(*(int(forest.graph.first_edge[forest.graph.goal + i]) for i in (0, 1)))
        import numpy as np

        scores = np.array(forest.scores)
        scores[last.start : last.stop] += weights.constant
        features = tuple(weights.features(values, edge in last, OWN) for edge, values in enumerate(forest.features))
        spans = tuple(_unmarked_spans(forest.spans)) if weights.marked else forest.spans
        return replace(forest, scores=scores, features=features, spans=spans)


def search_options(weights: ForeignWeights) -> SearchOptions:
    """The limits of another decoder, its configuration's if that has them; the pop limit is ours.

    >>> search_options(ForeignWeights("cdec", {})).span_limit
    10
    """
    definition, settings = DEFINITIONS[weights.decoder], weights.settings
    per_source = definition.per_source if settings.per_source is None else settings.per_source
    return SearchOptions(span_limit=settings.span_limit or definition.span_limit, per_source=per_source)
