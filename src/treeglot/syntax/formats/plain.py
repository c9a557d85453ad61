"""Plain tokenised text: a sentence a line, tokens separated by blanks."""

from __future__ import annotations

from collections.abc import Callable

from treeglot._core import PlainReader, write_plain
from treeglot.syntax.formats.format import Format


def _reader(file: str, skip_bad: bool) -> PlainReader:
    return PlainReader(file, skip_bad)


def _writer() -> Callable[[list[str]], str]:
    return lambda sentence: write_plain(sentence) + "\n"


PLAIN: Format[list[str]] = Format(
    name="text",
    summary="plain tokenised text",
    holds=list,
    suffixes=(".txt", ".tok"),
    reader=_reader,
    writer=_writer,
)
