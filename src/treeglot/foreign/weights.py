"""Converts between the features of other decoders and ours: their weights to ours, and our hypotheses to theirs.

A feature of another decoder is a weighted sum of ours, plus a constant for the sentence. docs/interoperability.md
explains where the numbers come from.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias

from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import PathLike, iterate_lines
from treeglot.base.numbers import LARGEST, parse_number
from treeglot.base.options import unknown
from treeglot.foreign.settings import LOG10_E, OLD_WEIGHTS, ForeignSettings, SettingsReader, beside

Decoder: TypeAlias = Literal["cdec", "joshua", "moses", "travatar"]

GLUE = math.log(2.718)  # the value of e in Moses' glue grammar
SOURCE_WORDS = "source_words"  # the number of words in the sentence: all translations share it


@dataclass(frozen=True)
class Term:
    """Expresses a feature of another decoder as a weighted sum of our features, plus a constant for each sentence."""

    of: Mapping[str, float]
    constant: float = 0.0
    of_rules: bool = False  # listed wherever it fires, with a weight or without


# Moses and Joshua put <s> and </s> around the input: two words more, and glue for the first phrase as well.
TERMS: Mapping[str, Mapping[str, Term]] = {
    "cdec": {
        "LanguageModel": Term({"lm": LOG10_E}),
        "LanguageModel_OOV": Term({"lm_unknown": 1.0}, of_rules=True),
        "WordPenalty": Term({"word_penalty": -LOG10_E}),
        "SourceWordPenalty": Term({SOURCE_WORDS: -LOG10_E}),
        "Glue": Term({"glue": 1.0}, of_rules=True),
        "PassThrough": Term({"unknown": 1.0}, of_rules=True),
        **{f"PassThrough_{n}": Term({f"unknown_length_{n}": 1.0}, of_rules=True) for n in range(1, 7)},
    },
    "joshua": {
        "lm_0": Term({"lm": LOG10_E}),
        "WordPenalty": Term({"word_penalty": -LOG10_E}, -2 * LOG10_E),
        "tm_glue_0": Term({"glue": 1.0}, 1.0, of_rules=True),
        "OOVPenalty": Term({"unknown": -100.0}),
        "PhrasePenalty": Term({"rule_penalty": 1.0}),
    },
    "moses": {
        "LM0": Term({"lm": 1.0}),
        "WordPenalty0": Term({"word_penalty": -1.0}, -2.0),
        "UnknownWordPenalty0": Term({"unknown": -100.0}),
        "PhrasePenalty0": Term({"rule_penalty": 1.0, "glue": 1.0, "unknown": 1.0}, 3.0),
        "TranslationModel1": Term({"glue": GLUE}, GLUE),
    },
    "travatar": {
        "lm": Term({"lm": LOG10_E}),
        "lmunk": Term({"lm_unknown": 1.0}),
        "unk": Term({"unknown": 1.0, "pseudo": 1.0}, of_rules=True),
        "parse": Term({"parse": 1.0}),
    },
}
_OURS = {name for terms in TERMS.values() for term in terms.values() for name in term.of}


@dataclass(frozen=True)
class ForeignWeights:
    """Weights of another decoder, with its names.

    Without `glue`, the grammar has its own glue rules; `marked` tells whether they contain <s> and </s>. `settings`
    come from the configuration of the weights.
    """

    decoder: Decoder
    weights: Mapping[str, float]
    terms: Mapping[str, Term] = field(init=False)
    glue: bool = True
    marked: bool = False
    settings: ForeignSettings = field(default_factory=ForeignSettings)

    def __post_init__(self) -> None:
        on = self.settings.functions
        terms = {
            self.settings.names.get(name, name): term
            for name, term in _terms(self.decoder).items()
            if on is None or term.of_rules or name in on
        }
        if self.decoder == "joshua" and self.weights.get("OOVPenalty", 0.0) < 0:
            terms["OOVPenalty"] = Term({"unknown": 1.0})  # before version 6 it counted words
        if self.marked and self.decoder == "joshua" and "PhrasePenalty" in self.weights:
            raise UsageError("PhrasePenalty does not count Joshua's glue rules: use the built-in glue instead")
        if self.marked:  # the rules count what they add to every sentence
            terms = {name: replace(term, constant=0.0) for name, term in terms.items()}
        if self.decoder == "moses" and self.settings.passed_labels:
            name = self.settings.names.get("PhrasePenalty0", "PhrasePenalty0")
            if name in self.weights:  # what counts as a phrase there has no number here
                raise UsageError(f"{name} counts unknown words: it cannot be had beside [unknown-lhs]")
        if not self.glue:  # nothing is glued to <s> and </s>
            terms = {name: replace(t, constant=0.0) if "glue" in t.of else t for name, t in terms.items()}
        object.__setattr__(self, "terms", terms)

    def ours(self, grammar: Collection[str] = (), prefix: str = "") -> dict[str, float]:
        """Return the weights of our features that give the same scores, up to `constant`.

        `grammar` lists the features of the rules. Such a name always means the feature of the rules. The names of our
        own features begin with `prefix`, to distinguish them.

        >>> ForeignWeights("cdec", {"Glue": 0.5}).ours(["Glue"], prefix="own ")
        {'own glue': 0.5, 'Glue': 0.5}
        """
        out: dict[str, float] = {}
        for name, weight in self.weights.items():
            term = self.terms.get(name)
            factors = {prefix + ours: f for ours, f in term.of.items() if ours != SOURCE_WORDS} if term else {}
            if term is None or name in grammar:
                factors[name] = factors.get(name, 0.0) + 1.0
            for feature, factor in factors.items():
                out[feature] = out.get(feature, 0.0) + weight * factor
        return out

    @property
    def constant(self) -> float:
        """The constant that the other decoder adds to the score of every sentence."""
        return self.added(0)

    def added(self, words: int) -> float:
        """Return the score that the other decoder adds to a sentence with this number of words."""
        found = ((self.terms[name], weight) for name, weight in self.weights.items() if name in self.terms)
        return sum(weight * (term.constant + words * term.of.get(SOURCE_WORDS, 0.0)) for term, weight in found)

    def features(
        self, values: Mapping[str, float], constants: bool = True, prefix: str = "", words: int = 0
    ) -> dict[str, float]:
        """Return a hypothesis's features as the other decoder would list them. Features that are 0 are left out.

        `constants` includes the values that the other decoder adds to a sentence of `words` words. `prefix` is the same
        as for `ours`.
        """
        if constants:
            values = {**values, prefix + SOURCE_WORDS: float(words)}
        own = {prefix + name for name in _OURS}
        out = {name: value for name, value in values.items() if name not in own}
        for name, term in self.terms.items():
            if term.of_rules or name in self.weights:
                value = sum(factor * values.get(prefix + of, 0.0) for of, factor in term.of.items())
                out[name] = out.get(name, 0.0) + value + (term.constant if constants else 0.0)
        return {name: value for name, value in out.items() if value != 0}

    def listed(self, features: Mapping[str, float]) -> str:
        """Format features for the other decoder's k-best lists.

        >>> ForeignWeights("cdec", {}).listed({"Glue": 1.0, "EgivenF": -0.5})
        'Glue=1 EgivenF=-0.5'
        >>> ForeignWeights("moses", {}).listed({"LM0": -3.5, "TM0_0": -1.0, "TM0_1": -2.0})
        'LM0= -3.5 TM0= -1 -2'
        """
        if self.decoder != "moses":
            return " ".join(f"{name}={value:.6g}" for name, value in features.items())
        groups: dict[str, list[tuple[int, float]]] = {}
        for name, value in features.items():
            group, _, place = name.rpartition("_")
            numbered = bool(group) and place.isdecimal()
            groups.setdefault(group if numbered else name, []).append((int(place) if numbered else 0, value))
        parts = []
        for name, found in groups.items():
            values = dict(found)
            parts.append(f"{name}= {' '.join(f'{values.get(i, 0.0):.6g}' for i in range(max(values) + 1))}")
        return " ".join(parts)


def read_foreign_weights(path: PathLike, decoder: Decoder, *, strict: bool = False) -> ForeignWeights:
    """Read the weights of another decoder from one of its files.

    - cdec: lines `NAME VALUE` or `NAME=VALUE`.
    - travatar: the same, or [weight_vals] in travatar.ini.
    - joshua: lines `NAME VALUE`, in a file of weights or in joshua.config, with old names too. The file of
      `weights-file = …` is read as well.
    - moses: lines `NAME= VALUE …`, in [weight] of moses.ini, or in [weight-l] and so on. Several weights of a feature
      become NAME_0, NAME_1 and so on.

    A file without any weight is refused. `settings` has what a configuration says about names, limits, labels and
    files. `strict` refuses unknown features of a configuration.
    """
    _terms(decoder)
    settings = SettingsReader(strict)
    weights = _read(path, decoder, settings)
    if settings.labels_file:
        _read_labels(beside(path, settings.labels_file), settings)
    if settings.weights_file:
        weights = {**_read(beside(path, settings.weights_file), decoder, SettingsReader()), **weights}
    if not weights and settings.old:
        try:
            weights = settings.old_weights()
        except ValueError as error:
            raise FormatError(os.fspath(path), settings.old[0], str(error)) from error
    if not weights and not strict:
        raise FormatError(os.fspath(path), 0, f"has no weights; {_EXPECTED[decoder]}")
    for name, weight in settings.defaults.items():
        weights.setdefault(name, weight)
    return ForeignWeights(decoder, weights, settings=settings.found)


def _read_labels(path: Path, settings: SettingsReader) -> None:
    for number, line in enumerate(iterate_lines(path), 1):
        try:
            if line.strip():
                settings.moses_label(line)
        except ValueError as error:
            raise FormatError(os.fspath(path), number, str(error)) from error


def _read(path: PathLike, decoder: Decoder, settings: SettingsReader) -> dict[str, float]:
    file = os.fspath(path)
    weights: dict[str, float] = {}
    section = ""
    for number, line in enumerate(iterate_lines(path), 1):
        text = line.split("#", 1)[0].strip() if decoder in ("joshua", "moses") else line.strip()
        if not text or text.startswith("#") or (decoder == "joshua" and text.startswith("//")):
            continue
        if decoder in ("moses", "travatar") and text.startswith("[") and text.endswith("]"):
            section = text[1:-1]
            if section in OLD_WEIGHTS:
                settings.old = settings.old or (number, text)
            continue
        if decoder == "joshua" and _is_joshua_feature(text):
            raise FormatError(file, number, f"{text[:60]!r} is not a weight; {_EXPECTED[decoder]}")
        if section not in ("", "weight", "weight_vals") or (decoder == "joshua" and "=" in text):
            try:
                if decoder == "moses":
                    settings.moses(section, text)
                elif decoder == "travatar":
                    settings.travatar(section, text)
                else:
                    settings.joshua(text)
            except ValueError as error:
                raise FormatError(file, number, str(error)) from error
            continue
        for name, value in _weights_of(text, decoder, file, number):
            if name in weights:
                raise FormatError(file, number, f"{name} has a weight already")
            weights[name] = value
    return weights


_EXPECTED = {
    "cdec": "expected NAME VALUE such as LanguageModel 0.5",
    "joshua": "expected NAME VALUE such as lm_0 0.5",
    "moses": "expected NAME= VALUE … such as LM0= 0.5",
    "travatar": "expected NAME=VALUE such as lm=0.5",
}


def _is_joshua_feature(text: str) -> bool:
    """Return whether a setting has the name of a feature. Joshua ignores weights that are written with =."""
    name, equals, _ = text.partition("=")
    name = name.rstrip()
    owner, _, number = name.rpartition("_")
    numbered = number.isdecimal() and (owner == "lm" or (owner.startswith("tm_") and len(owner) > 3))
    return bool(equals) and (numbered or name in ("WordPenalty", "OOVPenalty", "PhrasePenalty"))


def _weights_of(text: str, decoder: str, file: str, number: int) -> list[tuple[str, float]]:
    name, *values = (text.replace("=", " ", 1).split() if decoder != "joshua" else _joshua(text)) or [""]
    if (decoder == "moses" and "=" not in text) or not values or (decoder != "moses" and len(values) > 1):
        raise FormatError(file, number, f"{text[:60]!r} is not a weight; {_EXPECTED[decoder]}")
    found = []
    for i, value in enumerate(values):
        weight = parse_number(value)
        if not abs(weight) <= LARGEST:
            raise FormatError(file, number, f"the weight of {name} is {value[:30]!r}; expected a finite number")
        found.append((name if len(values) == 1 else f"{name}_{i}", weight))
    return found


def _joshua(text: str) -> list[str]:
    match text.split():
        case ["lm", value]:
            return ["lm_0", value]
        case ["lm", index, value]:
            return [f"lm_{index}", value]
        case ["phrasemodel", owner, index, value]:
            return [f"tm_{owner}_{index}", value]
        case ["wordpenalty", value]:
            return ["WordPenalty", value]
        case ["oovpenalty", value]:
            return ["OOVPenalty", value]
        case parts:
            return parts


def _terms(decoder: str) -> Mapping[str, Term]:
    if decoder not in TERMS:
        raise UsageError(unknown("decoder", decoder, TERMS))
    return TERMS[decoder]
