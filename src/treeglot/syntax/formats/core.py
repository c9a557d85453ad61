"""Declares the formats that the core reads and writes."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import count
from typing import Literal, TypeVar

from treeglot._core import (
    Alignment,
    ArcScores,
    BracketReader,
    Conll,
    ConllReader,
    Dependency,
    EgretReader,
    ForestJsonReader,
    Lattice,
    LatticeJsonReader,
    ParseForest,
    PharaohReader,
    PlainReader,
    PlfReader,
    TagColumn,
    Tree,
    write_brackets,
    write_conll,
    write_egret,
    write_forest_json,
    write_lattice_json,
    write_pharaoh,
    write_plain,
)
from treeglot.base.errors import UsageError
from treeglot.base.options import unknown
from treeglot.syntax.formats.format import CoreReader, Format

T = TypeVar("T")

_TAGS = {"upos": TagColumn.coarse, "xpos": TagColumn.fine, "cpostag": TagColumn.coarse, "postag": TagColumn.fine}
_UNITS = {"e": 1.0, "2": math.log(2)}


def _reader(kind: Callable[[str, bool], CoreReader[T]]) -> Callable[[str, bool], CoreReader[T]]:
    """Return a reader without options. Its signature can be inspected, as for other readers."""
    return lambda file, skip_bad: kind(file, skip_bad)


def _lines(write: Callable[[T], str]) -> Callable[[], Callable[[T], str]]:
    """Return a writer for values that take one line each."""
    return lambda: lambda value: write(value) + "\n"


def _column(tags: str, *known: str) -> TagColumn:
    if tags not in known:
        raise UsageError(unknown("column of tags", tags, known))
    return _TAGS[tags]


def _read_conllu(file: str, skip_bad: bool, tags: Literal["upos", "xpos"] = "upos") -> ConllReader:
    return ConllReader(file, skip_bad, Conll.u, _column(tags, "upos", "xpos"))


def _write_conllu(tags: Literal["upos", "xpos"] = "upos") -> Callable[[Dependency], str]:
    column = _column(tags, "upos", "xpos")
    return lambda dependency: write_conll(dependency, Conll.u, column)


def _read_conllx(file: str, skip_bad: bool, tags: Literal["cpostag", "postag"] = "postag") -> ConllReader:
    return ConllReader(file, skip_bad, Conll.x, _column(tags, "cpostag", "postag"))


def _write_conllx() -> Callable[[Dependency], str]:
    return lambda dependency: write_conll(dependency, Conll.x, TagColumn.fine)


def _read_egret(file: str, skip_bad: bool, keep_suffix: bool = False, base: Literal["e", "2", 2] = "e") -> EgretReader:
    if not isinstance(keep_suffix, bool):
        raise UsageError(f"keep_suffix is {keep_suffix!r}; expected true or false")
    if (name := str(base)) not in _UNITS:
        raise UsageError(unknown("base of logarithms", name, _UNITS))
    return EgretReader(file, skip_bad, keep_suffix, _UNITS[name])


def _read_plf(file: str, skip_bad: bool, scores: Literal["probability", "log", "cost"] = "probability") -> PlfReader:
    known = [each.name for each in ArcScores]
    if scores not in known:
        raise UsageError(unknown("kind of scores", scores, known))
    return PlfReader(file, skip_bad, ArcScores[scores])


def _write_egret(first: int = 1) -> Callable[[ParseForest], str]:
    numbers = count(first)
    return lambda forest: write_egret(forest, next(numbers))


PLAIN: Format[list[str]] = Format(
    "text", "plain tokenised text", list, (".txt", ".tok"), _reader(PlainReader), _lines(write_plain)
)
BRACKETS = Format(
    "brackets",
    "Penn Treebank brackets",
    Tree,
    (".tree", ".ptb", ".mrg", ".brackets"),
    _reader(BracketReader),
    _lines(write_brackets),
)
EGRET = Format(
    "egret", "packed forests as Egret prints them", ParseForest, (".forest", ".egret"), _read_egret, _write_egret
)
FOREST_JSON = Format(
    "jsonl",
    "packed forests as JSON lines",
    ParseForest,
    (".jsonl",),
    _reader(ForestJsonReader),
    _lines(write_forest_json),
)
LATTICE_JSON = Format(
    "lattice",
    "word lattices as JSON lines",
    Lattice,
    (".lattice",),
    _reader(LatticeJsonReader),
    _lines(write_lattice_json),
)
PLF = Format("plf", "word lattices as Moses and cdec read them", Lattice, (".plf",), _read_plf)
CONLLU = Format("conllu", "CoNLL-U (Universal Dependencies)", Dependency, (".conllu",), _read_conllu, _write_conllu)
CONLLX = Format("conllx", "CoNLL-X (2006 and 2007)", Dependency, (".conllx", ".conll"), _read_conllx, _write_conllx)
PHARAOH = Format(
    "pharaoh",
    "Pharaoh links, from the source to the target",
    Alignment,
    (".align", ".links", ".pharaoh", ".gd", ".gda", ".gdf", ".gdfa"),
    _reader(PharaohReader),
    _lines(write_pharaoh),
)
