"""Splits work into shards. Each task processes the records of one shard, and the results are joined in order.

    .OUT.parts/000000.shard  the records of a task; the driver reads the input once and writes them
    .OUT.parts/000000.part   the result of the task
    .OUT.parts/000000.json   written last: the key of the part, its digest, and facts about it
    .OUT.lock                locked by the run that writes OUT

These files are beside OUT, and all machines must see them under the same path. If a run fails, they stay there, and the
next run with the same work reuses the finished parts.
"""

from __future__ import annotations

import os
import pickle
import shutil
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

from treeglot.base.errors import FormatError, TreeglotError
from treeglot.base.files import CHUNK, PathLike, read_json, write_binary, write_json
from treeglot.base.locks import locked
from treeglot.base.program import program

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")

RECORDS = 1000  # of a shard, where a record is a sentence or a pair
SHARED = "expected a folder that all machines see under the same path"


class Machines(Protocol):
    """The interface of machines that run tasks."""

    def map(self, function: Callable[[S, T], R], shared: S, items: Sequence[T]) -> list[R]:
        """Call `function(shared, item)` for each item, and return the values in order. A machine may repeat a call."""

    def calls_at_once(self) -> int:
        """Return the number of calls of `map`'s function that share the memory and cores of one machine."""


class Job(Protocol):
    """The work that is done on each shard. Jobs are sent to the machines, and their `repr` distinguishes them."""

    def open(self) -> Any:
        """Load the data that all shards of a process share, such as a model."""

    def run(self, opened: Any, records: Any, first: int, threads: int, part: Path) -> dict[str, Any]:
        """Process the records of a shard, write the result to a file, and return facts for the driver as JSON values.

        `first` is the number of records in earlier shards.
        """


@dataclass(frozen=True)
class Shard:
    """Some records of the input, in a file."""

    number: int
    first: int  # records before it
    records: int
    digest: str  # of the file

    def file(self, folder: Path) -> Path:
        """Return the path of the file with the shard's records."""
        return folder / f"{self.number:06}.shard"

    def load(self, folder: Path) -> Any:
        """Return the shard's records. If the file is missing or was changed, raise an error."""
        import zstandard

        path = self.file(folder)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise _unseen(path, error) from error
        if digest_of(content) != self.digest:
            raise FormatError(str(path), 0, "is not what was written; expected the same file on all machines")
        return pickle.loads(zstandard.ZstdDecompressor().decompress(content))


@dataclass(frozen=True)
class Part:
    """The result of a task: a file, and facts about it."""

    path: Path
    shard: Shard
    facts: dict[str, Any]


@dataclass(frozen=True)
class Work:
    """The data that all tasks of a job share. Each process opens the job once for each value of `opening`."""

    folder: Path = field(compare=False)
    digest: str = field(compare=False)  # of the program and the job
    opening: str  # what the job opens
    threads: int = field(compare=False)
    job: Job = field(compare=False)


def pack(number: int, first: int, records: int, value: Any) -> tuple[Shard, bytes]:
    """Return a shard with these records, and the content of its file."""
    import zstandard

    content = zstandard.ZstdCompressor(level=1).compress(pickle.dumps(value, protocol=5))
    return Shard(number, first, records, digest_of(content)), content


def digest_of(content: bytes) -> str:
    """Return the digest of the content of a shard's file."""
    return blake2b(content, digest_size=16).hexdigest()


def shards_of(records: Iterable[T], size: int) -> Iterator[tuple[list[T], int]]:
    """Group records into lists of `size`. Yield each list with its length."""
    stream = iter(records)
    while batch := list(islice(stream, size)):
        yield batch, len(batch)


def state_of(*paths: PathLike) -> str:
    """Describe the files at these paths and in these folders by path, size and time.

    Results that depend on these files include this description in their keys. Files whose names begin with a dot are
    ignored, because they are still being written.
    """
    known = []
    for path in map(Path, paths):
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            hidden = any(name.startswith(".") for name in file.relative_to(path).parts)
            if file.is_file() and not hidden:
                known.append((str(file.resolve()), file.stat()))
    return repr([(name, stat.st_size, stat.st_mtime_ns) for name, stat in known])


