"""Finds corrections without effect: rules that never match, and changes of rules that do not exist."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from treeglot.decode.matchers import match_augmented, match_dependents, match_forests
from treeglot.models.kinds import kind_of_model
from treeglot.models.steps import key_of

if TYPE_CHECKING:
    from treeglot.models.model import Model
    from treeglot.rules.corrections import Correction

MOST = 10  # warnings, each for a correction; the others are counted
VARIABLE = re.compile(r"\[(.+),[0-9]+\]")
HEAD_PLACE = re.compile(r"H([0-9]+)")


class CorrectionWarning(UserWarning):
    """Warns that a correction changes no translation."""


def warn_of_problems(model: Model, changed: Sequence[int]) -> None:
    """Warn of corrections that change nothing. `changed` is the number of rules that each correction changed."""
    found = list(problems(model, changed))
    for problem in found[:MOST]:
        warnings.warn(problem, CorrectionWarning, stacklevel=3)
    if len(found) > MOST:
        warnings.warn(f"{len(found) - MOST:,} more corrections do nothing", CorrectionWarning, stacklevel=3)


def problems(model: Model, changed: Sequence[int], first: int = 0) -> Iterator[str]:
    """Yield the problems of a model's corrections, from the correction `first` on, with their places."""
    held = model.corrections
    if held is None:
        return
    check = _Check(model)
    for line, correction, rules in islice(zip(held.lines, held, changed, strict=True), first, None):
        for problem in check.problems(correction, rules):
            yield f"{held.file}:{line}: {problem}"


class _Check:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.table = model.translator.table
        self.matcher = kind_of_model(model.kind).matcher
        self.features: set[str] = set()  # that were reported
        self.weights = key_of(model.tuned)
        self.made = {each.lhs for each in model.corrections or () if each.action == "add"}

    def problems(self, correction: Correction, rules: int) -> Iterator[str]:
        if correction.action == "weigh":
            if correction.source != self.weights:
                yield "this step was made for other weights, so it moves none"
            return
        for name, _ in correction.features:
            known = name in self.model.weights or name == "preferred"
            if not known and name not in self.features:
                self.features.add(name)
                yield f"feature {name!r} has no weight, so its value changes nothing"
        if correction.action != "add":
            if rules == 0:
                yield f"no rule is like this, so there is nothing to {correction.action}"
            return
        symbols = correction.source.split(" ")
        problem = self.shape(correction, symbols) or self.labels(symbols) or self.words(symbols)
        if problem:
            yield f"never matches: {problem}"

    def shape(self, correction: Correction, symbols: list[str]) -> str:
        """Yield the reasons why the matcher never finds a rule."""
        fragment = len(symbols[0]) > 1 and symbols[0].endswith("(") and not symbols[0].startswith("\\")
        if self.matcher is match_forests:
            if fragment:
                return ""
            if correction.lhs != "X" or not self.variables(symbols) <= {"X"}:
                return "it is no fragment of a tree, and no phrase, which has the left-hand side and variables [X]"
            return self.too_long(symbols) if self.variables(symbols) else ""
        if fragment:
            return f"it is a fragment of a tree, and a {self.model.kind} model has none"
        if self.matcher in (match_dependents, match_augmented):
            if place := HEAD_PLACE.fullmatch(correction.lhs):
                inside = 1 <= int(place[1]) <= len(symbols)
                return "" if inside else f"its head has place {place[1]} of {len(symbols)}"
            labels = self.variables(symbols)
            allowed = {"X"} if self.matcher is match_augmented else set()
            if correction.lhs != "X" or not labels <= allowed:
                return "it is no phrase, and its left-hand side is no place of the head such as [H2]"
            if not labels:
                return ""
        return self.too_long(symbols)

    @staticmethod
    def variables(symbols: list[str]) -> set[str]:
        """Return the labels of the variables of a rule."""
        return {found[1] for symbol in symbols if (found := VARIABLE.fullmatch(symbol))}

    def too_long(self, symbols: list[str]) -> str:
        limit = self.model.translator.options.span_limit
        return f"it has {len(symbols)} symbols, and rules cover at most {limit} words" if len(symbols) > limit else ""

    def labels(self, symbols: list[str]) -> str:
        for symbol in symbols:
            found = VARIABLE.fullmatch(symbol)
            label = found[1] if found is not None else ""
            by_word = label.startswith("=") and self.matcher in (match_dependents, match_augmented)
            if found is None or by_word or label == "X" or label in self.made or self.table.knows_label(label):
                continue
            return f"no rule of the model has the label {label!r}"
        return ""

    def words(self, symbols: list[str]) -> str:
        """Find a word that the tokeniser never produces. Words that occur in rules are known to be produced."""
        text = self.model.text
        if text is None:
            return ""
        for symbol in symbols:
            if VARIABLE.fullmatch(symbol) or symbol == ")" or (len(symbol) > 1 and symbol.endswith("(")):
                continue
            word = symbol.removeprefix("\\")
            if self.table.knows_source_word(word):
                continue
            [made] = text.source.fold([text.source.tokenise([word])[0].words])
            made = made if text.numbers is None else text.numbers.fold_source(made)
            if list(made) != [word]:
                return f"the model's tokeniser makes {' '.join(made)!r} of {word!r}"
        return ""
