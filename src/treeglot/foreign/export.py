"""Exports a model to another decoder: rules, glue, weights, configuration and language model.

The other decoder gives every derivation the same score as the model. docs/interoperability.md lists what each format
cannot represent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from treeglot import _core
from treeglot.base.errors import TreeglotError, UsageError
from treeglot.base.files import PathLike, iterate_lines, nearest_folder, scratch_folder, write_binary
from treeglot.base.options import unknown
from treeglot.foreign.grammar import FORMATS, FormatName, write_some
from treeglot.foreign.input import mask
from treeglot.syntax import Dependency, ParseForest
from treeglot.syntax.lattice import Lattice, LatticeForest

if TYPE_CHECKING:
    from treeglot.decode.translator import Source
    from treeglot.models import Model

LN10 = math.log(10)
STRING_KINDS = ("hiero",)
FOREST_KINDS = ("c2s", "c2s-wf", "c2s-wf-s2s", "t2s")
KINDS = {"cdec": STRING_KINDS, "joshua": STRING_KINDS, "moses": STRING_KINDS, "travatar": FOREST_KINDS}
# Features of the search that a format cannot express.
MISSING = {
    "cdec": ("parse", "pseudo"),
    "joshua": ("lm_unknown", "parse", "pseudo"),
    "moses": ("lm_unknown", "parse", "pseudo"),
    "travatar": ("glue",),
}
SEARCH = ("word_penalty", "rule_penalty", "glue", "unknown", "lm", "lm_unknown", "parse", "pseudo")
LM, RULES, GLUE, UNKNOWN = "lm.arpa", "rules.gz", "glue.txt", "unknown.txt"
CONFIGURATION = {"cdec": "cdec.ini", "joshua": "joshua.config", "moses": "moses.ini", "travatar": "travatar.ini"}


@dataclass(frozen=True)
class Exported:
    """The result of an export: its folder, the file of the configuration, and the number of rules."""

    folder: Path
    configuration: Path
    rules: int


def export(model: Model, folder: PathLike, format: FormatName, *, test: Iterable[Source] | None = None) -> Exported:
    """Write a model as the files of another decoder. With `test`, only rules that its sentences can use are written.

    Kinds of models and features that the format cannot represent are refused by name.
    """
    if format not in FORMATS:
        raise UsageError(unknown("format", format, FORMATS))
    if model.kind not in KINDS[format]:
        raise UsageError(f"a {model.kind} model cannot be written for {format}; expected {' or '.join(KINDS[format])}")
    model.need_table("exports")
    out = Path(folder)
    with scratch_folder(nearest_folder(out), "export") as scratch:
        try:
            done = _WRITERS[format](model, scratch, format, None if test is None else list(test)).write()
        except TreeglotError:
            raise
        except ValueError as error:  # a word, a label or a name that the format has no way to write
            raise UsageError(f"the model cannot be written for {format}: {error}") from error
        out.mkdir(parents=True, exist_ok=True)
        for path in scratch.iterdir():  # only what is complete comes here
            path.replace(out / path.name)
    return replace(done, folder=out, configuration=out / done.configuration.name)


class _Writer:
    """Writes the parts that all formats have in common."""

    def __init__(self, model: Model, folder: Path, format: FormatName, test: list[Source] | None) -> None:
        self.model, self.folder, self.format, self.test = model, folder, format, test
        self.translator = model.translator
        self.table, self.search = model.translator.table, model.translator.options
        own = {"preferred": 1.0} if "preferred" in self.table.features else {}  # of corrections
        self.weights = {name: weight for name, weight in {**own, **model.weights}.items() if weight != 0}
        self.names = _names(self.table.features)
        for name in MISSING[format]:
            if name in self.weights and not self._without(name):
                raise UsageError(f"the feature {name} has a weight, and {format} has no such feature")
        known = {*self.names, *SEARCH}
        for name in self.weights:
            if name not in known:
                raise UsageError(f"the feature {name} has a weight, and cannot be written for {format}")

    def weight(self, name: str) -> float:
        return self.weights.get(name, 0.0)

    def of_rules(self) -> dict[str, float]:
        """Return the weights of the features that rules contain, by their names in the other format."""
        found = {self.names[name]: self.weight(name) for name in self.table.features}
        return found | {"rule_penalty": self.weight("rule_penalty")}

    def write(self) -> Exported:
        self.refuse_merged("the source side", self.table.source_words)
        self.refuse_merged("the target side", self.table.target_words)
        if self.translator.lm is not None:
            self.write_lm()
        rules = self.rules()
        write_some(self.table, self.folder / RULES, self.style(), rules)
        path = self.folder / CONFIGURATION[self.format]
        self.text(path.name, self.configuration(rules))
        return Exported(self.folder, path, len(rules))

    def write_lm(self) -> None:
        """Write the language model with the words of the rules."""
        model = self.translator.lm
        assert model is not None
        model.write_arpa(self.folder / LM)
        if self.refuse_merged("the language model", [model.word(number) for number in range(len(model))]):
            self.text(LM, [self.written(line) for line in iterate_lines(self.folder / LM)])

    def refuse_merged(self, what: str, words: Sequence[str]) -> bool:
        """Refuse two words that the format would make equal. Return whether the format changes any word."""
        changed = {self.written(word): word for word in words if self.written(word) != word}
        for word in changed and words:
            if word in changed:
                other = changed[word]
                raise UsageError(f"{what} has {other!r} and {word!r}, which are one word in {self.format}")
        return bool(changed)

    def written(self, text: str) -> str:
        """Convert the words of a text to the form that the format needs."""
        return text

    def rules(self) -> list[int]:
        """Return the rules that the model uses. For each source side, these are as many as its search tries."""
        features = _core.FeatureSet(self.table, "")
        if self.translator.lm is not None:
            features.add_ngram(self.translator.lm.core)
        symbols = None if self.test is None else [_symbols(source) for source in self.test]
        return _core.select_rules(features, list(self.weights.items()), self.search.per_source, symbols)

    def style(self) -> _core.GrammarStyle:
        names = [self.names[name] for name in self.table.features]
        return _core.GrammarStyle(FORMATS[self.format], names, rule_penalty="rule_penalty")

    def text(self, name: str, lines: Sequence[str]) -> None:
        with write_binary(self.folder / name) as stream:
            stream.write(("\n".join(lines) + "\n").encode())

    def configuration(self, rules: Sequence[int]) -> list[str]:
        raise NotImplementedError

    def _without(self, name: str) -> bool:
        """Return whether a feature can never affect a score, whatever its weight."""
        return name == "lm_unknown" and self.translator.lm is None

    @property
    def order(self) -> int:
        return 0 if self.translator.lm is None else self.translator.lm.order


class _Cdec(_Writer):
    def configuration(self, rules: Sequence[int]) -> list[str]:
        weights = self.of_rules() | {"Glue": self.weight("glue"), "WordPenalty": -LN10 * self.weight("word_penalty")}
        lines = ["formalism=scfg", f"grammar={RULES}", "weights=weights", "feature_function=WordPenalty"]
        if self.order:
            lines.append(f"feature_function=KLanguageModel {LM}")
            weights |= {"LanguageModel": LN10 * self.weight("lm"), "LanguageModel_OOV": self.weight("lm_unknown")}
        if self.test is None:
            lines.append("add_pass_through_rules=1")
            weights["PassThrough"] = self.weight("unknown")
        else:  # cdec lets all words pass through: here only those that the table has no rule for
            lines.append(f"grammar={UNKNOWN}")
            weights["unknown"] = self.weight("unknown")
            self.text(UNKNOWN, [f"[X] ||| {word} ||| {word} ||| unknown=1" for word in self._unknown()])
        lines.append(f"scfg_max_span_limit={self.search.span_limit}")
        if self.search.pop_limit:
            lines.append(f"cubepruning_pop_limit={self.search.pop_limit}")
        self.text("weights", [f"{name} {weight!r}" for name, weight in weights.items()])
        return lines

    def _unknown(self) -> list[str]:
        assert self.test is not None
        words = dict.fromkeys(word for source in self.test for word in _symbols(source))
        first = {source[0] for source in (self.table.rule(rule)[1] for rule in self.rules()) if len(source) == 1}
        known = {self.table.source_words[word] for word in first if word < len(self.table.source_words)}
        for word in words:
            if word not in known and (word == "|||" or (len(word) > 2 and word.startswith("[") and word.endswith("]"))):
                raise ValueError(f"the word {word!r} would be read as something else in this format")
        return [word for word in words if word not in known]


class _Marked(_Writer):
    """Writes for decoders whose glue rules contain <s> and </s>, which count as words."""

    def offset(self) -> float:
        """Return a score that compensates for <s> and </s> as words, and for the additional use of glue."""
        return -2 * self.weight("word_penalty") - self.weight("glue")


class _Moses(_Marked):
    def __init__(self, model: Model, folder: Path, format: FormatName, test: list[Source] | None) -> None:
        super().__init__(model, folder, format, test)
        for name in self.table.features[self.table.dense_features :]:
            if name in self.weights:
                raise UsageError(f"the feature {name} has a weight: sparse features cannot be written for moses")

    def written(self, text: str) -> str:
        return text.replace("|", "&#124;")  # what separates factors; the core writes rules so, too

    def style(self) -> _core.GrammarStyle:
        dense = self.table.dense_features
        names = ["" if i < dense else self.names[name] for i, name in enumerate(self.table.features)]
        return _core.GrammarStyle(FORMATS["moses"], names, rule_penalty="rule_penalty")

    def configuration(self, rules: Sequence[int]) -> list[str]:
        glue = [
            f"<s> [X] ||| <s> [S] ||| {math.exp(self.offset()):.9g} ||| |||",
            "[X][S] </s> [X] ||| [X][S] </s> [S] ||| 1 ||| 0-0 |||",
            f"[X][S] [X][X] [X] ||| [X][S] [X][X] [S] ||| {math.exp(self.weight('glue')):.9g} ||| 0-0 1-1 |||",
        ]
        self.text(GLUE, glue)
        dense = self.table.features[: self.table.dense_features]
        scores = [*(self.weight(name) for name in dense), self.weight("rule_penalty")]
        # Moses sorts the rules of a source side only if their number is limited; unsorted, its cube pruning is worse.
        # So the limit is one that leaves nothing out.
        table = (
            "PhraseDictionaryMemory name={} num-features={} path={} input-factor=0 output-factor=0 table-limit=100000"
        )
        lines = ["[input-factors]", "0", "", "[mapping]", "0 T 0", "1 T 1", "", "[search-algorithm]", "3", ""]
        lines += ["[inputtype]", "3", "", "[max-chart-span]", f"{self.search.span_limit}", "1000", ""]
        if self.search.pop_limit:
            lines += ["[cube-pruning-pop-limit]", f"{self.search.pop_limit}", ""]
        lines += ["[feature]", "UnknownWordPenalty", "WordPenalty"]
        lines.append(table.format("TranslationModel0", len(scores), RULES))
        lines.append(table.format("TranslationModel1", 1, GLUE))
        if self.order:
            lines.append(f"KENLM name=LM0 factor=0 path={LM} order={self.order} lazyken=0")
        lines += ["", "[weight]", f"UnknownWordPenalty0= {-self.weight('unknown') / 100!r}"]
        lines.append(f"WordPenalty0= {-self.weight('word_penalty')!r}")
        lines.append(f"TranslationModel0= {' '.join(repr(score) for score in scores)}")
        lines.append("TranslationModel1= 1")
        return [*lines, f"LM0= {self.weight('lm')!r}"] if self.order else lines


class _Joshua(_Marked):
    def __init__(self, model: Model, folder: Path, format: FormatName, test: list[Source] | None) -> None:
        super().__init__(model, folder, format, test)
        if self.weight("unknown") > 0:
            raise UsageError("the weight of unknown is above 0: Joshua takes it for a penalty")

    def style(self) -> _core.GrammarStyle:
        names = [self.names[name] for name in self.table.features]
        return _core.GrammarStyle(FORMATS["joshua"], names, rule_penalty="rule_penalty", masked=True)

    def written(self, text: str) -> str:
        return mask(text)

    def configuration(self, rules: Sequence[int]) -> list[str]:
        glue = [
            "[GOAL] ||| <s> ||| <s> ||| offset=1",
            "[GOAL] ||| [GOAL,1] [X,2] ||| [GOAL,1] [X,2] ||| glue=1",
            "[GOAL] ||| [GOAL,1] </s> ||| [GOAL,1] </s> |||",
        ]
        self.text(GLUE, glue)
        lines = [
            f"tm = thrax -owner pt -maxspan {self.search.span_limit} -path {RULES}",
            f"tm = thrax -owner glue -maxspan -1 -path {GLUE}",
            "default-non-terminal = X",
            "goal-symbol = GOAL",
            "true-oovs-only = true",
            "mark-oovs = false",
            "feature-function = WordPenalty",
            "feature-function = OOVPenalty",
        ]
        weights = self.of_rules() | {"glue": self.weight("glue"), "offset": self.offset()}
        weights["WordPenalty"] = -LN10 * self.weight("word_penalty")
        weights["OOVPenalty"] = abs(self.weight("unknown")) / 100
        if self.order:
            lines.append(f"feature-function = StateMinimizingLanguageModel -lm_order {self.order} -lm_file {LM}")
            weights["lm_0"] = LN10 * self.weight("lm")
        if self.search.pop_limit:
            lines.append(f"pop-limit = {self.search.pop_limit}")
        return [*lines, "", *(f"{name} {weight!r}" for name, weight in weights.items())]


class _Travatar(_Writer):
    """Writes rules of trees. Phrases, pseudo rules and unknown words become rules for the test set's forests."""

    def style(self) -> _core.GrammarStyle:
        names = [self.names[name] for name in self.table.features]
        return _core.GrammarStyle(FORMATS["travatar"], names, "rule_penalty", "word_penalty")

    def _without(self, name: str) -> bool:
        return name == "glue" or super()._without(name)  # the model has it for what has no parse

    def write(self) -> Exported:
        if self.test is None:
            raise UsageError(
                f"a {self.model.kind} model has phrases and pseudo rules, which Travatar lacks: they are written for "
                "the nodes of a test set's forests; expected --filter"
            )
        if any(not isinstance(source, ParseForest) for source in self.test):
            raise UsageError("the test set has lines without a parse: Travatar translates trees and forests")
        return super().write()

    def configuration(self, rules: Sequence[int]) -> list[str]:
        from treeglot.foreign.export_trees import rules_of_forests

        fragments = [rule for rule in rules if self._is_fragment(rule)]
        phrases = [rule for rule in rules if not self._is_fragment(rule)]
        self._check_phrases(phrases)
        forests = [source for source in self.test or () if isinstance(source, ParseForest)]
        with write_binary(self.folder / RULES) as stream:
            stream.write(_core.write_rules(self.table, self.style(), fragments))
            for line in rules_of_forests(self.model, forests, phrases, self.style()):
                stream.write(line.encode() + b"\n")
        weights = self.of_rules() | {name: self.weight(name) for name in ("word_penalty", "pseudo", "unknown", "parse")}
        weights["unk"] = self.weight("unknown") + self.weight("word_penalty")
        lines = ["[tm_file]", RULES, "", "[in_format]", "egret", ""]
        if self.order:
            lines += ["[lm_file]", LM, ""]
            weights |= {"lm": LN10 * self.weight("lm"), "lmunk": self.weight("lm_unknown")}
        if self.search.pop_limit:
            lines += ["[pop_limit]", f"{self.search.pop_limit}", ""]
        return [*lines, "[weight_vals]", *(f"{name}={weight!r}" for name, weight in weights.items())]

    def _check_phrases(self, phrases: Sequence[int]) -> None:
        words = len(self.table.source_words)
        sources = [self.table.rule(rule)[1] for rule in phrases]
        hierarchical = any(symbol >= words for source in sources for symbol in source)
        off_nodes = self.search.pseudo_structures or self.search.crossing_phrases
        if hierarchical or (off_nodes and any(len(source) > 1 for source in sources)):
            raise UsageError(
                "Travatar has no hierarchical phrases, and no phrases off forest nodes; expected a model "
                "trained with --set extract.max_nonterminals=0 --set search.pseudo_structures=false and without "
                "search.crossing_phrases"
            )

    def _is_fragment(self, rule: int) -> bool:
        source = self.table.rule(rule)[1]
        words = self.table.source_words
        return bool(source) and source[0] < len(words) and words[source[0]].startswith(" ")


_WRITERS: Mapping[str, type[_Writer]] = {"cdec": _Cdec, "joshua": _Joshua, "moses": _Moses, "travatar": _Travatar}


def _names(features: Sequence[str]) -> dict[str, str]:
    """Return the names of features as they appear in grammars, without the separator before the value."""
    names = {name: "".join("_" if c in " \t\n=;|" else c for c in name) for name in features}
    taken: dict[str, str] = {}
    for name, written in names.items():
        if written in taken or written in SEARCH:
            raise UsageError(f"the features {taken.get(written, written)!r} and {name!r} would both be {written!r}")
        taken[written] = name
    return names


def _symbols(source: Source) -> list[str]:
    """Return the symbols of a table's source sides: words, and brackets of fragments."""
    if isinstance(source, str):
        return source.split()
    if isinstance(source, ParseForest):
        labels = (source.label(node) for node in range(source.graph.nodes) if not source.is_word(node))
        return [*source.words, *(f" {label}(" for label in dict.fromkeys(labels)), " )"]
    if isinstance(source, LatticeForest):
        return [*_symbols(source.forest), *source.lattice.words]
    return list(source.words if isinstance(source, Dependency | Lattice) else source)
