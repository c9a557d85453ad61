"""Reads and writes files: decompresses by suffix, and renames outputs when they are complete. `storage.py` handles
URIs.
"""

from __future__ import annotations

import codecs
import errno
import fcntl
import io
import itertools
import json
import os
import re
import select
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, TypeVar, cast

from treeglot.base.errors import FormatError, UsageError
from treeglot.base.later import Later
from treeglot.base.storage import PathLike as PathLike
from treeglot.base.storage import check_remote, is_remote, open_remote, plain_path, without_query, write_remote

if TYPE_CHECKING:
    import gzip
    import lzma
    import tempfile
else:
    gzip, lzma, tempfile = Later("gzip"), Later("lzma"), Later("tempfile")

T = TypeVar("T")

CHUNK = 1 << 20
WINDOW = 1 << 27  # window of decompression in bytes: the limit of `zstd`, and twice that of `xz -9`

COMPRESSED = (".gz", ".xz", ".zst")

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # errors of writing that do not name the file


def open_binary(path: PathLike) -> IO[bytes]:
    """Open `path` for reading and decompress `.gz`, `.xz` and `.zst`. `-` is standard input. URIs work, too."""
    name = plain_path(path)
    if name == "-":
        _refuse_closed(sys.stdin, "standard input")
        return sys.stdin.buffer
    # The caller closes it.
    raw: IO[bytes] = open_remote(name) if is_remote(name) else open(name, "rb")  # noqa: PTH123, SIM115
    match Path(without_query(name)).suffix:
        case ".gz":
            return io.BufferedReader(_Pieces(raw, _gzip_pieces), CHUNK)
        case ".xz":
            return io.BufferedReader(_Pieces(raw, _xz_pieces), CHUNK)
        case ".zst":
            return io.BufferedReader(_Pieces(raw, _zstd_pieces), CHUNK)
        case _:
            return raw


def read_chunks(path: PathLike, size: int = CHUNK) -> Iterator[bytes]:
    """Yield the decompressed bytes of `path` in chunks. Damaged compression raises `FormatError`."""
    name = os.fspath(path)
    suffix = Path(without_query(name)).suffix
    longest_line()  # the core reads the same variable
    damaged = _damage(suffix)
    with open_binary(path) as stream:
        # Read what a pipe has now; do not wait for `size` bytes.
        read = stream.read if suffix in COMPRESSED else getattr(stream, "read1", stream.read)
        ended = False
        while not ended:
            try:
                chunk = read(size)
            except damaged as error:
                raise FormatError(name, 0, f"is not a complete {suffix} file ({error})") from error
            ended = not chunk
            # All that is there: a line must not wait for the end of the next one.
            while name == "-" and not ended and (waits := _input_waits()) and len(chunk) < size:
                more = read(size - len(chunk))
                chunk, ended = chunk + more, not more
            if name == "-" and not ended:
                Pause.waits = waits
            if chunk:
                yield chunk


def _damage(suffix: str) -> tuple[type[Exception], ...]:
    """Return the exceptions that libraries raise when they decompress damaged bytes."""
    match suffix:
        case ".gz":
            import zlib

            return EOFError, gzip.BadGzipFile, zlib.error
        case ".xz":
            return EOFError, lzma.LZMAError
        case ".zst":
            import zstandard

            return EOFError, zstandard.ZstdError
        case _:
            return ()


def read_lines(path: PathLike) -> list[str]:
    """Return all lines of a text file as a list. `iterate_lines` describes how they are split."""
    return list(iterate_lines(path))


def iterate_lines(path: PathLike, errors: Literal["strict", "replace"] = "strict") -> Iterator[str]:
    """Yield the lines of a text file without line ends. Bytes that are not UTF-8 raise `FormatError`.

    A byte order mark is refused, too, because it would become part of the first word. With `replace`, U+FFFD replaces
    invalid bytes instead. A line ends in LF or CR LF. Characters such as U+2028 and U+0085 do not end a line.
    """
    number = size = 0
    begun: list[bytes] = []  # the parts of a line that has not ended
    for chunk in itertools.chain(read_chunks(path), [b""]):
        *lines, rest = chunk.split(b"\n")
        if lines or (size and not chunk):
            lines = [b"".join([*begun, *lines[:1]]), *lines[1:]]
            begun, size = [], 0
        begun.append(rest)
        size += len(rest)
        if size > longest_line():
            raise FormatError(os.fspath(path), number + len(lines) + 1, too_long(longest_line()))
        for line in paused(lines, path):
            number += 1
            line = line.removesuffix(b"\r")
            if number == 1 and errors == "strict" and line.startswith(codecs.BOM_UTF8):
                raise FormatError(os.fspath(path), 1, "begins with a byte order mark; expected text")
            try:
                yield line.decode(errors=errors)
            except UnicodeDecodeError as error:
                problem = f"byte 0x{line[error.start]:02x} is not UTF-8"
                raise FormatError(os.fspath(path), number, problem) from error


