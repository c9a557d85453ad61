"""Head tables, which define the head child of each constituent. They are text files (docs/formats.md)."""

from __future__ import annotations

import os
from pathlib import Path

from treeglot._core import HeadTable
from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import PathLike, read_chunks

__all__ = ["HeadTable", "load", "names"]

_FOLDER = Path(__file__).parent
_SUFFIX = ".heads"


def names() -> list[str]:
    """Return the names of the tables that come with Treeglot.

    >>> names()
    ['chinese', 'chinese-particles', 'english', 'first', 'german', 'last']
    """
    return sorted(path.stem for path in _FOLDER.glob(f"*{_SUFFIX}"))


def load(table: PathLike) -> HeadTable:
    """Load a head table by its name or from a file. A mistake in the file raises `FormatError`.

    >>> load("english").head_child("NP", ["DT", "NN", "CC", "NN"])
    1
    >>> load("chinese").head_child("NP", ["NPB", "CC", "NPB"])
    2
    """
    name = os.fspath(table)
    own = _FOLDER / f"{name}{_SUFFIX}"
    if name in names():
        return _read(own, f"{name}{_SUFFIX}")
    if isinstance(table, str) and os.sep not in name and not Path(name).exists():
        raise UsageError(f"no head table {name!r}: expected a file or one of {', '.join(names())}")
    return _read(table, name)


def _read(path: PathLike, name: str) -> HeadTable:
    content = b"".join(read_chunks(path))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FormatError(name, line, f"byte 0x{content[error.start]:02x} is not UTF-8") from error
    return HeadTable.read(text, name)
