"""API keys define who can send which requests, and how many per minute. Their file stores only hashes.

A key consists of 32 random bytes, so nobody can guess it or reverse its plain SHA-256.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import mmap
import os
import secrets
import struct
import tempfile
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import read_json, write_binary
from treeglot.base.options import Options, from_table, option, required

RIGHTS = ("translate", "correct", "learn")
SLOT = struct.Struct("16sdd")  # a client, what it used, and when
EMPTY = bytes(16)
SLOTS, PROBED = 16_384, 16


@dataclass(frozen=True)
class Key(Options):
    """The entry of an API key in the file of keys."""

    name: str = required("whose it is")
    digest: str = required("SHA-256 of the key")
    rights: tuple[str, ...] = option(("translate",), "translate, correct, learn")
    requests: int = option(0, "requests in a minute; 0: any number", least=0)
    characters: int = option(0, "characters in a minute; 0: any number", least=0)

    def __post_init__(self) -> None:
        """Refuse unknown names of rights."""
        super().__post_init__()
        if not self.digest.isascii():
            raise UsageError(f"digest is {self.digest[:60]!r}; expected hexadecimal digits", ("digest",))
        for right in self.rights:
            if right not in RIGHTS:
                raise UsageError(f"{right!r} is not a right; expected {', '.join(RIGHTS)}", ("rights",))


def digest_of(key: str) -> str:
    """Return the hash of a key, by which the file identifies it."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


class Keys:
    """The keys of a file. When the file changes, it is read again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stamp: tuple[int, int] | None = None
        self._keys: tuple[Key, ...] = ()

    def all(self) -> tuple[Key, ...]:
        """Return all keys of the file. If there is no file, return none."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            self._stamp, self._keys = None, ()
            return ()
        stamp = status.st_mtime_ns, status.st_size
        if stamp != self._stamp:
            self._keys = self._read()
            self._stamp = stamp
        return self._keys

    def _read(self) -> tuple[Key, ...]:
        entries = read_json(self.path).get("keys", [])
        if not isinstance(entries, list):
            raise FormatError(str(self.path), 0, f"keys is {str(entries)[:60]}; expected a list of objects")
        for entry in entries:
            if not isinstance(entry, dict):
                raise FormatError(str(self.path), 0, f"keys has {str(entry)[:60]!r}; expected a list of objects")
        try:
            return tuple(from_table(Key, entry) for entry in entries)
        except UsageError as error:
            raise FormatError(str(self.path), 0, str(error)) from error

    def find(self, key: str) -> Key | None:
        """Find the entry of a key. All entries are compared, each in constant time."""
        wanted, found = digest_of(key), None
        for entry in self.all():
            if hmac.compare_digest(entry.digest, wanted):
                found = entry
        return found

    def add(self, name: str, rights: tuple[str, ...], requests: int, characters: int) -> str:
        """Create a key, store its hash, and return the key. Nothing else stores the key itself."""
        if any(entry.name == name for entry in self.all()):
            raise UsageError(f"there is a key of the name {name!r} already; expected another name")
        key = f"tg-{secrets.token_urlsafe(32)}"
        self._write((*self.all(), Key(name, digest_of(key), rights, requests, characters)))
        return key

    def remove(self, name: str) -> None:
        """Remove the key with this name."""
        left = tuple(entry for entry in self.all() if entry.name != name)
        if len(left) == len(self.all()):
            raise UsageError(f"there is no key of the name {name!r} in {self.path}")
        self._write(left)

    def _write(self, keys: tuple[Key, ...]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with write_binary(self.path) as stream:
            stream.write(json.dumps({"keys": [asdict(key) for key in keys]}, indent=2).encode() + b"\n")
        self.path.chmod(0o600)
        self._stamp = None


class Meter:
    """Measures how much each client used in the last minute, with token buckets.

    Processes that are forked from this one share the meter. It holds a few thousand clients; further ones replace those
    seen least recently.

    >>> now = 0.0
    >>> meter = Meter(lambda: now)
    >>> [meter.take("a", 1.0, 2) for _ in range(3)]
    [0.0, 0.0, 30.0]
    >>> now = 30.0
    >>> meter.take("a", 1.0, 2)
    0.0
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._file, name = tempfile.mkstemp(prefix="treeglot-")
        Path(name).unlink()  # it is there as long as this is
        weakref.finalize(self, os.close, self._file)
        os.truncate(self._file, SLOTS * SLOT.size)
        self._slots = mmap.mmap(self._file, SLOTS * SLOT.size)
        self._lock = threading.Lock()

    def take(self, client: str, amount: float, per_minute: float) -> float:
        """Use an amount of a client's limit. If this exceeds the limit, return the seconds to wait. 0 means no limit.

        After a pause, a client can use more than a minute's amount at once.
        """
        if not per_minute:
            return 0.0
        with self._lock:
            fcntl.lockf(self._file, fcntl.LOCK_EX)  # given back if the process is killed
            try:
                return self._take(client, amount, per_minute)
            finally:
                fcntl.lockf(self._file, fcntl.LOCK_UN)

    def _take(self, client: str, amount: float, per_minute: float) -> float:
        now = self._clock()
        name = hashlib.blake2b(client.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        at, used, when = self._find(name, now)
        used = max(0.0, used - (now - when) * per_minute / 60)
        room = max(per_minute - used, 0.0)
        late = amount > room and used > 0
        SLOT.pack_into(self._slots, at, name, used if late else used + amount, now)
        return 60 * (min(amount, per_minute) - room) / per_minute if late else 0.0

    def _find(self, name: bytes, now: float) -> tuple[int, float, float]:
        """Return the slot of a client, its use and its time. A new client gets the least recently used slot."""
        first = int.from_bytes(name[:4], "big") % (SLOTS - PROBED)
        places = range(first * SLOT.size, (first + PROBED) * SLOT.size, SLOT.size)
        seen = []
        for at in places:
            other, used, when = SLOT.unpack_from(self._slots, at)
            if other == name:
                return at, used, when
            seen.append((when if other != EMPTY else -1.0, at))
        return min(seen)[1], 0.0, now
