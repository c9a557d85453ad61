"""Reads and writes remote files by URI, on all file systems of Arrow.

    s3://BUCKET/KEY              Amazon S3, and servers that speak its protocol
    gs://BUCKET/KEY              Google Cloud Storage
    abfs://CONTAINER@ACCOUNT/KEY Azure
    hdfs://HOST:PORT/PATH        Hadoop; hdfs://default/PATH asks its configuration for the host
    file:///PATH                 a file of this machine

`Path` reduces several slashes to one. So `s3:/BUCKET/KEY` means the same URI, and paths can be joined to it.

An object is first written under a temporary name, and moved when it is complete. A folder is complete when it contains
FILES, the list of its files, which is written last.
"""

from __future__ import annotations

import errno
import io
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias, cast
from urllib.parse import unquote
from uuid import uuid4

from treeglot.base.errors import FormatError, TreeglotError, UsageError, shown
from treeglot.base.locks import locked

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, FileSystem

PathLike: TypeAlias = str | os.PathLike[str]

SCHEMES = ("abfs", "abfss", "file", "gcs", "gs", "hdfs", "s3", "viewfs")
FILES = "files.json"  # of a folder: what is in it
CHUNK = 1 << 23
MOST_MOVED = 5 << 30  # bytes of an object that S3 moves
_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+(.*)", re.DOTALL)
_PROBLEMS = {  # what AWS calls them, and what to tell
    "NO_SUCH_BUCKET": "there is no such bucket",
    "NoSuchBucket": "there is no such bucket",
    "ACCESS_DENIED": "access was denied",
    "INVALID_ACCESS_KEY_ID": "access was denied: the access key is unknown",
    "SIGNATURE_DOES_NOT_MATCH": "access was denied: the secret key is wrong",
    "NETWORK_CONNECTION": "the server does not answer",
}
_CREDENTIALS = "; expected credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, in a profile or in the URI"


class StorageError(TreeglotError):
    """A remote place cannot be read or written. The message has its URI and the problem."""


def find_uri(path: PathLike) -> str | None:
    """Return the URI that a path stands for, or None for a local path. Unknown schemes raise `UsageError`.

    >>> find_uri(Path("s3://bucket/train.de"))
    's3://bucket/train.de'
    >>> find_uri("train.de") is None
    True
    """
    text = os.fspath(path)
    match = _URI.fullmatch(text)
    if match is None:
        return None
    scheme, rest = match[1].lower(), match[2]
    if scheme not in SCHEMES:
        if "://" not in text and Path(f"{match[1]}:").exists():  # a folder with such a name
            return None
        raise UsageError(f"{shown(text)}: the scheme {match[1]!r} is unknown; expected one of {', '.join(SCHEMES)}")
    return f"file:///{rest}" if scheme == "file" else f"{scheme}://{rest}"


def is_remote(path: PathLike) -> bool:
    """Return whether a path is a remote URI.

    >>> is_remote("s3://bucket/train.de"), is_remote("file:///data/train.de"), is_remote("train.de")
    (True, False, False)
    """
    uri = find_uri(path)
    return uri is not None and not uri.startswith("file:")


def plain_path(path: PathLike) -> str:
    """Return the local path that `file://` names. Other paths and URIs are returned unchanged.

    >>> plain_path("file:///data/train%20set.de")
    '/data/train set.de'
    """
    text = os.fspath(path)
    uri = find_uri(text)
    return unquote(uri.removeprefix("file://")) if uri is not None and uri.startswith("file:") else text


def without_query(path: PathLike) -> str:
    """Remove the settings of a URI, so that its suffix names the format. Paths stay unchanged.

    >>> without_query("s3://bucket/train.de.gz?region=eu-north-1")
    's3://bucket/train.de.gz'
    """
    text = os.fspath(path)
    return text.partition("?")[0] if _URI.fullmatch(text) and is_remote(text) else text


def open_remote(path: PathLike) -> IO[bytes]:
    """Open the object of a URI for reading, from its beginning to its end."""
    uri = _uri(path)
    with _naming(uri):
        system, place = _resolve(uri)
        try:
            stream = system.open_input_stream(place, compression=None, buffer_size=CHUNK)
            return io.BufferedReader(_Reader(stream, uri), CHUNK)
        except FileNotFoundError:
            _check_bucket(uri, system, place)
            raise


