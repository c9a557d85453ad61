"""Reads settings of other decoders' configurations besides weights: names, limits, labels."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from treeglot.base.files import PathLike
from treeglot.base.numbers import parse_number
from treeglot.base.options import MOST

LOG10_E = 1 / math.log(10)
# Sections of weights in moses.ini before 2013: their new names, and the factors for their weights.
OLD_WEIGHTS = {
    "weight-l": ("LM", LOG10_E),
    "weight-t": ("TranslationModel", 1.0),
    "weight-w": ("WordPenalty", LOG10_E),
    "weight-u": ("UnknownWordPenalty", 1.0),
}


@dataclass
class ForeignSettings:
    """The settings of another decoder's configuration. Missing settings are empty or None."""

    names: dict[str, str] = field(default_factory=dict)  # names of features that differ from the usual ones
    prefixes: list[str] = field(default_factory=list)  # prefixes of feature names, by grammar
    span_limit: int | None = None  # of the first grammar
    per_source: int | None = None  # likewise
    goal: str = ""  # the label of sentences
    passed: str = ""  # the label of words that pass through
    passed_labels: dict[str, float] = field(default_factory=dict)  # or several, with the logarithm of each
    mark: str = ""  # the suffix of such words
    only_unknown: bool = False  # whether only words without a rule pass through
    passes: bool = True  # whether any do
    glued: str = ""  # the label that glue joins
    functions: list[str] | None = None  # features that are on, of those that do not come with rules; None: all
    grammars: list[str] = field(default_factory=list)  # the files that are named
    lm: str = ""  # likewise
    pop_limit: int | None = None
    kbest: int = 0  # how many translations are printed of each sentence