@contextmanager
def in_shards(
    job: Job,
    shards: Iterable[tuple[Any, int]],
    out: PathLike,
    machines: Machines,
    *,
    key: str = "",
    opening: str | None = None,
    threads: int = 1,
    report: Callable[[str], None] = lambda line: None,
) -> Iterator[list[Part]]:
    """Run a job on lists of records, each with its length, and yield the resulting parts in order.

    The parts are in a folder beside `out`, which is removed if the block ends without an error. Parts of an earlier run
    are reused if the program, the job, `key` and the records are the same. `threads` applies to one machine, and the
    tasks that it runs at once share them. If tasks issue Python warnings, each is repeated here once. Jobs with the
    same `opening` share the data that they open, and a process opens it only once. Without `opening`, each job opens
    its own data.
    """
    target = Path(out).resolve()
    folder = target.parent / f".{target.name}.parts"
    digest = blake2b(repr((program(), job, key)).encode(), digest_size=16).hexdigest()
    with locked(folder.with_suffix(".lock"), f"another run writes {os.fspath(out)}; expected one at a time"):
        folder.mkdir(exist_ok=True)
        try:
            written, known = _write(folder, digest, shards)
            if known:
                report(f"{len(known):,} of {len(written):,} parts are from an earlier run")
            if wanted := [shard for shard in written if shard.number not in known]:
                work = Work(folder, digest, opening or digest, max(1, threads // machines.calls_at_once()), job)
                made = machines.map(run_shard, work, wanted)
                known |= {shard.number: one for shard, one in zip(wanted, made, strict=True)}
            for shard in wanted:
                _check(_part(folder, shard), known[shard.number]["digest"])
            for text in dict.fromkeys(text for shard in written for text in known[shard.number]["warnings"]):
                warnings.warn(text, stacklevel=3)
            yield [Part(_part(folder, shard), shard, known[shard.number]["facts"]) for shard in written]
        except BaseException:
            if finished := sum(1 for _ in folder.glob("*.json")):
                report(f"{finished:,} parts are finished; the same command continues with them")
            else:
                shutil.rmtree(folder, ignore_errors=True)
            raise
        shutil.rmtree(folder, ignore_errors=True)  # a second call for a shard may still write


def join(parts: Iterable[Part], out: PathLike) -> None:
    """Concatenate the parts, and write the result to `out`."""
    with write_binary(out) as stream:
        for part in parts:
            with part.path.open("rb") as content:
                shutil.copyfileobj(content, stream, CHUNK)


def run_shard(work: Work, shard: Shard) -> dict[str, Any]:
    """Run the job on a shard and write its part, unless it exists. Calls for the same shard write the same bytes."""
    if there := _finished(work.folder, shard, work.digest):
        return there
    path = _part(work.folder, shard)
    records, opened = shard.load(work.folder), _opened(work)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        facts = work.job.run(opened, records, shard.first, work.threads, path)
    told = list(dict.fromkeys(str(one.message) for one in caught))
    made = {"key": _key(work.digest, shard), "digest": _file_digest(path), "facts": facts, "warnings": told}
    write_json(_marker(work.folder, shard), made)
    return made


@lru_cache(maxsize=1)
def _opened(work: Work) -> Any:
    """Open the job in this process. The driver opens it, too, and shows its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return work.job.open()


def _write(
    folder: Path, digest: str, shards: Iterable[tuple[Any, int]]
) -> tuple[list[Shard], dict[int, dict[str, Any]]]:
    """Write the shards that have no finished part, and remove stale files. Return the finished parts by number."""
    written: list[Shard] = []
    known: dict[int, dict[str, Any]] = {}
    kept: set[Path] = set()
    first = 0
    for value, records in shards:
        shard, content = pack(len(written), first, records, value)
        if found := _finished(folder, shard, digest):
            known[shard.number] = found
            kept |= {_part(folder, shard), _marker(folder, shard)}
        else:
            _marker(folder, shard).unlink(missing_ok=True)
            kept.add(shard.file(folder))
            with write_binary(shard.file(folder)) as stream:
                stream.write(content)
        written.append(shard)
        first += records
    for path in folder.iterdir():
        if path not in kept:
            path.unlink(missing_ok=True)  # a task of a killed run may still rename its files
    return written, known


def _finished(folder: Path, shard: Shard, digest: str) -> dict[str, Any] | None:
    """Return the facts that are stored with a finished part, or None if the part is not finished."""
    try:
        found = read_json(_marker(folder, shard), key=str, digest=str, facts=dict, warnings=list)
        same = found["key"] == _key(digest, shard) and found["digest"] == _file_digest(_part(folder, shard))
    except (OSError, FormatError):
        return None
    return found if same else None


def _check(path: Path, digest: str) -> None:
    """Raise an error if the content of a part differs from what its task reported."""
    try:
        same = _file_digest(path) == digest
    except OSError as error:
        raise _unseen(path, error) from error
    if not same:
        raise FormatError(str(path), 0, "is not what a task wrote; expected the same file on all machines")


def _unseen(path: Path, error: OSError) -> TreeglotError:
    return TreeglotError(f"{path}: {error.strerror}; {SHARED}")


def _file_digest(path: Path) -> str:
    digest = blake2b(digest_size=16)
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _key(digest: str, shard: Shard) -> str:
    return f"{digest}-{shard.first}-{shard.digest}"


def _part(folder: Path, shard: Shard) -> Path:
    return folder / f"{shard.number:06}.part"


def _marker(folder: Path, shard: Shard) -> Path:
    return folder / f"{shard.number:06}.json"