@cache
def longest_line() -> int:
    """Return the maximum length of a line or record in bytes. `TREEGLOT_LONGEST_LINE` sets it."""
    given = os.environ.get("TREEGLOT_LONGEST_LINE", "67108864")
    if not (given.isascii() and given.isdigit() and len(given) <= 18 and int(given)):
        raise UsageError(f"TREEGLOT_LONGEST_LINE is {given[:30]!r}; expected a number of bytes such as 67108864")
    return int(given)


def too_long(most: int) -> str:
    """Return the message for a line of more than `most` bytes."""
    return f"is longer than {most} bytes; TREEGLOT_LONGEST_LINE sets another limit"


def logical_suffix(path: PathLike) -> str:
    """Return the suffix that names a file's format, without the suffix of its compression.

    >>> logical_suffix("train.zh.forest.xz")
    '.forest'
    """
    p = Path(without_query(path))
    return Path(p.stem).suffix if p.suffix in COMPRESSED else p.suffix


class Pause:
    """Lets a reader of standard input know that no more input is waiting, so it should process what it has."""

    now = False
    waits = True  # more input did when the chunk at hand was complete


def paused(values: list[T], path: PathLike) -> Iterable[T]:
    """Yield the values of a chunk. Before the last value, set `Pause.now` if no more input is waiting."""
    return _paused(values) if os.fspath(path) == "-" and values else values


def _paused(values: list[T]) -> Iterator[T]:
    yield from values[:-1]
    Pause.now = not Pause.waits
    try:
        yield values[-1]
    finally:
        Pause.now = False


def batches(values: Iterable[T], most: int) -> Iterator[list[T]]:
    """Group values into lists of at most `most`. If standard input pauses, the current list is complete."""
    batch: list[T] = []
    for value in values:
        batch.append(value)
        if len(batch) == most or Pause.now:
            yield batch
            batch = []
    if batch:
        yield batch


def _input_waits() -> bool:
    try:
        return bool(select.select([sys.stdin], [], [], 0)[0])
    except (OSError, ValueError):  # no file descriptor
        return True


class _Pieces(io.RawIOBase):
    """A stream of decompressed data, which is produced in pieces of bounded size."""

    def __init__(self, raw: IO[bytes], pieces: Callable[[IO[bytes]], Iterator[bytes]]) -> None:
        """Create the stream. Closing it also closes `raw`."""
        super().__init__()
        self._raw = raw
        self._pieces = pieces(raw)
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._ready = memoryview(piece)
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def close(self) -> None:
        self._raw.close()
        super().close()


def _gzip_pieces(raw: IO[bytes]) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=raw) as stream:
        while piece := stream.read(CHUNK):
            yield piece


def _zstd_pieces(raw: IO[bytes]) -> Iterator[bytes]:
    """Decompress the frames of a zstd file one by one. The stream of `zstandard` would not report a truncated frame."""
    import zstandard

    frame: Any = None
    while data := raw.read(1 << 11):  # four bytes can stand for 128 KiB: no piece is over 64 MiB
        while data:
            frame = frame or zstandard.ZstdDecompressor(max_window_size=WINDOW).decompressobj()
            yield frame.decompress(data)
            data, frame = (frame.unused_data, None) if frame.eof else (b"", frame)
    if frame is not None:
        raise EOFError("Compressed file ended before the end of a frame")


def _xz_pieces(raw: IO[bytes]) -> Iterator[bytes]:
    """Decompress the streams of an xz file one by one. There may be zeros between them."""
    stream: lzma.LZMADecompressor | None = None
    while data := raw.read(1 << 16):
        while data or (stream is not None and not stream.needs_input):
            if stream is None:
                data = data.lstrip(b"\0")
                if not data:
                    break
                stream = lzma.LZMADecompressor(memlimit=2 * WINDOW)
            yield stream.decompress(data, CHUNK)
            data, stream = (stream.unused_data, None) if stream.eof else (b"", stream)
    if stream is not None:
        raise EOFError("Compressed file ended before the end-of-stream marker was reached")


