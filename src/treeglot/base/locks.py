"""Locks between processes: only one process at a time works on a file or folder."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from treeglot.base.errors import UsageError

WITHOUT_LOCKS = (errno.ENOTSUP, errno.ENOLCK, errno.ENOSYS)  # what some network file systems answer


@contextmanager
def locked(path: Path, busy: str = "") -> Iterator[None]:
    """Lock `path` during a block. The lock file is removed at the end of the block.

    If another process or thread holds the lock, wait for it. With `busy`, raise `UsageError` with this text instead. On
    file systems without locks, the block runs without a lock.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = _acquire(path, busy)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _acquire(path: Path, busy: str) -> int:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (fcntl.LOCK_NB if busy else 0))
            # Its holder may have removed the file. Then another process can lock a new one.
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        except FileNotFoundError:
            pass
        except BlockingIOError:
            os.close(descriptor)
            raise UsageError(busy) from None
        except BaseException as error:
            if isinstance(error, OSError) and error.errno in WITHOUT_LOCKS:
                return descriptor
            os.close(descriptor)
            raise
        os.close(descriptor)
