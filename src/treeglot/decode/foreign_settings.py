"""What configurations of other decoders say beside weights: names, limits, labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from treeglot.decode.search import MOST


@dataclass(frozen=True)
class ForeignSettings:
    """Settings of a joshua.config or a moses.ini; what they do not say is empty or None."""

    names: Mapping[str, str] = field(default_factory=dict)  # what features that usually have another name are called
    prefixes: tuple[str, ...] = ()  # what names of features begin with, by grammar
    span_limit: int | None = None  # of the first grammar
    per_source: int | None = None  # likewise
    goal: str = ""  # the label of sentences
    passed: str = ""  # the label of words that pass through


class SettingsReader:
    """Takes a configuration's lines; what it does not know it passes over. A limit too large is a ValueError."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.prefixes: list[str] = []
        self.span_limit: int | None = None
        self.per_source: int | None = None
        self.goal = self.passed = self.weights_file = ""
        self.defaults: dict[str, float] = {}  # weights of features that need not be given one
        self.old: tuple[int, str] | None = None  # a section that Moses reads only where the new ones are not
        self._seen: dict[str, int] = {}

    def done(self) -> ForeignSettings:
        """All that was said."""
        prefixes = tuple(self.prefixes)
        return ForeignSettings(self.names, prefixes, self.span_limit, self.per_source, self.goal, self.passed)

    def moses(self, section: str, line: str) -> None:
        """A line of [feature], such as KENLM name=LM0 factor=0 …, or the first one of [max-chart-span]."""
        if section == "max-chart-span" and self.span_limit is None:
            self.span_limit = _positive(line, "[max-chart-span]")
        if section != "feature":
            return
        kind, *given = line.split()
        options = dict(option.partition("=")[::2] for option in given)
        number = self._seen[kind] = self._seen.get(kind, -1) + 1
        name = options.get("name", f"{kind}{number}")
        if kind.startswith("PhraseDictionary"):
            if not self.prefixes:
                self.per_source = _number(options.get("table-limit", ""), "table-limit")
            self.names[f"TranslationModel{len(self.prefixes)}"] = name
            self.prefixes.append(name)
        elif kind.upper().endswith("LM"):
            self.names.setdefault("LM0", name)
        elif kind in ("WordPenalty", "UnknownWordPenalty", "PhrasePenalty"):
            self.names.setdefault(kind + "0", name)
        if kind == "UnknownWordPenalty":
            self.defaults[name] = 1.0

    def joshua(self, line: str) -> None:
        """A setting: tm = thrax pt 12 grammar.gz, or tm = thrax -owner pt -maxspan 12 -path grammar.gz, and others.

        Joshua does not care for case, - and _ in names.
        """
        name, _, value = line.partition("=")
        match name.strip().replace("_", "").replace("-", "").lower():
            case "tm":
                parts = value.split()
                by_name = dict(pairwise(parts))
                owner, limit = by_name.get("-owner"), by_name.get("-maxspan")
                if owner is None and len(parts) >= 4:
                    owner, limit = parts[1:3]
                if not self.prefixes:
                    self.span_limit = _positive(limit or "", "the span limit")
                self.prefixes.append(f"tm_{owner or 'pt'}")
            case "goalsymbol":
                self.goal = value.strip().strip("[]")
            case "defaultnonterminal":
                self.passed = value.strip().strip("[]")
            case "weightsfile":
                self.weights_file = value.strip()


def _number(text: str, name: str) -> int | None:
    if not text.strip().isdecimal():
        return None
    if float(text) > MOST:  # of any number of digits, which an integer is not
        raise ValueError(f"{name} is {text.strip()[:30]}; expected at most {MOST}")
    return int(text)


def _positive(text: str, name: str) -> int | None:
    return _number(text, name) or None
