"""The text formats. Functions read and write files in any of them, by the name of the format or by the suffix."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import zip_longest
from typing import Any, Generic, TypeVar

from treeglot._core import Alignment, Dependency, Lattice, ParseForest, Tree
from treeglot.base.errors import FormatError, TreeglotError, UsageError
from treeglot.base.files import PathLike, Pause, iterate_lines, logical_suffix, paused, read_chunks, write_binary
from treeglot.base.options import unknown
from treeglot.syntax.formats.candc import CANDC
from treeglot.syntax.formats.core import BRACKETS, CONLLU, CONLLX, EGRET, FOREST_JSON, LATTICE_JSON, PHARAOH, PLAIN, PLF
from treeglot.syntax.formats.enju import ENJU, ENJU_STANDOFF
from treeglot.syntax.formats.format import Format

T = TypeVar("T")

FORMATS: Mapping[str, Format[Any]] = {
    format.name: format for format in (PLAIN, BRACKETS, EGRET, FOREST_JSON, LATTICE_JSON, CONLLU, CONLLX, PHARAOH)
}
"""The formats by name."""

READ_ONLY: Mapping[str, Format[Any]] = {format.name: format for format in (ENJU, ENJU_STANDOFF, CANDC, PLF)}
"""Formats of other programs, by name: they can be read, not written."""

LINES = {"text", "brackets", "jsonl", "lattice", "plf", "pharaoh"}
"""Formats that are known to end a record with its last line."""

_BY_NAME = {**FORMATS, **READ_ONLY}
_BY_SUFFIX = {suffix: format for format in _BY_NAME.values() for suffix in format.suffixes}
_NOUNS = {
    Tree: "trees",
    Dependency: "dependencies",
    Alignment: "alignments",
    ParseForest: "forests",
    Lattice: "lattices",
    list: "text",
}


class Records(Iterator[T], Generic[T]):
    """The values of a file, which are read as they are needed."""

    def __init__(
        self, path: PathLike, format: Format[T], skip_bad: bool, options: dict[str, Any], holes: bool = False
    ) -> None:
        """Open the file. With `holes`, a skipped bad record becomes None. Otherwise, it is left out."""
        self.file = _printable(path)
        self._path, self._format = path, format
        self._open = partial(format.open_reader, self.file, skip_bad, options)
        self._reader = self._open()
        self._values = self._read(path, holes)

    def __iter__(self) -> Records[T]:
        return self

    def __next__(self) -> T:
        return next(self._values)

    @property
    def skipped(self) -> int:
        """The number of bad records skipped so far."""
        return self._reader.skipped

    @property
    def problems(self) -> list[FormatError]:
        """The errors of the first hundred bad records."""
        return [FormatError(self.file, line, problem) for line, problem in self._reader.problems]

    def line_of(self, number: int) -> int:
        """Return the line on which a record ends, both counted from 1, or 0 if unknown.

        This reads the file once more, so use it only for messages.
        """
        if os.fspath(self._path) == "-" or self._format.name not in LINES:
            return 0
        reader, found = self._open(), 0
        for line, text in enumerate(iterate_lines(self._path), 1):
            found += sum(value is not None for value in reader.feed(text.encode() + b"\n"))
            if found >= number:
                return line
        return 0

    def _read(self, path: PathLike, holes: bool) -> Iterator[T]:
        for values in self._batches(path):
            # Where holes are asked for, the caller has None in T.
            given = values if holes else [value for value in values if value is not None]
            yield from paused(given, path)  # type: ignore[misc, arg-type]

    def _batches(self, path: PathLike) -> Iterator[list[T | None]]:
        for chunk in read_chunks(path):
            yield self._reader.feed(chunk)
        # Values before a bad record come first, its error with the next call.
        while values := self._reader.finish():
            yield values


def find_format(path: PathLike, format: str | None = None) -> Format[Any]:
    """Find the format called `format`, or the one that the suffix of `path` names. Compression is ignored.

    >>> find_format("train.zh.forest.xz").name
    'egret'
    >>> find_format("train.zh", "text").name
    'text'
    """
    if format is not None:
        try:
            return _BY_NAME[format]
        except KeyError:
            raise UsageError(unknown("format", format, _BY_NAME)) from None
    try:
        return _BY_SUFFIX[logical_suffix(path)]
    except KeyError:
        name = _printable(path)
        raise UsageError(
            f"the suffix of {name!r} names no format; give one of {', '.join(_BY_NAME)}, "
            f"or a suffix of {', '.join(sorted(_BY_SUFFIX))}"
        ) from None


def read(path: PathLike, format: str | None = None, *, skip_bad: bool = False, **options: Any) -> Records[Any]:
    """Yield the values of a file in bounded memory. `.gz`, `.xz` and `.zst` are decompressed.

    A bad record raises a `FormatError` that names the file and the line. With `skip_bad`, it is left out, counted
    (`skipped`) and kept (`problems`). Some formats have options: `tags` for CoNLL, `keep_suffix` and `base` for Egret.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "dev.align"
    >>> _ = path.write_text("0-0 1-2\\n0:0\\n1-0\\n")
    >>> records = read(path, skip_bad=True)
    >>> list(records)
    [Alignment.parse('0-0 1-2'), Alignment.parse('1-0')]
    >>> records.skipped, records.problems[0].problem
    (1, "'0:0' is not a link; expected SOURCE-TARGET such as 3-0")
    """
    return Records(path, find_format(path, format), skip_bad, options)


def read_trees(path: PathLike, format: str | None = None, *, skip_bad: bool = False, **options: Any) -> Records[Tree]:
    """Yield the trees of a file, like `read`."""
    return _read_typed(Tree, path, format, skip_bad, options)


def read_forests(
    path: PathLike, format: str | None = None, *, skip_bad: bool = False, **options: Any
) -> Records[ParseForest]:
    """Yield the forests of a file, like `read`."""
    return _read_typed(ParseForest, path, format, skip_bad, options)


def read_dependencies(
    path: PathLike, format: str | None = None, *, skip_bad: bool = False, **options: Any
) -> Records[Dependency]:
    """Yield the dependencies of a file, like `read`."""
    return _read_typed(Dependency, path, format, skip_bad, options)


def read_alignments(
    path: PathLike, format: str | None = None, *, skip_bad: bool = False, **options: Any
) -> Records[Alignment]:
    """Yield the alignments of a file, like `read`."""
    return _read_typed(Alignment, path, format, skip_bad, options)


def read_text(path: PathLike, *, skip_bad: bool = False) -> Records[list[str]]:
    """Return the tokens of every line of a file of plain tokenised text, with any suffix."""
    return Records(path, PLAIN, skip_bad, {})


def read_parallel(*files: PathLike | tuple[PathLike, str], skip_bad: bool = False) -> Iterator[tuple[Any, ...]]:
    """Yield the values of several files side by side. A file is a path, or a path and the name of its format.

    Files with different numbers of records are an error. With `skip_bad`, a record that is bad in any file is left out.
    """
    pairs = [file if isinstance(file, tuple) else (file, None) for file in files]
    readers = [Records(path, find_format(path, format), skip_bad, {}, holes=True) for path, format in pairs]
    end = object()
    for number, values in enumerate(zip_longest(*readers, fillvalue=end)):
        if any(value is end for value in values):
            short = next(n for n, value in enumerate(values) if value is end)
            long = next(r.file for r, value in zip(readers, values, strict=True) if value is not end)
            problem = f"has {number} records, fewer than {long}{missing_hint(*pairs[short])}"
            raise FormatError(readers[short].file, 0, problem)
        if None not in values:
            yield values


def missing_hint(path: PathLike, format: str | None = None) -> str:
    """Suggest why files have different numbers of records, for the end of a message.

    >>> missing_hint("dev.tree")
    '; blank lines are no records: (()) stands for a missing tree'
    """
    lost = "; blank lines are no records: (()) stands for a missing tree"
    return lost if find_format(path, format) is BRACKETS else ""


def write(path: PathLike, values: Iterable[Any], format: str | None = None, **options: Any) -> int:
    """Write values to a file and return their number. The file appears when it is complete.

    If the format cannot represent a value, the error names the value and gives the reason.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "dev.tree.gz"
    >>> write(path, [Tree.parse("(S (NP I) (VP run))"), Tree()])
    2
    >>> [str(tree) for tree in read(path)]
    ['(S (NP I) (VP run))', '(())']
    """
    chosen = find_format(path, format)
    number = 0
    with write_binary(path) as stream:
        for text in encode_values(path, values, chosen.name, **options):
            stream.write(text)
            number += 1
            if Pause.now:
                stream.flush()
    return number


def encode_values(
    path: PathLike, values: Iterable[Any], format: str | None = None, first: int = 0, **options: Any
) -> Iterator[bytes]:
    """Encode values as `write` does, in the case that `first` values come before them."""
    chosen = find_format(path, format)
    if first and "first" in chosen.write_options:
        options["first"] = first + 1
    to_text = chosen.open_writer(options)
    name = _printable(path)
    for number, value in enumerate(values, start=first + 1):
        if not isinstance(value, chosen.holds):
            wrong = _NOUNS.get(type(value), type(value).__name__)
            raise UsageError(f"{name}: the format {chosen.name} holds {_NOUNS[chosen.holds]}, not {wrong}")
        try:
            yield to_text(value).encode()
        except ValueError as error:
            raise TreeglotError(f"{name}: record {number}: {error}") from error


def _read_typed(
    wanted: type[T], path: PathLike, format: str | None, skip_bad: bool, options: dict[str, Any]
) -> Records[T]:
    chosen = find_format(path, format)
    if chosen.holds is not wanted:
        raise UsageError(
            f"{_printable(path)}: the format {chosen.name} holds {_NOUNS[chosen.holds]}, not {_NOUNS[wanted]}"
        )
    return Records(path, chosen, skip_bad, options)


def _printable(path: PathLike) -> str:
    """Return a file's name for messages. Bytes that are not UTF-8 are escaped."""
    return os.fspath(path).encode(errors="backslashreplace").decode()
