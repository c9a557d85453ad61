"""Decodes with other decoders' grammars and weights, with their definitions of unknown words, glue and limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from treeglot import _core
from treeglot._core import Dependency, Derivation, Hypothesis, Lattice, LatticeForest, ParseForest, Step
from treeglot.base.errors import TreeglotError, UsageError
from treeglot.decode.search import SearchOptions
from treeglot.decode.translation import SearchForest, Translation
from treeglot.decode.translator import Source, Translator
from treeglot.foreign.input import Line, input_line, input_tree, unmasked
from treeglot.foreign.weights import SOURCE_WORDS, Decoder, ForeignWeights

if TYPE_CHECKING:
    from treeglot.lm import NgramModel

MARKS = frozenset({"<s>", "</s>"})
OWN = " "  # prefix of our own features: names in a grammar have no blanks
UNTRANSLATED = (OWN + "unknown", OWN + "pseudo")
PassThrough: TypeAlias = Literal["none", "unknown", "all"]


@dataclass(frozen=True)
class Definition:
    """The definitions of another decoder: its default limits, glue and treatment of unknown words."""

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
    # Rules of trees: nothing is limited; what no rule translates is translated in source order.
    "travatar": Definition(10, 0, "unknown", "", ""),
}
OPENING = " "  # what brackets of tree fragments begin with, among a table's source words
NO_RULE = -1e6  # the weight of parts of a tree without a rule, which cdec does not translate


class ForeignTranslator:
    """Translates with a grammar and weights of another decoder, with that decoder's scores and features.

    Tree rules translate forests, and trees in brackets.

    `options` are those of the search. By default, `span_limit` and `per_source` have the values of the other decoder.
    `pass_through` defines which words can be copied. `glue` turns the built-in glue rules on. Without them, a grammar
    must have its own, and if these contain <s> and </s>, every sentence is enclosed in these words. `tables` reads the
    grammars that a cdec sentence names. With `own_rules`, the input has such sentences, so not all features are known
    in advance.
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
        tables: Callable[[Sequence[str]], _core.RuleTable] | None = None,
        own_rules: bool = False,
    ) -> None:
        definition, settings = DEFINITIONS[weights.decoder], weights.settings
        self._again_with = (weights, lm, options, pass_through, glue)
        self._tables = tables
        self._own_rules = own_rules
        self._source_words = frozenset(table.source_words)
        marked = not glue and not MARKS.isdisjoint(self._source_words)
        self.trees = trees = translates_trees(table)
        self.foreign = foreign = replace(weights, glue=glue, marked=marked)
        self._marks = marked and not trees
        self.grammar = frozenset(table.features)
        self.options = options or search_options(weights)
        usual = "none" if not settings.passes else "unknown" if settings.only_unknown else definition.pass_through
        passing = pass_through or usual
        glued, goal = settings.glued or definition.glued, settings.goal or definition.goal
        if glue and goal and goal == glued:
            raise UsageError(f"the label of sentences and the one that glue joins are both {goal!r}; expected no glue")

        # Must not refer to self: otherwise a sentence's own rules would outlive their translator.
        def setup(features: _core.FeatureSet, search: SearchOptions) -> _core.Matcher:
            if weights.decoder == "cdec":
                _core.add_unknown_lengths(features)
            if lm is not None and marked:
                _core.add_marked_ngram(features, lm.core)
            elif lm is not None:
                features.add_ngram(lm.core)
            if trees:
                return _core.ForestMatcher(features, None, replace(search, forest_margin=math.inf), pseudo_nodes=True)
            return _core.ForeignMatcher(
                features,
                search,
                _passed(foreign, definition),
                {
                    "pass_through": passing,
                    "glue": glue,
                    "glued": glued,
                    "goal": goal,
                    "marked": marked,
                    "mark": settings.mark,
                    "lengths": weights.decoder == "cdec",
                },
            )

        ours = self.foreign.ours(self.grammar, OWN)
        if self.trees and weights.decoder == "cdec":
            ours |= dict.fromkeys(UNTRANSLATED, NO_RULE)
        self.translator = Translator(table, ours, None, self.options, setup, prefix=OWN)

    @property
    def unknown_weights(self) -> list[str]:
        """Names in the weights that match no feature, as in the file."""
        if self._own_rules:
            return []
        unknown, terms = set(self.translator.unknown_weights), self.foreign.terms
        unknown.discard(OWN + SOURCE_WORDS)
        if not self.foreign.glue:  # nothing but the built-in rules fires it
            unknown.add(OWN + "glue")
        return [
            name
            for name in self.foreign.weights
            if name not in self.grammar and (name not in terms or unknown.issuperset(OWN + of for of in terms[name].of))
        ]

    @property
    def left_out(self) -> int:
        """The number of rules that are never used, because they would close a cycle of labels."""
        return self.translator.left_out

    def translate(self, source: Source) -> Translation:
        """Translate one sentence, its tokens separated by blanks."""
        return self.translate_batch([source])[0]

    def translate_batch(
        self, sources: Iterable[Source], kbest: int = 1, distinct: bool = False, threads: int = 1
    ) -> list[Translation]:
        """Translate sentences. The result is the same for any number of threads."""
        given = list(sources)
        lines = [self._line(source) for source in given]
        plain = ["" if line.grammars else self._marked(line.source) for line in lines]
        return [
            self._translation(source, line, found)
            if not line.grammars
            else self._with_own_rules(source, line, kbest, distinct)
            for source, line, found in zip(
                given, lines, self.translator.translate_batch(plain, kbest, distinct, threads), strict=True
            )
        ]

    def _translation(self, source: Source, line: Line, found: Translation) -> Translation:
        words = found.words[1:-1] if self._marks else found.words
        kept = self._covered(found.hypotheses)
        uncovered = "no derivation covers the tree" if found.hypotheses and not kept else ""
        theirs = _core.Translation(
            line.source,
            words,
            [self._theirs(hypothesis, len(words)) for hypothesis in kept],
            line.problem or found.problem or uncovered,
            line.notes + found.notes,
            found.tree,
            found.seconds,
        )
        return Translation(theirs, _Again(self, found), source if isinstance(source, str) else None)

    def _with_own_rules(self, source: Source, line: Line, kbest: int, distinct: bool) -> Translation:
        try:
            if any("\0" in name for name in line.grammars):
                raise TreeglotError("a file's name with a control character")
            [found] = self.of_sentence(line.grammars).translate_batch([line.source], kbest, distinct)
        except (TreeglotError, OSError) as error:
            said = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)
            refused = _core.Translation(line.source, [], [], f"its own grammar: {said}")
            return Translation(refused, _Later(self, line), str(source))
        notes = line.notes + found.notes
        with_notes = _core.Translation(
            found.given, found.words, found.hypotheses, found.problem, notes, found.tree, found.seconds
        )
        return Translation(with_notes, _Later(self, line), str(source))

    def of_sentence(self, grammars: Sequence[str]) -> ForeignTranslator:
        """Return a translator that also has the rules of the grammars that a sentence names."""
        if self._tables is None:
            raise TreeglotError("rules are not looked for beside those that were given")
        weights, lm, options, pass_through, glue = self._again_with
        return ForeignTranslator(self._tables(grammars), weights, lm, options, pass_through=pass_through, glue=glue)

    def _covered(self, hypotheses: Sequence[Hypothesis]) -> Sequence[Hypothesis]:
        """Drop hypotheses that cdec would not have. In cdec, every node of a tree needs a rule."""
        if not self.trees or self.foreign.decoder != "cdec":
            return hypotheses
        return [h for h in hypotheses if not any(h.features.get(name) for name in UNTRANSLATED)]

    def _line(self, source: Source) -> Line:
        if not isinstance(source, str):
            return Line(source)
        if self.trees:
            return input_tree(source, self.foreign.decoder)
        return input_line(source, self.foreign.decoder, self._source_words, self.options.markup)

    def _marked(self, source: Source) -> Source:
        """Put <s> and </s> around the words, if the rules have them."""
        if not self._marks:
            return source
        if isinstance(source, str):
            begin, end = ("&lt;s&gt;", "&lt;/s&gt;") if self.options.markup else ("<s>", "</s>")
            return f"{begin} {source} {end}" if source.strip(" \t") else source
        if isinstance(source, Lattice | LatticeForest):  # which the decoder refuses
            return source
        words = source.words if isinstance(source, ParseForest | Dependency) else source
        return ["<s>", *words, "</s>"] if words else source

    def _theirs(self, hypothesis: Hypothesis, words: int) -> Hypothesis:
        features = self.foreign.features(hypothesis.features, prefix=OWN, words=words)
        if self.foreign.marked:
            hypothesis = _unmarked(hypothesis)
        text = unmasked(hypothesis.text) if self.foreign.decoder == "joshua" else hypothesis.text
        return Hypothesis(
            text,
            hypothesis.score + self.foreign.added(words),
            features,
            hypothesis.derivation,
            hypothesis.dependency,
            hypothesis.given_by,
        )


