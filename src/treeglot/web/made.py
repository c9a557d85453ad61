"""Stores translated files until clients download them."""

from __future__ import annotations

import hmac
import secrets
import shutil
import tempfile
import time
import weakref
from contextlib import suppress
from pathlib import Path

from starlette.exceptions import HTTPException

from treeglot.base.files import write_binary

KEPT = 100  # files
KEPT_SECONDS = 600.0


class Made:
    """Translated files that wait for download, for a few minutes at most. Forked processes share them."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="treeglot-"))
        weakref.finalize(self, shutil.rmtree, self._folder, True)

    def _files(self) -> list[tuple[float, Path]]:
        """Return the stored files with their ages, and remove expired ones."""
        found, now = [], time.time()
        for path in self._folder.iterdir():
            with suppress(FileNotFoundError):
                age = now - path.stat().st_mtime
                found.append((age, path))
        found.sort()
        for age, path in found:
            if age > KEPT_SECONDS:
                path.unlink(missing_ok=True)
        return [(age, path) for age, path in found if age <= KEPT_SECONDS]

    def add(self, name: str, content: bytes) -> str:
        """Store a file, and return the secret that retrieves it."""
        for _, path in self._files()[KEPT - 1 :]:
            path.unlink(missing_ok=True)
        secret = secrets.token_hex(24)
        with write_binary(self._folder / f"{secret}.{name}") as stream:
            stream.write(content)
        return secret

    def find(self, secret: str) -> tuple[str, bytes]:
        """Return the file that belongs to a secret."""
        for _, path in self._files():
            kept, _, name = path.name.partition(".")
            if hmac.compare_digest(kept.encode(), secret.encode("utf-8", "surrogatepass")):
                with suppress(FileNotFoundError):
                    return name, path.read_bytes()
        raise HTTPException(404, "there is no such file, or it was there too long ago")