@contextmanager
def write_binary(path: PathLike) -> Iterator[IO[bytes]]:
    """Write a temporary file, sync it and rename it to `path` when the block ends without an error.

    The suffix selects the compression, with fixed settings, so that the same content gives the same bytes. `-` is
    standard output. On a terminal, control characters are escaped. A symbolic link is followed. A device or a pipe is
    written directly. A URI is written to a temporary name, and renamed.
    """
    name = plain_path(path)
    if name == "-":
        _refuse_closed(sys.stdout, "standard output")
        stream = sys.stdout.buffer
        yield cast("IO[bytes]", _Terminal(stream)) if sys.stdout.isatty() else stream
        stream.flush()
        return
    if is_remote(name):
        with write_remote(name) as raw, _compressor(raw, Path(without_query(name)).suffix) as stream:
            yield stream
        return
    target = Path(name).resolve()
    if target.exists() and not target.is_file():
        # Renaming over /dev/null would put a file in its place for everybody.
        with target.open("wb") as raw, _compressor(raw, target.suffix) as stream:
            yield stream
        return
    from treeglot import _core

    try:
        descriptor, aside = _core.new_aside(os.fsencode(target))
    except OSError as error:
        raise OSError(error.errno, error.strerror, name) from error  # the user knows this name, not that aside
    try:
        os.fchmod(descriptor, 0o666 & ~_umask())
        with os.fdopen(descriptor, "wb", closefd=False) as raw:
            with _compressor(raw, target.suffix) as stream:
                yield stream
            raw.flush()
            os.fsync(raw.fileno())
        os.replace(aside, os.fsencode(target))  # noqa: PTH105 - and still locked
    except BaseException as error:
        with suppress(FileNotFoundError):
            os.unlink(aside)  # noqa: PTH108
        if isinstance(error, OSError) and error.errno in _FULL and error.filename is None:
            error.filename = name
        raise
    finally:
        os.close(descriptor)


def remove_leftovers(path: PathLike) -> None:
    """Remove temporary files of `path` that killed processes left behind. Files that are still being written stay."""
    from treeglot import _core

    _core.remove_leftovers(os.fsencode(Path(path).absolute()))


def nearest_folder(path: PathLike) -> Path:
    """Return the folder `path`, or its nearest existing parent."""
    place = Path(path).resolve()
    while not place.exists():
        place = place.parent
    if not place.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), os.fspath(place))
    return place


def check_output(path: PathLike, folder: bool = False) -> None:
    """Refuse a file or folder that cannot be written, before the work begins."""
    name = plain_path(path)
    if name == "-":
        return
    if is_remote(name):
        check_remote(name)
        return
    target = Path(name).resolve()
    if folder:
        place = nearest_folder(target)
    elif target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    elif target.exists() and not target.is_file():
        place = target  # a device or a pipe
    elif target.parent.is_dir():
        place = target.parent
    else:
        number = errno.ENOTDIR if target.parent.exists() else errno.ENOENT
        raise OSError(number, os.strerror(number), name)
    if not os.access(place, os.W_OK):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), name)


@contextmanager
def scratch_folder(parent: PathLike, name: str) -> Iterator[Path]:
    """Create a temporary folder `.NAME.….part` in `parent`. Leftovers of killed processes are removed first."""
    remove_leftovers(Path(parent).resolve() / name)
    while True:
        path = Path(tempfile.mkdtemp(prefix=f".{name}.", suffix=".part", dir=parent))
        with suppress(FileNotFoundError):
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            with suppress(OSError):  # some network file systems have no locks; there nobody removes it either
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            if path.is_dir():  # not taken for a leftover before it was locked
                break
            os.close(descriptor)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(descriptor)


@contextmanager
def _compressor(raw: IO[bytes], suffix: str) -> Iterator[IO[bytes]]:
    match suffix:
        case ".gz":
            with gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0) as stream:
                yield cast("IO[bytes]", stream)
        case ".xz":
            with lzma.LZMAFile(raw, "wb", preset=6) as stream:
                yield cast("IO[bytes]", stream)
        case ".zst":
            import zstandard

            with zstandard.ZstdCompressor(level=10).stream_writer(raw, closefd=False) as stream:
                yield cast("IO[bytes]", stream)
        case _:
            yield raw