@contextmanager
def write_remote(path: PathLike, size: int = 0) -> Iterator[IO[bytes]]:
    """Write the object of a URI. It appears under its name when the block ends without an error.

    If `size` is known and larger than the store accepts, nothing is sent.
    """
    uri = _uri(path)
    with _naming(uri):
        system, place = _resolve(uri)
        most = MOST_MOVED if system.type_name == "s3" else None
        _refuse_large(uri, size, most)
        folder, _, name = place.rpartition("/")
        aside = f"{folder}/.{name}.{uuid4().hex[:12]}.part"
        _make_folder(system, folder)
        stream = system.open_output_stream(aside, compression=None)
    try:
        yield cast("IO[bytes]", _Writer(stream, uri, most))
        with _naming(uri):
            stream.close()
            _replace(system, aside, place)
    except BaseException:
        with suppress(Exception):
            stream.close()
        with suppress(Exception):
            system.delete_file(aside)
        raise


def check_remote(path: PathLike) -> None:
    """Refuse a URI that cannot be written, before the work begins. Arrow may leave a marker object for the folder."""
    uri = _uri(path)
    with _naming(uri):
        system, place = _resolve(uri)
        folder, _, name = place.rpartition("/")
        _make_folder(system, folder)
        aside = f"{folder}/.{name}.{uuid4().hex[:12]}.part"
        with system.open_output_stream(aside, compression=None):
            pass
        system.delete_file(aside)


def is_complete(path: PathLike) -> bool:
    """Return whether a URI names a complete folder, which is one with the file `files.json`."""
    return _info(_within(_uri(path), FILES)) is not None


def exists(path: PathLike) -> bool:
    """Return whether a path or URI names a file, or a folder that can be read. A remote folder must be complete."""
    if not is_remote(path):
        return Path(plain_path(path)).exists()
    return is_file(path) or is_complete(path)


def is_file(path: PathLike) -> bool:
    """Return whether a path or URI names a file."""
    if not is_remote(path):
        return Path(plain_path(path)).is_file()
    found = _info(_uri(path))
    return found is not None and bool(found.is_file)


def files_in(folder: PathLike) -> list[str]:
    """Return the files below a folder, as sorted relative paths. A missing folder has no files."""
    if not is_remote(folder):
        own = Path(plain_path(folder))
        return sorted(file.relative_to(own).as_posix() for file in own.rglob("*") if file.is_file())
    from pyarrow.fs import FileSelector

    uri = _uri(folder)
    with _naming(uri):
        system, place = _resolve(uri)
        found = system.get_file_info(FileSelector(place, allow_not_found=True, recursive=True))
        return sorted(one.path.removeprefix(f"{place}/") for one in found if one.is_file)


def within(folder: PathLike, name: str) -> PathLike:
    """Return the path of a file in a folder. The folder may be a URI with settings.

    >>> within("s3://bucket/run?region=eu-north-1", "cards/a.json")
    's3://bucket/run/cards/a.json?region=eu-north-1'
    """
    return _within(_uri(folder), name) if is_remote(folder) else Path(plain_path(folder)) / name


def above(path: PathLike, levels: int) -> PathLike:
    """Return the folder `levels` levels above a path or URI.

    >>> above("s3://bucket/run/cards/a.json?region=eu-north-1", 2)
    's3://bucket/run?region=eu-north-1'
    """
    if not is_remote(path):
        return Path(plain_path(path)).resolve().parents[levels - 1]
    base, _, query = _uri(path).partition("?")
    return base.rsplit("/", levels)[0] + (f"?{query}" if query else "")


def upload_file(file: PathLike, path: PathLike) -> None:
    """Copy a file to a URI. A file that is too large for the store is refused before it is sent."""
    with Path(file).open("rb") as given, write_remote(path, Path(file).stat().st_size) as out:
        _copy(given, out)


def upload_folder(folder: PathLike, path: PathLike) -> None:
    """Copy a folder to a URI.

    The list of its files is removed first and written last. A folder without this list is incomplete, and readers
    refuse it.
    """
    uri, own = _uri(path), Path(folder)
    files = {file.relative_to(own).as_posix(): file for file in sorted(own.rglob("*")) if file.is_file()}
    with _naming(uri):
        system, place = _resolve(uri)
        _make_folder(system, place)
        with suppress(FileNotFoundError):
            system.delete_file(f"{place}/{FILES}")
        listed: dict[str, dict[str, Any]] = {}
        for name, file in files.items():
            _make_folder(system, f"{place}/{name}".rpartition("/")[0])
            with file.open("rb") as given, system.open_output_stream(f"{place}/{name}", compression=None) as out:
                size, digest = _copy(given, cast("IO[bytes]", out))
            listed[name] = {"size": size, "blake2b": digest}
    from treeglot.base.files import write_json

    write_json(_within(uri, FILES), listed)