def _passed(weights: ForeignWeights, definition: Definition) -> list[tuple[str, float]]:
    """Return the labels of copied words, and the value of the unknown-word feature for each label.

    If there is a list of labels, the value is the logarithm of the label's probability instead of -100. Before version
    6 of Joshua, the weight is negative, and the list gives only labels.
    """
    settings = weights.settings
    if not settings.passed_labels:
        return [(settings.passed or definition.glued or "X", 1.0)]
    counted = weights.decoder == "joshua" and weights.weights.get("OOVPenalty", 0.0) < 0
    labels = settings.passed_labels.items()
    return [(label, 1.0 if counted else max(log, -100.0) / -100.0) for label, log in labels]


def _unmarked(hypothesis: Hypothesis) -> Hypothesis:
    """Remove <s> and </s> from a translation. Spans then count the words of the sentence."""
    words, given_by = hypothesis.text.split(" "), hypothesis.given_by
    begin = 1 if words[0] == "<s>" else 0
    end = len(words) - (1 if len(words) > begin and words[-1] == "</s>" else 0)
    spans = _unmarked_spans([step.span for step in hypothesis.derivation.steps])
    size = max((stop for _, stop in spans), default=0)
    steps = []
    for number, (s, span) in enumerate(zip(hypothesis.derivation.steps, spans, strict=True)):
        first = int(begin and given_by[0] == number)  # <s> is the first word of its rule
        links = [(i - 1, j - first) for i, j in s.links if 0 < i <= size and j >= first]
        steps.append(Step(s.label, s.source, s.target, span, s.children, s.local, s.parse_edges, s.structure, links))
    text, rest = " ".join(words[begin:end]), given_by[begin:end]
    return Hypothesis(text, hypothesis.score, hypothesis.features, Derivation(steps), hypothesis.dependency, rest)


