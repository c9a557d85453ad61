"""Packed forests as JSON lines: our own format, which holds everything that a forest can be."""

from __future__ import annotations

from collections.abc import Callable

from treeglot._core import ForestJsonReader, ParseForest, write_forest_json
from treeglot.syntax.formats.format import Format


def _reader(file: str, skip_bad: bool) -> ForestJsonReader:
    return ForestJsonReader(file, skip_bad)


def _writer() -> Callable[[ParseForest], str]:
    return lambda forest: write_forest_json(forest) + "\n"


FOREST_JSON = Format(
    name="jsonl",
    summary="packed forests as JSON lines",
    holds=ParseForest,
    suffixes=(".jsonl",),
    reader=_reader,
    writer=_writer,
)