def fetch(path: PathLike, cache: PathLike | None = None, report: Callable[[str], None] = lambda line: None) -> Path:
    """Copy an object, or a folder that `upload_folder` wrote, to this machine, and return the path of the copy.

    The copy is needed for files that are mapped into memory. It is stored in `cache`, and reused as long as the object
    has the same size and time, and the copy has the same checksum. The files of a folder are checked against its list.
    If several processes fetch the same URI, one copies it and the others wait.
    """
    if not is_remote(path):
        return Path(plain_path(path))
    uri = _uri(path)
    place = cache_folder(cache) / blake2b(uri.encode(), digest_size=8).hexdigest()
    name = without_query(uri).rstrip("/").rpartition("/")[2]
    with locked(place.with_suffix(".lock")):
        found = _info(uri)
        if found is not None and found.is_file:
            return _fetch_file(uri, [found.size, found.mtime_ns or 0], place, name, report)
        return _fetch_folder(uri, place / name, report)  # object stores have no folders


def cache_folder(cache: PathLike | None = None) -> Path:
    """Return the folder for copies: TREEGLOT_CACHE, or `treeglot/files` in the user's cache folder."""
    if cache is not None:
        return Path(cache)
    if given := os.environ.get("TREEGLOT_CACHE"):
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "treeglot" / "files"


def _fetch_file(uri: str, stamp: list[int], folder: Path, name: str, report: Callable[[str], None]) -> Path:
    from treeglot.base.files import read_json, write_json

    target, facts = folder / name, folder / "copy.json"
    with suppress(OSError, ValueError):
        known = read_json(facts, stamp=list, blake2b=str)
        if known["stamp"] == stamp and _digest(target) == known["blake2b"]:
            return target
    folder.mkdir(parents=True, exist_ok=True)
    facts.unlink(missing_ok=True)
    size, digest = _download(uri, target)
    if size != stamp[0]:
        raise StorageError(f"{shown(uri)}: {size:,} bytes were read; expected {stamp[0]:,}")
    write_json(facts, {"stamp": stamp, "blake2b": digest})
    report(f"{shown(uri)}: copied to {target}, {size / 1e6:,.1f} MB, to map it into memory")
    return target


def _fetch_folder(uri: str, folder: Path, report: Callable[[str], None]) -> Path:
    from treeglot.base.files import check_fields, parse_json

    try:
        with open_remote(_within(uri, FILES)) as stream:
            listed = parse_json(stream.read(), _within(uri, FILES))
    except FileNotFoundError:
        problem = f"is no file, and no complete folder: {FILES} is missing"
        raise FormatError(uri, 0, problem) from None
    copied = 0
    for name, facts in listed.items():
        if not isinstance(facts, dict) or not re.fullmatch(r"(?!.*(^|/)\.\.?(/|$))[^/\0][^\0]*", name):
            raise FormatError(
                _within(uri, FILES), 0, f"has {name!r}: {facts!r}; expected a path in the folder, its size and checksum"
            )
        check_fields(facts, _within(uri, FILES), size=int, blake2b=str)
        target = folder / name
        if target.is_file() and target.stat().st_size == facts["size"] and _digest(target) == facts["blake2b"]:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        found = _download(_within(uri, name), target)
        if found != (facts["size"], facts["blake2b"]):
            target.unlink()
            raise FormatError(
                _within(uri, name), 0, f"is not the file that {FILES} lists; its size or checksum differs"
            )
        copied += found[0]
    for other in [path for path in folder.rglob("*") if path.is_file()]:
        if other.relative_to(folder).as_posix() not in listed:
            other.unlink()
    if copied:
        report(f"{shown(uri)}: copied to {folder}, {copied / 1e6:,.1f} MB, to map it into memory")
    return folder


def _download(uri: str, target: Path) -> tuple[int, str]:
    from treeglot.base.files import write_binary

    # A suffix of compression would compress it once more: bytes stay as they are under another name.
    aside = target.with_name(f"{target.name}.copy")
    with open_remote(uri) as stream, write_binary(aside) as out:
        found = _copy(stream, out)
    aside.replace(target)
    return found


def _copy(given: IO[bytes], out: IO[bytes]) -> tuple[int, str]:
    """Copy all bytes. Return their number and their digest."""
    digest, size = blake2b(digest_size=16), 0
    while chunk := given.read(CHUNK):
        out.write(chunk)
        digest.update(chunk)
        size += len(chunk)
    return size, digest.hexdigest()


