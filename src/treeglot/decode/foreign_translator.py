"""Other decoders' grammars and weights, decoded by their definitions: what passes through, what is glued, limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from treeglot import _core
from treeglot.base.errors import UsageError
from treeglot.decode.foreign import Decoder, ForeignWeights
from treeglot.decode.search import SearchOptions
from treeglot.decode.search_forest import SearchForest
from treeglot.decode.translation import Hypothesis, Translation
from treeglot.decode.translator import Source, Translator

if TYPE_CHECKING:
    from treeglot.lm import NgramModel

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


class ForeignTranslator:
    """Translates with a grammar and weights of another decoder; scores and features are in its terms.

    `options` say how to search; of those, `span_limit` and `per_source` are the other decoder's when `options` are not
    given. `pass_through` says which words may be their own translation, `glue` whether the built-in glue rules are
    there: without them a grammar has to have its own.
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
        definition = DEFINITIONS[weights.decoder]
        marks = sorted({"<s>", "</s>"}.intersection(table.source_words)) if not glue else []
        if marks:
            goal = definition.goal or "S"
            raise UsageError(
                f"the grammar has rules with {marks[-1]}, which is in no input here: without the built-in glue a "
                f"grammar needs glue rules such as [{goal}] ||| [X,1] and [{goal}] ||| [{goal},1] [X,2]"
            )
        self.foreign = replace(weights, glue=glue)
        self.grammar = frozenset(table.features)
        self.options = options or search_options(weights.decoder)
        passing = PASS_THROUGH[pass_through or definition.pass_through]

        def setup(features: _core.FeatureSet, search: SearchOptions) -> _core.Matcher:
            if weights.decoder == "cdec":
                features.add_unknown_lengths()
            return _core.ChartMatcher(features, search.span_limit, passing, glue, definition.glued, definition.goal)

        ours = self.foreign.ours(self.grammar, OWN)
        self.translator = Translator(table, ours, lm, self.options, setup, prefix=OWN)

    @property
    def unknown_weights(self) -> list[str]:
        """Names in the weights that no feature has, as the file has them."""
        unknown, terms = set(self.translator.unknown_weights), self.foreign.terms
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
        return [
            Translation(
                found.source,
                [self._theirs(hypothesis) for hypothesis in found.hypotheses],
                found.problem,
                found.seconds,
                _Again(self, found),
                found.notes,
                found.tree,
            )
            for found in self.translator.translate_all(sources, kbest, distinct, threads)
        ]

    def _theirs(self, hypothesis: Hypothesis) -> Hypothesis:
        features = self.foreign.features(hypothesis.features, prefix=OWN)
        return replace(hypothesis, score=hypothesis.score + self.foreign.constant, features=features)


class _Again:
    def __init__(self, translator: ForeignTranslator, found: Translation) -> None:
        self.translator = translator
        self.found = found
        self.source = found.given

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
        return replace(forest, scores=scores, features=features)


def search_options(decoder: Decoder) -> SearchOptions:
    """The limits of another decoder; the pop limit is ours.

    >>> search_options("cdec").span_limit
    10
    """
    definition = DEFINITIONS[decoder]
    return SearchOptions(span_limit=definition.span_limit, per_source=definition.per_source)