class _Terminal:
    """Standard output on a terminal, with control characters escaped."""

    _CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._held = b""  # the first byte of a character whose second has not come

    def write(self, data: bytes) -> int:
        text = self._held + bytes(data)
        self._held = text[-1:] if text.endswith(b"\xc2") else b""
        text = text.removesuffix(self._held)
        self._stream.write(self._CONTROL.sub(lambda found: b"\\x%02x" % found[0][-1], text))
        return len(data)

    def flush(self) -> None:
        self._stream.flush()


def _refuse_closed(stream: IO[str] | None, name: str) -> None:
    if stream is None:  # as Python has it after `<&-` and `>&-`
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), name)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read_json(path: PathLike, **fields: type) -> dict[str, Any]:
    """Read a JSON file that contains one object. If it lacks one of the given fields, raise `FormatError`."""
    with open_binary(path) as stream:
        return parse_json(stream.read(), os.fspath(path), **fields)


def write_json(path: PathLike, value: Any) -> None:
    """Write a value as JSON. Paths in the value are written as text."""
    with write_binary(path) as stream:
        stream.write(json.dumps(value, indent=1, default=os.fspath).encode() + b"\n")


def parse_json(text: str | bytes, file: str, line: int = 0, /, **fields: type) -> dict[str, Any]:
    """Parse a JSON object, from a whole file or from one line.

    `fields` maps the required names to their types. Whole numbers must be non-negative, and no number can be infinite.

    >>> parse_json('{"pairs": 3}', "run.json", pairs=int)
    {'pairs': 3}
    >>> parse_json('[1]', "run.json")
    Traceback (most recent call last):
    treeglot.base.errors.FormatError: run.json: is a list; expected a JSON object
    """
    found = parse_value(text, file, line)
    if not isinstance(found, dict):
        kind = "a number" if type(found) is int else _JSON_TYPES[type(found)]
        raise FormatError(file, line, f"is {kind}; expected a JSON object")
    check_fields(found, file, line, **fields)
    return found


def parse_value(text: str | bytes, file: str, line: int = 0) -> Any:
    """Parse a JSON value of any type. Text that is not JSON raises `FormatError`."""
    try:
        found = json.loads(text)
        if _SURROGATE.search(text.encode("utf-8", "replace") if isinstance(text, str) else text):
            json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise FormatError(file, line, "has half of a surrogate pair; expected whole characters") from error
    except RecursionError as error:
        raise FormatError(file, line, "has lists or objects nested too deeply; expected JSON") from error
    except json.JSONDecodeError as error:
        problem = f"is not JSON: {error.msg}, column {error.colno}; expected JSON"
        raise FormatError(file, line or error.lineno, problem) from error
    except ValueError as error:  # not UTF-8, or a number of thousands of digits
        raise FormatError(file, line, f"is not JSON: {str(error)[:60]}; expected JSON") from error
    return found


def check_fields(table: Mapping[str, Any], file: str, line: int = 0, /, **fields: type) -> None:
    """Refuse a JSON object that lacks one of the fields, or whose value has another type.

    >>> check_fields({"pairs": -3}, "run.json", pairs=int)
    Traceback (most recent call last):
    treeglot.base.errors.FormatError: run.json: pairs is -3; expected a count
    """
    for name, kind in fields.items():
        if name not in table:
            raise FormatError(file, line, f"has no {name}; expected {_JSON_TYPES[kind]}")
        if not _has_type(table[name], kind):
            shown = json.dumps(table[name])
            shown = shown if len(shown) <= 60 else f"{shown[:60]}…"
            raise FormatError(file, line, f"{name} is {shown}; expected {_JSON_TYPES[kind]}")


_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_JSON_TYPES = {
    bool: "a truth value",
    dict: "an object",
    float: "a number",
    int: "a count",
    list: "a list",
    str: "a string",
    type(None): "null",
}


def _has_type(value: Any, kind: type) -> bool:
    if kind is float:
        return type(value) in (int, float) and abs(value) <= sys.float_info.max
    if kind is int:
        return type(value) is int and 0 <= value <= sys.maxsize
    return type(value) is kind