def _digest(path: Path) -> str:
    digest = blake2b(digest_size=16)
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _within(uri: str, name: str) -> str:
    """Return the URI of a file in the folder that a URI names."""
    base, _, query = uri.partition("?")
    return f"{base.rstrip('/')}/{name}" + (f"?{query}" if query else "")


def _uri(path: PathLike) -> str:
    uri = find_uri(path)
    if uri is None:
        raise ValueError(f"{os.fspath(path)} is no URI")
    return uri.rstrip("/")


def _resolve(uri: str) -> tuple[FileSystem, str]:
    from pyarrow.fs import FileSystem

    scheme, _, rest = uri.partition("://")
    bucket, _, key = rest.partition("?")[0].partition("/")
    if not bucket or not key.strip("/"):
        bucket = bucket.rpartition("@")[2] if scheme == "s3" else bucket
        example = f"{scheme}://default/{bucket}" if scheme == "hdfs" else f"{scheme}://{bucket or 'BUCKET'}/KEY"
        raise UsageError(f"{shown(uri)} names no file; expected a URI such as {example}")
    if scheme in ("gs", "gcs") and "retry_limit_seconds" not in uri:  # without a limit, it tries for 15 minutes
        uri += f"{'&' if '?' in uri else '?'}retry_limit_seconds=30"
    found: tuple[FileSystem, str] = FileSystem.from_uri(uri)
    return found


def _info(uri: str) -> FileInfo | None:
    """Return the entry of a URI in its file system, or None if nothing is there."""
    from pyarrow.fs import FileType

    with _naming(uri):
        system, place = _resolve(uri)
        [found] = system.get_file_info([place])
        return None if found.type == FileType.NotFound else found


def _check_bucket(uri: str, system: FileSystem, place: str) -> None:
    """Refuse a missing bucket. Arrow would report it only on writing."""
    from pyarrow.fs import FileType

    if system.type_name == "s3":
        [found] = system.get_file_info([place.partition("/")[0]])
        if found.type == FileType.NotFound:
            raise StorageError(f"{shown(uri)}: {_PROBLEMS['NO_SUCH_BUCKET']}")


def _make_folder(system: FileSystem, folder: str) -> None:
    """Make a folder, on file systems that have folders. Object stores have none, and may refuse to make a bucket."""
    if system.type_name == "hdfs" and folder:
        system.create_dir(folder, recursive=True)


def _replace(system: FileSystem, aside: str, place: str) -> None:
    from pyarrow.fs import FileType

    [there] = system.get_file_info([place])
    if system.type_name == "hdfs" and there.type != FileType.NotFound:  # where a move does not replace
        system.delete_file(place)
    system.move(aside, place)


def _refuse_large(uri: str, size: int, most: int | None) -> None:
    """Refuse more bytes than the store can rename."""
    if most is not None and size > most:
        raise StorageError(f"{shown(uri)}: {size:,} bytes are too many for S3; expected a file of at most {most:,}")


class _Reader(io.RawIOBase):
    """A stream for reading a remote object. Its errors name the URI."""

    def __init__(self, stream: Any, uri: str) -> None:
        super().__init__()
        self._stream, self._uri = stream, uri

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with _naming(self._uri):
            found: bytes = self._stream.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        self._stream.close()
        super().close()


class _Writer:
    """A stream for writing a remote object. Its errors name the URI. It refuses more than `most` bytes."""

    def __init__(self, stream: Any, uri: str, most: int | None) -> None:
        self._stream, self._uri, self._most = stream, uri, most
        self._size = 0

    def write(self, data: Any) -> int:
        self._size += memoryview(data).nbytes
        _refuse_large(self._uri, self._size, self._most)
        with _naming(self._uri):
            return int(self._stream.write(data))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def _naming(uri: str) -> Iterator[None]:
    """Turn errors of Arrow into errors that name the URI and explain the cause."""
    import pyarrow as pa

    try:
        yield
    except FileNotFoundError as error:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), shown(uri)) from error
    except (TreeglotError, KeyError):
        raise
    except (OSError, pa.ArrowException, ValueError, NotImplementedError) as error:
        if isinstance(error, OSError) and error.filename:
            raise
        raise StorageError(f"{shown(uri)}: {_told(str(error)).replace(uri, shown(uri))}") from error


def _told(message: str) -> str:
    """Explain a message of Arrow in one line."""
    for name, meaning in _PROBLEMS.items():
        if name in message:
            return meaning + (_CREDENTIALS if meaning.startswith("access") else "")
    return message.partition("\n")[0].strip()