class SettingsReader:
    """Reads a configuration line by line. Unknown lines are ignored.

    Limits that are too large, and unsupported settings that would change translations, raise ValueError. `strict` also
    refuses unknown features.
    """

    def __init__(self, strict: bool = False) -> None:
        self.strict = strict
        self.found = ForeignSettings()
        self.weights_file = self.labels_file = ""
        self.defaults: dict[str, float] = {}  # weights of features that need not be given one
        self.old: tuple[int, str] | None = None  # a section of weights that Moses reads only where [weight] is not
        self._old_weights: dict[str, list[float]] = {}
        self._old_tables: list[int] = []  # how many scores each has
        self._seen: dict[str, int] = {}

    def _model(self, path: str) -> None:
        """Store the file of a language model."""
        if self.found.lm and self.strict:
            raise ValueError(f"another language model, {path[:60]!r}; expected one")
        self.found.lm = self.found.lm or path

    def _refuse(self, what: str, known: Iterable[str]) -> None:
        if self.strict:
            raise ValueError(f"{what[:60]!r} is not supported; known: {', '.join(known)}")

    def moses(self, section: str, line: str) -> None:
        """Read a line of moses.ini, such as KENLM name=LM0 factor=0 … in [feature]."""
        match section:
            case "feature":
                self._moses_feature(line)
            case "max-chart-span" if self.found.span_limit is None:
                self.found.span_limit = positive(line, "[max-chart-span]")
            case "ttable-limit" if self.found.per_source is None:
                self.found.per_source = _number(line, "[ttable-limit]")
            case "unknown-lhs":
                self.labels_file = line
            case "ttable-file":
                # KIND SOURCE TARGET SCORES PATH; once without the kind.
                scores = ["", *line.split()][-2]
                self._old_tables.append(_number(scores, "[ttable-file]") or 0)
                self.found.grammars.append(line.split()[-1])
            case "lmodel-file":  # KIND FACTOR ORDER PATH
                self._model(line.split()[-1])
            case "cube-pruning-pop-limit":
                self.found.pop_limit = _number(line, "[cube-pruning-pop-limit]")
            case "weight-file" if self.strict:
                raise ValueError(f"[weight-file] {line[:60]} is not supported: weights of sparse features are not read")
            case "inputtype" if line in _NO_SENTENCES:
                raise ValueError(f"[inputtype] {line} is {_NO_SENTENCES[line]}; expected sentences, 0 or 3")
            case "search-algorithm" if line in _NO_CHART:
                raise ValueError(f"[search-algorithm] {line} is {_NO_CHART[line]}; expected a chart, 3 or 5")
            case "input-factors" if line != "0":
                raise ValueError(f"[input-factors] {line}: words of several factors are not read; expected 0 alone")
            case "drop-unknown" | "mark-unknown" if line not in ("0", "false"):
                raise ValueError(f"[{section}] {line} is not supported: unknown words stand in the output as they are")
            case _ if section in OLD_WEIGHTS:
                value = parse_number(line)
                if not math.isfinite(value):
                    raise ValueError(f"the weight in [{section}] is {line[:30]!r}; expected a finite number")
                self._old_weights.setdefault(section, []).append(value)

    def old_weights(self) -> dict[str, float]:
        """Return the weights of an old moses.ini, converted as in Moses.

        The old weights of language models and of the word penalty apply to decimal logarithms.
        """
        found = {
            f"{name}{i}": value * scale
            for section, (name, scale) in OLD_WEIGHTS.items()
            for i, value in enumerate(self._old_weights.get(section, ()))
            if section != "weight-t"
        }
        scores = self._old_weights.get("weight-t", [])
        sizes = self._old_tables or [len(scores)]
        if sum(sizes) != len(scores):
            raise ValueError(f"[weight-t] has {len(scores)} weights; expected {sum(sizes)} as [ttable-file] says")
        for i, size in enumerate(sizes):
            values, scores = scores[:size], scores[size:]
            name = f"TranslationModel{i}"
            found |= {name if size == 1 else f"{name}_{j}": value for j, value in enumerate(values)}
        self.found.prefixes = [f"TranslationModel{i}" for i in range(len(sizes))]
        return {"UnknownWordPenalty0": 1.0} | found

    def moses_label(self, line: str) -> None:
        """Read a line of the file that [unknown-lhs] names: a label for unknown words, and its probability."""
        self._passed(line.split(), line)

    def joshua(self, line: str) -> None:
        """Read a line of joshua.config, such as tm = thrax pt 12 grammar.gz.

        Joshua ignores case, - and _ in names.
        """
        name, _, given = line.partition("=")
        value = given.strip()
        key = name.strip().replace("_", "").replace("-", "").lower()
        if key in _NOT_DONE and value.lower() != "false":
            raise ValueError(f"{line.strip()[:60]!r} is not supported: {_NOT_DONE[key]}")
        match key:
            case "tm":
                self._tm(value)
            case "spanlimit" if self.found.span_limit is None:  # this, and the owners, of versions before 4
                self.found.span_limit = positive(value, "the span limit")
            case "phraseowner" | "glueowner":
                self.found.prefixes.append(f"tm_{value}")
            case "goalsymbol":
                self.found.goal = value.strip("[]")
            case "defaultnonterminal":
                self.found.passed = value.strip("[]")
            case "weightsfile":
                self.weights_file = value
            case "markoovs":
                self.found.mark = "_OOV" if value.lower() == "true" else ""
            case "trueoovsonly":
                self.found.only_unknown = value.lower() == "true"
            case "numtranslationoptions":
                self.found.per_source = _number(value, "num-translation-options")
            case "oovlist":
                self._passed(value.split(), line)
            case "featurefunction" if not {"-class_map", "-value"}.isdisjoint(value.split()):
                raise ValueError(f"{line.strip()[:60]!r} is not supported: expected no -class_map and no -value")
            case "featurefunction":
                self._function(value.split())
            case "lm":  # KIND ORDER … PATH
                self._model(value.split()[-1] if value else "")
            case "poplimit":
                self.found.pop_limit = _number(value, "pop-limit")
            case "topn":
                self.found.kbest = _number(value, "top-n") or 0
            case "search" if value != "cky":
                raise ValueError(f"{line.strip()[:60]!r} is not supported: {PHRASES}")

    def travatar(self, section: str, line: str) -> None:
        """Read a line of travatar.ini, in a section such as [tm_file]."""
        match section:
            case "tm_file":
                self.found.grammars.append(line)
            case "lm_file":
                self._model(line.split("|")[0])
            case "pop_limit":
                self.found.pop_limit = _number(line, "[pop_limit]")
            case "nbest":
                self.found.kbest = _number(line, "[nbest]") or 0
            case "binarize" if line != "none":
                raise ValueError(f"[binarize] {line[:30]} is not supported: {BINARISED}")
            case "tm_storage" if line not in ("hash", "marisa"):
                raise ValueError(f"[tm_storage] {line[:30]} is not supported: expected rules of trees, hash or marisa")

    def _function(self, parts: list[str]) -> None:
        """Read a feature function of Joshua: its name, and its options of the form -NAME VALUE."""
        name = parts[0] if parts else ""
        if name in _JOSHUA_MODELS:
            self._model(dict(pairwise(parts)).get("-lm_file", ""))
        elif name not in _JOSHUA_FUNCTIONS:
            self._refuse(f"feature-function = {name}", (*_JOSHUA_FUNCTIONS, *_JOSHUA_MODELS))
        if self.found.functions is None:  # before version 5 Joshua was not told which to use
            self.found.functions = ["lm_0"]
        self.found.functions.append(name)

    def _tm(self, value: str) -> None:
        parts = value.split()
        if parts and parts[0] in ("moses", "phrase"):
            raise ValueError(f"{f'tm = {value}'[:60]!r} is not supported: {PHRASES}")
        by_name = dict(pairwise(parts))
        owner, limit = by_name.get("-owner"), by_name.get("-maxspan")
        if owner is None and len(parts) >= 4:
            owner, limit = parts[1:3]
        self.found.grammars.append(by_name.get("-path", parts[-1] if parts else ""))
        if not self.found.prefixes:
            self.found.span_limit = positive(limit or "", "the span limit")
        self.found.prefixes.append(f"tm_{owner or 'pt'}")

    def _passed(self, parts: list[str], line: str) -> None:
        for label, probability in zip(parts[::2], parts[1::2], strict=False):
            value = parse_number(probability)
            if not 0 < value < math.inf:
                raise ValueError(f"the probability of {label!r} is {probability[:30]!r}; expected a number above 0")
            self.found.passed_labels[label.strip("[]")] = math.log(value)
        if len(parts) % 2 or not parts:
            raise ValueError(f"{line.strip()[:60]!r} is not a list of labels; expected LABEL PROBABILITY …")

    def _moses_feature(self, line: str) -> None:
        kind, *given = line.split()
        options = dict(option.partition("=")[::2] for option in given)
        number = self._seen[kind] = self._seen.get(kind, -1) + 1
        name = options.get("name", f"{kind}{number}")
        if kind.startswith("PhraseDictionary"):
            if not self.found.prefixes:
                self.found.per_source = _number(options.get("table-limit", ""), "table-limit")
            self.found.names[f"TranslationModel{len(self.found.prefixes)}"] = name
            self.found.prefixes.append(name)
            self.found.grammars.append(options.get("path", ""))
        elif kind.upper().endswith("LM"):
            self.found.names.setdefault("LM0", name)
            self._model(options.get("path", ""))
        elif kind in ("WordPenalty", "UnknownWordPenalty", "PhrasePenalty"):
            self.found.names.setdefault(kind + "0", name)
        else:
            self._refuse(kind, _MOSES_FEATURES)
        if kind == "UnknownWordPenalty":
            self.defaults[name] = 1.0


