"""A rule table, language model and weights, put together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from treeglot import _core
from treeglot.decode.search import SearchOptions
from treeglot.decode.search_forest import SearchForest, forest_of
from treeglot.decode.translation import Derivation, Hypothesis, Step, Translation, tokens
from treeglot.syntax import Dependency, ParseForest

if TYPE_CHECKING:
    from treeglot.lm import NgramModel


Source: TypeAlias = str | ParseForest | Dependency
Setup: TypeAlias = Callable[[_core.FeatureSet, SearchOptions], _core.Matcher]


def match_strings(features: _core.FeatureSet, options: SearchOptions) -> _core.Matcher:
    """The set-up of models that translate strings: no features of their own, rules on spans."""
    return _core.ChartMatcher(features, options)


def match_labels(features: _core.FeatureSet, options: SearchOptions) -> _core.Matcher:
    """The set-up of models whose rules carry soft labels: substitutions are scored, rules meet spans."""
    features.add_labels()
    return match_strings(features, options)


class Translator:
    """Translates tokenised sentences, or what a parser made of them.

    `weights` are by feature name: the table's features, `word_penalty`, `rule_penalty`, `glue`, `unknown`, and with a
    language model `lm` (natural log) and `lm_unknown`. Names that no feature has are in `unknown_weights`. `setup` adds
    a model's own features and gives the matcher that meets its input. All names but the table's begin with `prefix`;
    where the table has a feature of the same name, both are one feature, whose values add up.
    """

    def __init__(
        self,
        table: _core.RuleTable,
        weights: Mapping[str, float],
        lm: NgramModel | None = None,
        options: SearchOptions = SearchOptions(),  # noqa: B008 - it is frozen
        setup: Setup = match_strings,
        *,
        prefix: str = "",
    ) -> None:
        self.table = table
        self.lm = lm
        self.options = options
        self.setup = setup
        self.prefix = prefix
        self.weights = dict(weights)
        self._features = features = _core.FeatureSet(table, prefix)
        if lm is not None:
            features.add_ngram(lm.core)
        matcher = setup(features, options)
        self.left_out = matcher.left_out  # rules that are never used, for they would close a circle of labels
        self._decoder = _core.Decoder(features, matcher, list(self.weights.items()), options)
        self._names = self._decoder.features
        self._naming = threading.Lock()

    @property
    def core(self) -> _core.Decoder:
        """The same, in the core."""
        return self._decoder

    def with_weights(self, weights: Mapping[str, float]) -> Translator:
        """The same with other weights: the table and the language model are shared."""
        return Translator(self.table, weights, self.lm, self.options, self.setup, prefix=self.prefix)

    def with_search(self, options: SearchOptions) -> Translator:
        """The same, searched otherwise."""
        return Translator(self.table, self.weights, self.lm, options, self.setup, prefix=self.prefix)

    @property
    def features(self) -> list[str]:
        """The names of all features; members of families, such as `subst_f[X→Y]`, are there once they have fired."""
        return list(self._named())

    def _named(self) -> list[str]:
        """The names by number, those that have fired since the last time among them."""
        with self._naming:
            self._names += self._decoder.feature_names(len(self._names))
        return self._names

    @property
    def makes_trees(self) -> bool:
        """Whether outputs have dependency trees."""
        return self._features.trees

    @property
    def unknown_weights(self) -> list[str]:
        """Names in the weights that no feature has."""
        return list(self._decoder.unknown_weights)

    def translate(self, source: Source) -> Translation:
        """Translate one sentence: its tokens separated by blanks, its forest, or its dependency tree."""
        return self.translate_all([source])[0]

    def translate_all(
        self, sources: Iterable[Source], kbest: int = 1, distinct: bool = False, threads: int = 1
    ) -> list[Translation]:
        """Translate sentences; the result is the same for any number of threads."""
        given = list(sources)
        found = self._decoder.translate(given, kbest, distinct, threads)
        names = self._named()
        return [
            Translation(
                source if isinstance(source, str) else " ".join(source.words),
                [_hypothesis(h, names) for h in raw.kbest],
                raw.problem,
                raw.seconds,
                _Again(self, source),
                tuple(raw.notes),
                raw.tree,
            )
            for source, raw in zip(given, found, strict=True)
        ]


def _hypothesis(raw: _core.Hypothesis, names: Sequence[str]) -> Hypothesis:
    return Hypothesis(
        raw.text,
        raw.score,
        {names[number]: value for number, value in raw.features},
        Derivation(tuple(_step(step) for step in raw.steps)),
        Dependency(tokens(raw.text), raw.heads, [tag or "_" for tag in raw.tags]) if raw.heads else None,
        tuple(raw.given_by),
    )


def _step(raw: _core.DerivationStep) -> Step:
    edges, structure = tuple(raw.parse_edges), tuple(raw.structure)
    return Step(raw.label, raw.source, raw.target, raw.span, raw.children, raw.local, edges, structure)


class _Again:
    """Searches a sentence again, for its k-best list or its forest."""

    def __init__(self, translator: Translator, source: Source) -> None:
        self.translator = translator
        self.source = source

    @property
    def words(self) -> Sequence[str]:
        if not isinstance(self.source, str):
            return self.source.words
        return _core.sentence_words(self.source, self.translator.options.markup)

    def kbest(self, size: int, distinct: bool) -> Sequence[Hypothesis]:
        [again] = self.translator._decoder.translate([self.source], size, distinct, 1)
        names = self.translator._named()
        return [_hypothesis(h, names) for h in again.kbest]

    def forest(self, margin: float) -> SearchForest:
        try:
            graph = self.translator._decoder.graph(self.source, margin)
            return forest_of(graph, self.translator._named())
        except RuntimeError as error:
            raise ValueError(str(error)) from error
