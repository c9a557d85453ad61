"""cdec.ini: which features are on, limits, labels, and the files that it names."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path

from treeglot.base.errors import FormatError
from treeglot.base.files import PathLike, iterate_lines
from treeglot.foreign.settings import ForeignSettings, beside, positive

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
    "per_sentence_grammar_file": "expected the grammars of sentences in files of their own",
    **{f"{name}{n}": "expected one pass" for name in ("feature_function", "weights") for n in (2, 3)},
}


@dataclass(frozen=True)
class ForeignConfig:
    """What a cdec.ini says; files as they can be opened from here."""

    settings: ForeignSettings = field(default_factory=ForeignSettings)
    grammars: tuple[Path, ...] = ()
    weights: Path | None = None
    lm: Path | None = None
    glue: bool = True


def read_cdec_config(path: PathLike) -> ForeignConfig:
    """Read a cdec.ini: lines NAME=VALUE.

    Only the features of its feature functions are on. Words pass through if it says add_pass_through_rules. Files are
    looked for where cdec would, and beside the configuration. What would change translations but is not done here
    is refused; other settings, those of search and output, are passed over.

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
    return reader.done()


class _Reader:
    def __init__(self, path: PathLike) -> None:
        self.path = path
        self.grammars: list[Path] = []
        self.weights: Path | None = None
        self.lm: Path | None = None
        self.glue = True
        self.trees = False
        self.names: dict[str, str] = {}
        self.settings = ForeignSettings(functions=(), passes=False)

    def read(self, name: str, value: str) -> None:
        if name in _NOT_DONE:
            raise ValueError(f"{f'{name}={value}'[:60]!r} is not supported: {_NOT_DONE[name]}")
        match name:
            case "formalism":
                self._formalism(value)
            case "grammar":
                self.grammars.append(beside(self.path, value))
            case "weights":
                self.weights = beside(self.path, value)
            case "feature_function":
                self._function(value)
            case "scfg_max_span_limit":
                self.settings = replace(self.settings, span_limit=positive(value, name))
            case "goal":
                self.settings = replace(self.settings, goal=value)
            case "scfg_default_nt":
                self.settings = replace(self.settings, passed=value, glued=value)
            case "add_pass_through_rules":
                self.settings = replace(self.settings, passes=True)
                self._check_trees()
            case "scfg_no_hiero_glue_grammar":
                self.glue = False

    def done(self) -> ForeignConfig:
        settings = replace(self.settings, names=self.names)
        return ForeignConfig(settings, tuple(self.grammars), self.weights, self.lm, self.glue)

    def _formalism(self, value: str) -> None:
        if value.lower() not in ("scfg", "t2s"):
            raise ValueError(f"formalism={value} is not supported; expected scfg or t2s")
        self.trees = value.lower() == "t2s"
        self._check_trees()

    def _check_trees(self) -> None:
        if self.trees and self.settings.passes:
            raise ValueError(
                "add_pass_through_rules is not supported for formalism=t2s: nothing passes through without a rule"
            )

    def _function(self, value: str) -> None:
        function, *given = value.split()
        if function not in FUNCTIONS:
            raise ValueError(f"feature_function={function} is not supported; known: {', '.join(FUNCTIONS)}")
        if FUNCTIONS[function] == FUNCTIONS["LanguageModel"]:
            if self.lm is not None:
                raise ValueError("another language model; expected one")
            self._model(value, given)
        self.settings = replace(self.settings, functions=(*(self.settings.functions or ()), *FUNCTIONS[function]))

    def _model(self, value: str, given: list[str]) -> None:
        match given:
            case ["-n", name, path]:
                self.names = {"LanguageModel": name, "LanguageModel_OOV": f"{name}_OOV"}
            case ["-o", _, path] | [path, "-o", _] | [path]:
                pass
            case _:
                raise ValueError(f"{value[:60]!r} is not supported; expected a file, and -n NAME or -o ORDER alone")
        self.lm = beside(self.path, path)
