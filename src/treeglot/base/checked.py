"""Large binary files that were checked before: they are read through once, not each time they are opened."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

from treeglot.base.files import PathLike, write_json
from treeglot.base.storage import cache_folder

T = TypeVar("T")

LARGE = 1 << 28  # bytes from which on checking takes longer than a moment
SETTLED = 2_000_000_000  # nanoseconds: a change within them may leave the time of a file as it is


def open_checked(path: PathLike, open: Callable[[str, bool], T], large: int | None = None) -> T:
    """Open a file with `open(name, verify)`. If it has `large` bytes, it is trusted after a check until it changes.

    Any change of a file changes the time of its inode, which programs cannot set. A record of that time, of the inode
    and of the size is kept in the folder of caches (`cache_folder`). Only a check that succeeded writes it.
    """
    name = os.fspath(path)
    before = _state(name)
    if before is None or before[2] < (LARGE if large is None else large):
        return open(name, True)
    record = _record(name)
    if _recorded(record) == before:
        return open(name, False)
    opened = open(name, True)
    if _state(name) == before and time.time_ns() - max(before[3:]) > SETTLED:
        with suppress(OSError):  # then it is checked next time, too
            record.parent.mkdir(parents=True, exist_ok=True)
            write_json(record, before)
    return opened


def forget(path: PathLike) -> None:
    """Have a file checked when it is opened next, even if it has not changed."""
    with suppress(OSError):
        _record(os.fspath(path)).unlink()


def _record(name: str) -> Path:
    place = blake2b(os.fsencode(os.path.realpath(name)), digest_size=16).hexdigest()
    return cache_folder() / "checked" / f"{place}.json"


def _state(name: str) -> list[int] | None:
    try:
        found = Path(name).stat()
    except OSError:
        return None  # `open` says what is wrong
    return [found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]


def _recorded(path: Path) -> object:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
