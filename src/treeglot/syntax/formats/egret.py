"""Packed forests as the Egret parser prints them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from treeglot._core import EgretReader, ParseForest, write_egret
from treeglot.syntax.formats.format import Format


def _reader(file: str, skip_bad: bool, keep_suffix: bool = False) -> EgretReader:
    return EgretReader(file, skip_bad, keep_suffix)


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
