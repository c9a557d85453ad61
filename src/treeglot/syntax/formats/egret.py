"""Packed forests as the Egret parser prints them."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import count
from typing import Literal

from treeglot._core import EgretReader, ParseForest, write_egret
from treeglot.base.errors import UsageError
from treeglot.base.options import unknown
from treeglot.syntax.formats.format import Format

_UNITS = {"e": 1.0, "2": math.log(2)}


def _reader(file: str, skip_bad: bool, keep_suffix: bool = False, base: Literal["e", "2", 2] = "e") -> EgretReader:
    if (name := str(base)) not in _UNITS:
        raise UsageError(unknown("base of logarithms", name, _UNITS))
    return EgretReader(file, skip_bad, keep_suffix, _UNITS[name])


def _writer() -> Callable[[ParseForest], str]:
    numbers = count(1)
    return lambda forest: write_egret(forest, next(numbers))


EGRET = Format(
    name="egret",
    summary="packed forests as Egret prints them",
    holds=ParseForest,
    suffixes=(".forest", ".egret"),
    reader=_reader,
    writer=_writer,
)