BINARISED = "trees are not binarised; expected rules of trees as they are"
PHRASES = "phrases are not decoded in stacks; expected a grammar for a chart"
# Joshua's settings, - and _ left out, that would change translations.
_NOT_DONE = {
    "regexpgrammar": "words in rules are no regular expressions",
    "segmentoovs": "words are not cut into parts",
    "parse": "sentence pairs are not parsed",
    "constrainparse": "parses of the input are not read",
    "useposlabels": "tags of the input are not read",
    "fuzzymatching": "one label does not stand for another",
    "rescoreforest": "references do not change scores",
    "sourceannotations": "annotations of words are not used",
    "lowercase": "expected input in lower case",
    "projectcase": "expected input in the case of the rules",
}
_JOSHUA_FUNCTIONS = ("WordPenalty", "OOVPenalty", "PhrasePenalty")
_JOSHUA_MODELS = ("LanguageModel", "StateMinimizingLanguageModel")
_MOSES_FEATURES = ("UnknownWordPenalty", "WordPenalty", "PhrasePenalty", "PhraseDictionary…", "KENLM and other LMs")
_NO_SENTENCES = {"1": "confusion networks", "2": "lattices", "4": "columns of text", "5": "forests"}
_NO_CHART = dict.fromkeys("0124", "for phrases") | dict.fromkeys("789", "for trees of the input")


class PathWarning(UserWarning):
    """Warns that a path in a configuration matches two files."""


def beside(configuration: PathLike, name: str) -> Path:
    """Return the file that a configuration names, relative to the current folder or to its own folder.

    Decoders search only the current folder. If both files exist, the one in the current folder is used, with a warning.
    """
    path, own = Path(name), Path(configuration).parent / name
    if path.is_absolute() or not path.exists():
        return own
    if own.exists() and not own.samefile(path):
        problem = f"{configuration} names {name}: the file in the current folder is used, not {own}"
        warnings.warn(problem, PathWarning, stacklevel=2)
    return path


def _number(text: str, name: str) -> int | None:
    if not text.strip().isdecimal():
        return None
    if float(text) > MOST:  # of any number of digits, which an integer is not
        raise ValueError(f"{name} is {text.strip()[:30]}; expected at most {MOST}")
    return int(text)


def positive(text: str, name: str) -> int | None:
    """Parse a positive number. The result is None for 0 and for other text."""
    return _number(text, name) or None
