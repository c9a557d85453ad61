"""A rule table, language model and weights, put together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from treeglot import _core
from treeglot.decode.search import SearchOptions
from treeglot.decode.translation import Derivation, Hypothesis, Step, Translation

if TYPE_CHECKING:
    from treeglot.lm import NgramModel


class Translator:
    """Translates tokenised sentences.

    `weights` are by feature name: the table's features, `word_penalty`, `rule_penalty`, `glue`, `unknown`, and with a
    language model `lm` (natural log) and `lm_unknown`. Names that no feature has are in `unknown_weights`.
    """

    def __init__(
        self,
        table: _core.RuleTable,
        weights: Mapping[str, float],
        lm: NgramModel | None = None,
        options: SearchOptions = SearchOptions(),  # noqa: B008 - it is frozen
    ) -> None:
        self.table = table
        self.lm = lm
        self.options = options
        self.weights = dict(weights)
        self._decoder = _core.Decoder(
            table,
            lm.core if lm is not None else None,
            list(self.weights.items()),
            options.span_limit,
            options.pop_limit,
            options.beam,
            options.threshold,
            options.per_source,
            options.markup,
        )
        self._names = self._decoder.features

    @property
    def core(self) -> _core.Decoder:
        """The same, in the core."""
        return self._decoder

    def with_weights(self, weights: Mapping[str, float]) -> Translator:
        """The same with other weights: the table and the language model are shared."""
        return Translator(self.table, weights, self.lm, self.options)

    @property
    def features(self) -> list[str]:
        """The names of all features."""
        return list(self._names)

    @property
    def unknown_weights(self) -> list[str]:
        """Names in the weights that no feature has."""
        return list(self._decoder.unknown_weights)

    def translate(self, line: str) -> Translation:
        """Translate one sentence, its tokens separated by blanks."""
        return self.translate_all([line])[0]

    def translate_all(
        self, lines: Iterable[str], kbest: int = 1, distinct: bool = False, threads: int = 1
    ) -> list[Translation]:
        """Translate sentences; the result is the same for any number of threads."""
        sources = list(lines)
        found = self._decoder.translate(sources, kbest, distinct, threads)
        return [
            Translation(source, [self._hypothesis(h) for h in raw.kbest], raw.problem, raw.seconds, self._more(source))
            for source, raw in zip(sources, found, strict=True)
        ]

    def _more(self, source: str) -> _More:
        return _More(self, source)

    def _hypothesis(self, raw: _core.Hypothesis) -> Hypothesis:
        names = self._names
        return Hypothesis(
            raw.text,
            raw.score,
            {names[number]: value for number, value in raw.features},
            Derivation(tuple(Step(s.label, s.source, s.target, s.span, s.children, s.local) for s in raw.steps)),
        )


class _More:
    """Searches a sentence again, for its k-best list."""

    def __init__(self, translator: Translator, source: str) -> None:
        self.translator = translator
        self.source = source

    def __call__(self, size: int, distinct: bool) -> Sequence[Hypothesis]:
        [again] = self.translator._decoder.translate([self.source], size, distinct, 1)
        return [self.translator._hypothesis(h) for h in again.kbest]
