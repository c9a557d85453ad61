"""Translates files of documents. The suffix of a file selects the format.

.txt                    lines and blank lines stay
.html .htm .xhtml       a page
.xliff .xlf             XLIFF 1.2 and 2: the targets of units that have none   (pip install treeglot[documents])
.po .pot                gettext: the messages without a translation            (pip install treeglot[documents])
.docx                   a text of Word or LibreOffice                          (pip install treeglot[documents])
"""

from __future__ import annotations

import codecs
import importlib
import os
import re
from codecs import BOM_UTF8
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import PathLike, write_binary
from treeglot.base.options import unknown

if TYPE_CHECKING:
    from treeglot.documents.inline import Item, Translates

_CHARSET = re.compile(
    r"^<\?xml[^>]+encoding\s*=\s*[\"']([\w.:-]+)|<meta[^>]+charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE
)
_NOT_OF_PAGES = frozenset(("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"))  # Python's own
_GAP = re.compile(r"(?<=[^\s.!?。！？][ \u3000])[ \u3000]+(?=\S)")  # not after a sentence, where blanks stay anyway

Format: TypeAlias = "Callable[[Translates, bytes, int], bytes]"


def translate_file(model: Translates, path: PathLike, out: PathLike, *, threads: int = 1) -> None:
    """Write a document in the target language. The suffix of `path`, not of `out`, selects the format."""
    name = os.fspath(path)
    translate = find_format(name)
    try:
        made = translate(model, Path(name).read_bytes(), threads)
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise FormatError(
            name, line, f"has bytes that are no {error.encoding.upper()}; expected that encoding"
        ) from error
    except UnreadableError as error:
        raise FormatError(name, error.line, error.problem) from error
    with write_binary(out) as stream:
        stream.write(made)


class UnreadableError(Exception):
    """A document does not have the format of its suffix."""

    def __init__(self, problem: str, line: int = 0) -> None:
        super().__init__(problem)
        self.problem, self.line = problem, line


def is_document(path: PathLike) -> bool:
    """Return whether a suffix names a document format other than plain text."""
    suffix = Path(path).suffix.lower()
    return suffix in FORMATS and suffix != ".txt"


def find_format(path: PathLike) -> Format:
    """Find the function that translates a document of this name."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise UsageError(unknown("kind of document", suffix or os.fspath(path), FORMATS))
    return FORMATS[suffix]


def require(module: str) -> Any:
    """Import a package of the extra `documents`."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UsageError(f"{module.partition('.')[0]} is not installed: pip install treeglot[documents]") from error


def _text(model: Translates, data: bytes, threads: int) -> bytes:
    """Translate lines of text. Lines are never joined, and lines without letters or digits stay.

    If several blanks separate two words, they stay before the second word.
    """
    from treeglot.documents.inline import translate_segments

    mark = data[: len(BOM_UTF8)] if data.startswith(BOM_UTF8) else b""
    segments = [_with_gaps(line) for line in data[len(mark) :].decode("utf-8").split("\n")]
    made = translate_segments(model, segments, threads)
    return mark + "\n".join(map(_line, made)).encode()


def _with_gaps(line: str) -> list[Item]:
    """Turn a line into a segment. Of several blanks in a row, all except the first become one object."""
    from treeglot.documents.inline import Object

    items: list[Item] = []
    at = 0
    for gap in _GAP.finditer(line):
        items += [line[at : gap.start()], Object(gap[0])]
        at = gap.end()
    return [*items, line[at:]]


def _line(items: list[Item]) -> str:
    """Return the text of a line without its leading blanks."""
    from treeglot.documents.inline import Object

    out = ""
    for item in items:
        out += item if isinstance(item, str) else item.tag if isinstance(item, Object) and out.strip() else ""
    return out


def _html(model: Translates, data: bytes, threads: int) -> bytes:
    """Translate a page. Its encoding is the one that it names, or UTF-8; a UTF-8 byte order mark overrides the name."""
    from treeglot.documents.html import translate_html

    mark = data[: len(BOM_UTF8)] if data.startswith(BOM_UTF8) else b""
    found = None if mark else _CHARSET.search(data[:2048].decode("latin-1"))
    encoding = _encoding((found[1] or found[2]) if found else "utf-8", data)
    text = data[len(mark) :].decode(encoding)
    return mark + translate_html(model, text, threads=threads).encode(encoding, "xmlcharrefreplace")


def _encoding(name: str, data: bytes) -> str:
    """Return Python's name for the encoding of a page. As in browsers, Latin-1 means Windows-1252."""
    try:
        known = codecs.lookup(name).name
        if known in _NOT_OF_PAGES:
            raise LookupError(known)
        "".encode(known)  # not all are of text
    except (LookupError, UnicodeError) as error:
        raise UnreadableError(f"names the encoding {name!r}, which nobody knows; expected one such as UTF-8") from error
    western = known in ("ascii", "iso8859-1") and not any(byte in data for byte in b"\x81\x8d\x8f\x90\x9d")
    return "cp1252" if western else known


def _xliff(model: Translates, data: bytes, threads: int) -> bytes:
    from treeglot.documents.xliff import translate_xliff

    return translate_xliff(model, data, threads)


def _po(model: Translates, data: bytes, threads: int) -> bytes:
    from treeglot.documents.po import translate_po

    return translate_po(model, data, threads)


def _docx(model: Translates, data: bytes, threads: int) -> bytes:
    from treeglot.documents.docx import translate_docx

    return translate_docx(model, data, threads)


FORMATS: dict[str, Format] = {
    ".txt": _text,
    **dict.fromkeys((".html", ".htm", ".xhtml"), _html),
    **dict.fromkeys((".xliff", ".xlf"), _xliff),
    **dict.fromkeys((".po", ".pot"), _po),
    ".docx": _docx,
}
"""By suffix: from a model, the bytes of a document and threads to the bytes of its translation."""
