"""What a kind of model declares: which extractor takes its rules, what meets the input, which features score."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from treeglot.base.errors import UsageError
from treeglot.decode import SearchOptions, Setup, Source, match_strings
from treeglot.rules import CompileOptions, Extraction, ScoreOptions
from treeglot.rules.score import COLUMNS
from treeglot.syntax import FORMATS, READ_ONLY, Alignment, Dependency, ParseForest, Records, Tree, find_format

NOUNS = {Tree: "trees", ParseForest: "forests", Dependency: "dependencies", Alignment: "alignments", list: "text"}

# What the files of a corpus may hold, by the end of their names; a tree is a forest with one derivation.
HOLDS = {"_trees": (Tree,), "_forests": (ParseForest, Tree), "_dependencies": (Dependency,)}


@dataclass(frozen=True)
class Corpus:
    """The files of a parallel corpus; a kind of model says which of them it needs."""

    source: Path | None = None
    target: Path | None = None
    alignments: Path | None = None
    source_trees: Path | None = None
    target_trees: Path | None = None
    source_forests: Path | None = None
    source_dependencies: Path | None = None
    target_dependencies: Path | None = None

    def file(self, name: str) -> Path:
        """A file that must be there."""
        path: Path | None = getattr(self, name)
        if path is None:
            raise UsageError(f"there is no {option_name(name)}")
        return path

    def given(self) -> tuple[str, ...]:
        """The names of the files that are there."""
        return tuple(f.name for f in dataclasses.fields(self) if getattr(self, f.name) is not None)


@dataclass(frozen=True)
class Work:
    """What a training may use, and whom it tells what it does, line by line."""

    threads: int = 1
    memory: int = 2 << 30
    report: Callable[[str], None] = lambda line: None


class ModelOptions(Protocol):
    """What the options of every kind of model have; what `extract` holds is the extractor's business."""

    @property
    def score(self) -> ScoreOptions:
        """How rules are scored and pruned."""
        ...

    @property
    def search(self) -> SearchOptions:
        """How sentences are translated."""
        ...

    @property
    def lm_order(self) -> int:
        """Words in the language model's longest n-grams."""
        ...


def _strings(folder: Path) -> Setup:
    return match_strings


def _nothing(corpus: Corpus, folder: Path, options: Any, work: Work) -> None:
    pass


def _judge(options: Any) -> None:
    options.extract.limits()
    chosen: CompileOptions | None = getattr(options, "compile", None)
    text = [name for name, holds in COLUMNS.items() if holds == "text"]
    if chosen is not None:
        try:
            chosen.check(COLUMNS.keys() - text, text)
        except UsageError as error:
            raise UsageError(f"compile.{error}", ("compile", *error.key)) from error


def read_sources(path: Path, format: str | None, *holds: type[Any], skip_bad: bool = False) -> Iterator[Any]:
    """The values of a file that has one of these types, in the format named or that of its suffix.

    In the format `text`, or with a suffix that names none, it has a sentence a line, as it stands: one bad line never
    ends a run of many. A format that holds anything else is refused. With `skip_bad` a bad record is None.
    """
    from treeglot.base.files import iterate_lines, logical_suffix

    known = {suffix: f.name for f in (*FORMATS.values(), *READ_ONLY.values()) for suffix in f.suffixes}
    chosen = find_format(path, format or known.get(logical_suffix(path), "text"))
    if chosen.holds is list:
        return iterate_lines(path, errors="replace")
    if chosen.holds not in holds:
        wanted = " or ".join(["text", *(NOUNS[each] for each in holds)])
        raise UsageError(f"{path} is in the format {chosen.name}: {NOUNS[chosen.holds]}; the model translates {wanted}")
    return Records(path, chosen, skip_bad, {}, holes=skip_bad)


def read_strings(path: Path, format: str | None) -> Iterable[Source]:
    """A sentence a line, as it stands."""
    return read_sources(path, format)


@dataclass(frozen=True)
class Kind:
    """A kind of model. A new one is a declaration of this, and an entry in `treeglot.models.KINDS`."""

    name: str
    summary: str
    options: type[Any]  # a dataclass with the fields of ModelOptions
    weights: Mapping[str, float]  # where tuning starts, and what an untuned model uses
    # Files of the corpus, each a name or several that serve: "source_trees|source_forests".
    needs: tuple[str, ...]
    takes: tuple[str, ...] = field(kw_only=True, default=())  # files that it can do without
    translates: tuple[str, ...] = field(kw_only=True, default=("source",))  # what `read` reads: the first is the best
    extract: Callable[[Corpus, Path, Any, Work], Extraction]
    compile: CompileOptions = field(default_factory=CompileOptions)
    more: Callable[[Corpus, Path, Any, Work], None] = _nothing  # files beside rules and language model
    setup: Callable[[Path], Setup] = _strings  # given the model's folder
    read: Callable[[Path, str | None], Iterable[Source]] = read_strings  # what is translated, and its format if told
    judge: Callable[[Any], None] = _judge  # refuses options that make no sense, before any work

    def check(self, corpus: Corpus) -> None:
        """Refuses a corpus that lacks a file, or has one that would not be used."""
        given = corpus.given()
        known = {"source", "target", "alignments", *self.takes}
        for need in self.needs:
            names = need.split("|")
            known.update(names)
            found = [name for name in names if name in given]
            if len(found) != 1:
                wanted = " or ".join(option_name(name) for name in names)
                has = " and ".join(option_name(name) for name in found) or "none"
                raise UsageError(f"a {self.name} model is trained with {wanted}; {has} was given")
        for name in given:
            if name not in known:
                raise UsageError(f"a {self.name} model makes no use of {option_name(name)}")


def check_format(name: str, path: Path, shown: str) -> None:
    """Refuses a file of a corpus whose suffix says that it does not hold what it is named for; messages have `shown`.

    >>> check_format("source_trees", Path("dev.conllu"), "--source-trees")
    Traceback (most recent call last):
    treeglot.base.errors.UsageError: --source-trees dev.conllu: the format conllu holds dependencies, not trees
    """
    for end, holds in HOLDS.items():
        if name.endswith(end) and (format := find_format(path)).holds not in holds:
            wanted = " or ".join(NOUNS[each] for each in holds)
            raise UsageError(f"{shown} {path}: the format {format.name} holds {NOUNS[format.holds]}, not {wanted}")


def option_name(file: str) -> str:
    """How the command line calls a file of a corpus.

    >>> option_name("source_trees")
    '--source-trees'
    """
    return "--" + file.replace("_", "-")
