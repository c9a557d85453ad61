"""Explains an output, and why it is not another one: rules, examples, forced decoding (docs/why.md)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from treeglot.base.errors import UsageError
from treeglot.decode import Translation, Translator
from treeglot.decode.constraints import UNMET, Constraints
from treeglot.decode.translator import Source
from treeglot.models.neural import NeuralWord, neural_words
from treeglot.rules.provenance import Concordance

if TYPE_CHECKING:
    from treeglot._core import Hypothesis, Step, Terms
    from treeglot.models.model import Model
    from treeglot.models.reading import Given
    from treeglot.rules.corrections import Correction

POPS = 2000  # of a node, where an exact search does not finish
PROBABILITY = "p_target_given_source"  # the feature that `probability` reads


@dataclass(frozen=True)
class Reason:
    """One step of a derivation, and the output words that its rule produces."""

    step: Step
    words: tuple[int, ...]  # places in the output
    probability: float | None  # of the target side given the source side; None for a local rule
    margin: float | None  # of the score over the best derivation without this rule here; None if there is no other
    runner_up: Hypothesis | None  # that derivation
    examples: Concordance | None  # of the rule; None without provenance
    correction: Correction | None = None  # that made the rule, or changed it last


@dataclass(frozen=True)
class Part:
    """Words of the requested output that rules can produce from words of the input."""

    source: tuple[int, int]
    target: tuple[int, int]
    label: str


@dataclass(frozen=True)
class Instead:
    """Explains why the model did not choose a requested output."""

    words: tuple[str, ...]  # that were wanted
    found: Translation | None  # its best derivation, of all that the rules allow; None if it has none
    losses: tuple[tuple[str, float], ...]  # by feature: what it scores less than the best output; gains are negative
    parts: tuple[Part, ...]  # if it has no derivation: the largest parts that have one, in the order of the source
    missing: str  # and the rule that would put them together
    exact: bool = True  # whether the derivation is the best of all; else of those that a limited search kept

    @property
    def search_error(self) -> bool:
        """Whether the requested output scores higher than the one that the search found."""
        return self.found is not None and math.fsum(loss for _, loss in self.losses) < -1e-4


@dataclass(frozen=True)
class Explanation:
    """Explains why a sentence was translated in this way."""

    translation: Translation
    reasons: tuple[Reason, ...]  # of the steps that give words, in the order of their first words
    instead: Instead | None
    neural: tuple[NeuralWord, ...] = ()  # the neural model's score of each word and of the end, if there is one
    networks: Mapping[str, tuple[NeuralWord, ...]] = field(default_factory=dict)  # those of further networks, by name

    def reason(self, place: int) -> Reason:
        """Return the reason for a word of the output."""
        return next(reason for reason in self.reasons if place in reason.words)


def explain(model: Model, source: Given, instead: str | None = None, examples: int = 3) -> Explanation:
    """Explain the translation of one sentence, and why it is not `instead`."""
    _ = model.provenance if instead is None else (model.provenance, model.all_rules)  # kept for the next time
    model = copy(model)  # as it is now: rules have other numbers once it learns
    given: list[Source] = []

    def alone(sources: list[Source], terms: list[Terms]) -> list[Translation]:
        if len(sources) != 1:
            raise UsageError(f"a text of {len(sources)} sentences; expected one to explain")
        given.extend(sources)
        return [model.translator.translate(sources[0], None, *terms)]

    [found] = model.reader.translate(alone, [source], glossary=model.bound_glossary)
    reasons = _reasons(model, found, examples)
    if not found.hypotheses:
        return Explanation(found, reasons, None)
    neural = neural_words(model.translator.neural, found)
    more = {name: neural_words(one, found) for name, one in model.translator.networks.items()}
    other = None if instead is None else _instead(model, found, given[0], instead)
    return Explanation(found, reasons, other, neural, more)


def _reasons(model: Model, found: Translation, examples: int) -> tuple[Reason, ...]:
    words: dict[int, list[int]] = {}
    for place, giving in enumerate(found.best.given_by):
        words.setdefault(giving, []).append(place)
    runners_up = model.translator.runners_up(found)
    provenance = model.provenance
    out = []
    for number, places in words.items():
        step = found.derivation.steps[number]
        other = None if step.local else runners_up[number]
        margin = None if other is None else found.best.score - other.score
        pairs = provenance.examples(step.rule, examples) if provenance and step.rule is not None else None
        correction = model.correction_of(step.rule)
        out.append(Reason(step, tuple(places), _probability(model, step), margin, other, pairs, correction))
    return tuple(out)


def _probability(model: Model, step: Step) -> float | None:
    table = model.translator.tables[step.grammar]
    values = model.translator.rule_values(step)
    if not values or PROBABILITY not in table.features:
        return None
    return math.exp(values[table.features.index(PROBABILITY)])


def all_rules(translator: Translator) -> Translator:
    """Return a translator that searches all derivations that its rules allow."""
    exact = replace(translator.options, pop_limit=0, per_source=0, label_limit=0, match_limit=0, beam=0, threshold=0.0)
    return translator.with_search(replace(exact, mbr=0))


def _instead(model: Model, found: Translation, source: Source, instead: str) -> Instead:
    as_words = partial(model.reader.target_words, source=found.source_tokens.words)
    wanted, words = Constraints(exactly=instead).core(as_words), tuple(as_words(instead))
    if not words:
        raise UsageError("there is no other output to explain; expected words")
    forced = model.all_rules.translate(source, wanted)
    exact = forced.problem in ("", UNMET)
    if not exact:  # an exact search does not finish
        limited = replace(model.all_rules.options, pop_limit=POPS)
        forced = model.all_rules.with_search(limited).translate(source, wanted)
    if forced.hypotheses:
        return Instead(words, forced, _losses(model, found.best, forced.best), (), "", exact)
    reached = (Part(f, e, label) for f, e, label in model.all_rules.reached(source, words))
    parts = tuple(sorted(reached, key=lambda part: part.source))
    return Instead(words, None, (), parts, _missing(found.words, words, parts), exact)


def _losses(model: Model, best: Hypothesis, other: Hypothesis) -> tuple[tuple[str, float], ...]:
    values = best.features, other.features
    weights = model.weights
    names = sorted({*values[0], *values[1]} & weights.keys())
    losses = ((name, weights[name] * (values[0].get(name, 0.0) - values[1].get(name, 0.0))) for name in names)
    return tuple(sorted((loss for loss in losses if loss[1]), key=lambda loss: -loss[1]))


def _missing(source: Sequence[str], target: Sequence[str], parts: Sequence[Part]) -> str:
    """Return the rule that would translate the source into the target, with a variable for each part.

    >>> _missing(["das", "ist", "gut"], ["that", "is", "fine"], [Part((0, 1), (0, 1), "X")])
    '[X,1] ist gut ||| [X,1] is fine'
    """

    def side(words: Sequence[str], spans: Sequence[tuple[int, int]]) -> str:
        begins = {begin: (number, end) for number, (begin, end) in enumerate(spans)}
        out, at = [], 0
        while at < len(words):
            if at in begins:
                number, at = begins[at]
                out.append(f"[{parts[number].label},{number + 1}]")
            else:
                out.append(words[at])
                at += 1
        return " ".join(out)

    return f"{side(source, [part.source for part in parts])} ||| {side(target, [part.target for part in parts])}"
