"""Penn Treebank brackets: `(S (NP (PRP I)) (VP (VBP run)))`, on one line or on several."""

from __future__ import annotations

from collections.abc import Callable

from treeglot._core import BracketReader, Tree, write_brackets
from treeglot.syntax.formats.format import Format


def _reader(file: str, skip_bad: bool) -> BracketReader:
    return BracketReader(file, skip_bad)


def _writer() -> Callable[[Tree], str]:
    return lambda tree: write_brackets(tree) + "\n"


BRACKETS = Format(
    name="brackets",
    summary="Penn Treebank brackets",
    holds=Tree,
    suffixes=(".tree", ".ptb", ".mrg", ".brackets"),
    reader=_reader,
    writer=_writer,
)
