"""Reads configurations of other decoders: features, limits, labels, weights, and the files that they name."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from treeglot.base.errors import FormatError
from treeglot.base.files import PathLike, iterate_lines
from treeglot.foreign.settings import ForeignSettings, beside, positive
from treeglot.foreign.weights import Decoder, read_foreign_weights

# The features of each feature function that can be had here.
FUNCTIONS = {
    "WordPenalty": ("WordPenalty",),
    "SourceWordPenalty": ("SourceWordPenalty",),
    "LanguageModel": ("LanguageModel", "LanguageModel_OOV"),
    "KLanguageModel": ("LanguageModel", "LanguageModel_OOV"),
}
# Settings that would change translations: what they would do.
_NOT_DONE = {
    "aligner": "sentence pairs are not aligned",
    "scfg_extra_glue_grammar": "expected glue rules among the others, and scfg_no_hiero_glue_grammar",
    "max_translation_beam": "derivations of one translation are not added up",
    "max_translation_sample": "derivations of one translation are not added up",
    "fsa_feature_function": "expected feature_function",
    "cll_gradient": "gradients are not computed",
    "per_sentence_grammar_file": "expected the grammars of sentences in files of their own",
    **{f"{name}{n}": "expected one pass" for name in ("feature_function", "weights") for n in (2, 3)},
}


@dataclass
class ForeignConfig:
    """The content of a configuration. Paths are relative to the current folder."""

    settings: ForeignSettings = field(default_factory=ForeignSettings)
    grammars: list[Path] = field(default_factory=list)
    weights: Path | None = None  # a file of weights, or the configuration itself
    lm: Path | None = None
    glue: bool = True


def read_config(path: PathLike, decoder: Decoder) -> ForeignConfig:
    """Read a cdec.ini, joshua.config, moses.ini or travatar.ini. Unsupported settings are refused."""
    if decoder == "cdec":
        return read_cdec_config(path)
    settings = read_foreign_weights(path, decoder, strict=True).settings
    grammars = [beside(path, name) for name in settings.grammars]
    return ForeignConfig(settings, grammars, Path(path), beside(path, settings.lm) if settings.lm else None)


def decoder_of(path: PathLike) -> Decoder:
    """Recognise the decoder of a configuration by its sections and settings."""
    for line in iterate_lines(path):
        text = line.strip()
        if text in ("[tm_file]", "[lm_file]", "[weight_vals]"):
            return "travatar"
        if text.startswith("[") and text.endswith("]"):
            return "moses"
        name, equals, _ = text.partition("=")
        if equals and name.strip() in _CDEC_SETTINGS:
            return "cdec"
        if equals and name.strip().lower().replace("_", "-") in _JOSHUA_SETTINGS:
            return "joshua"
    raise FormatError(os.fspath(path), 0, "is not a known configuration of cdec, Joshua, Moses or Travatar")


_CDEC_SETTINGS = ("formalism", "grammar", "weights", "feature_function")
_JOSHUA_SETTINGS = ("tm", "lm", "feature-function", "goal-symbol", "default-non-terminal", "pop-limit", "weights-file")


def read_cdec_config(path: PathLike) -> ForeignConfig:
    """Read a cdec.ini: lines NAME=VALUE.

    Only the feature functions that the file names are on. Unknown words are copied only with add_pass_through_rules.
    Files are searched for in the current folder, as in cdec, and then beside the configuration. Unsupported settings
    that would change translations are errors. `settings` contains k_best and the pop limit. All other settings are
    ignored.

    >>> import tempfile
    >>> ini = Path(tempfile.mkdtemp()) / "cdec.ini"
    >>> _ = ini.write_text("formalism=scfg\\nfeature_function=WordPenalty\\nscfg_max_span_limit=12\\n")
    >>> read_cdec_config(ini).settings.span_limit
    12
    """
    file = os.fspath(path)
    reader = _Reader(path)
    for number, line in enumerate(iterate_lines(path), 1):
        text = line.split("#", 1)[0].strip()
        if not text:
            continue
        name, equals, value = (part.strip() for part in text.partition("="))
        try:
            if not equals:
                raise ValueError(f"{text[:60]!r} is not a setting; expected NAME=VALUE such as formalism=scfg")
            reader.read(name, value)
        except ValueError as error:
            raise FormatError(file, number, str(error)) from error
    return reader.found


class _Reader:
    def __init__(self, path: PathLike) -> None:
        self.path = path
        self.found = ForeignConfig(ForeignSettings(functions=[], passes=False))
        self.trees = False

    def read(self, name: str, value: str) -> None:
        if name in _NOT_DONE:
            raise ValueError(f"{f'{name}={value}'[:60]!r} is not supported: {_NOT_DONE[name]}")
        match name:
            case "formalism":
                self._formalism(value)
            case "grammar":
                self.found.grammars.append(beside(self.path, value))
            case "weights":
                self.found.weights = beside(self.path, value)
            case "feature_function":
                self._function(value)
            case "scfg_max_span_limit":
                self.found.settings.span_limit = positive(value, name)
            case "goal":
                self.found.settings.goal = value
            case "scfg_default_nt":
                self.found.settings.passed = self.found.settings.glued = value
            case "add_pass_through_rules":
                self.found.settings.passes = True
                self._check_trees()
            case "scfg_no_hiero_glue_grammar":
                self.found.glue = False
            case "k_best":
                self.found.settings.kbest = positive(value, name) or 0
            case "cubepruning_pop_limit":
                self.found.settings.pop_limit = positive(value, name)
            case "intersection_strategy" if value.lower() == "full":
                self.found.settings.pop_limit = 0

    def _formalism(self, value: str) -> None:
        if value.lower() not in ("scfg", "t2s"):
            raise ValueError(f"formalism={value} is not supported; expected scfg or t2s")
        self.trees = value.lower() == "t2s"
        self._check_trees()

    def _check_trees(self) -> None:
        if self.trees and self.found.settings.passes:
            raise ValueError(
                "add_pass_through_rules is not supported for formalism=t2s: nothing passes through without a rule"
            )

    def _function(self, value: str) -> None:
        function, *given = value.split()
        if function not in FUNCTIONS:
            raise ValueError(f"feature_function={function} is not supported; known: {', '.join(FUNCTIONS)}")
        if FUNCTIONS[function] == FUNCTIONS["LanguageModel"]:
            if self.found.lm is not None:
                raise ValueError("another language model; expected one")
            self._model(value, given)
        self.found.settings.functions = [*(self.found.settings.functions or []), *FUNCTIONS[function]]

    def _model(self, value: str, given: list[str]) -> None:
        match given:
            case ["-n", name, path]:
                self.found.settings.names = {"LanguageModel": name, "LanguageModel_OOV": f"{name}_OOV"}
            case ["-o", _, path] | [path, "-o", _] | [path]:
                pass
            case _:
                raise ValueError(f"{value[:60]!r} is not supported; expected a file, and -n NAME or -o ORDER alone")
        self.found.lm = beside(self.path, path)
