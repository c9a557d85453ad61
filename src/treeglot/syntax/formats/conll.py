"""CoNLL-X and CoNLL-U: ten columns for each word, a blank line after each sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from treeglot._core import Conll, ConllReader, Dependency, TagColumn, write_conll
from treeglot.base.errors import UsageError
from treeglot.base.options import unknown
from treeglot.syntax.formats.format import Format

_COLUMNS = {"upos": TagColumn.coarse, "xpos": TagColumn.fine, "cpostag": TagColumn.coarse, "postag": TagColumn.fine}


def _column(tags: str, known: tuple[str, ...]) -> TagColumn:
    if tags not in known:
        raise UsageError(unknown("column of tags", tags, known))
    return _COLUMNS[tags]


def _u_reader(file: str, skip_bad: bool, tags: Literal["upos", "xpos"] = "upos") -> ConllReader:
    return ConllReader(file, skip_bad, Conll.u, _column(tags, ("upos", "xpos")))


def _u_writer(tags: Literal["upos", "xpos"] = "upos") -> Callable[[Dependency], str]:
    column = _column(tags, ("upos", "xpos"))
    return lambda dependency: write_conll(dependency, Conll.u, column)


def _x_reader(file: str, skip_bad: bool, tags: Literal["cpostag", "postag"] = "postag") -> ConllReader:
    return ConllReader(file, skip_bad, Conll.x, _column(tags, ("cpostag", "postag")))


def _x_writer() -> Callable[[Dependency], str]:
    return lambda dependency: write_conll(dependency, Conll.x, TagColumn.fine)


CONLLU = Format(
    name="conllu",
    summary="CoNLL-U (Universal Dependencies)",
    holds=Dependency,
    suffixes=(".conllu",),
    reader=_u_reader,
    writer=_u_writer,
)

CONLLX = Format(
    name="conllx",
    summary="CoNLL-X (2006 and 2007)",
    holds=Dependency,
    suffixes=(".conllx", ".conll"),
    reader=_x_reader,
    writer=_x_writer,
)