def _unmarked_spans(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Convert spans that count <s> and </s> to spans that do not."""
    last = max(end for _, end in spans) - 2
    return [(min(max(begin - 1, 0), last), min(max(end - 1, 0), last)) for begin, end in spans]


class _Again:
    def __init__(self, translator: ForeignTranslator, found: Translation) -> None:
        self.translator = translator
        self.found = found

    def kbest(self, of: Translation, size: int, distinct: bool) -> tuple[Hypothesis, ...]:
        words = len(of.words)
        kept = self.translator._covered(self.found.kbest(size, distinct))
        return tuple(self.translator._theirs(hypothesis, words) for hypothesis in kept)

    def forest(self, of: Translation, margin: float) -> SearchForest:
        if self.translator.trees and self.translator.foreign.decoder == "cdec":
            margin = min(margin, -NO_RULE / 2)  # without what is translated without a rule
        forest, weights = self.found.forest(margin), self.translator.foreign
        if forest.graph.goal is None:
            return forest
        # What the other decoder adds to every sentence is on the edges into the goal.
        last = range(*(int(forest.graph.first_edge[forest.graph.goal + i]) for i in (0, 1)))
        import numpy as np

        words = len(of.words)
        scores = np.array(forest.scores)
        scores[last.start : last.stop] += weights.added(words)
        features = tuple(weights.features(values, e in last, OWN, words) for e, values in enumerate(forest.features))
        spans = tuple(_unmarked_spans(forest.spans)) if weights.marked else forest.spans
        return replace(forest, scores=scores, features=features, spans=spans)


class _Later:
    """Reads the grammars that a sentence names only when they are needed, so that lists of translations stay small."""

    def __init__(self, translator: ForeignTranslator, line: Line) -> None:
        self.translator = translator
        self.line = line

    def kbest(self, of: Translation, size: int, distinct: bool) -> tuple[Hypothesis, ...]:
        return self._again().kbest(size, distinct)

    def forest(self, of: Translation, margin: float) -> SearchForest:
        return self._again().forest(margin)

    def _again(self) -> Translation:
        return self.translator.of_sentence(self.line.grammars).translate(self.line.source)


def translates_trees(table: _core.RuleTable) -> bool:
    """Return whether the source sides of a table are tree fragments."""
    return any(word.startswith(OPENING) for word in table.source_words)


def search_options(weights: ForeignWeights) -> SearchOptions:
    """Return the limits of the other decoder or of its configuration. The pop limit is Treeglot's own.

    >>> search_options(ForeignWeights("cdec", {})).span_limit
    10
    """
    definition, settings = DEFINITIONS[weights.decoder], weights.settings
    per_source = definition.per_source if settings.per_source is None else settings.per_source
    return SearchOptions(span_limit=settings.span_limit or definition.span_limit, per_source=per_source)
