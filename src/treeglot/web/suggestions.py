"""Stores better translations that users suggest, as lines of JSON in a file, for review."""

from __future__ import annotations

import json
import os
import threading
import time
from contextlib import suppress
from pathlib import Path

from treeglot.web.asking import refuse

MOST = 100_000_000  # bytes of the file
READ = 1_000_000  # bytes at its end that are read
FIELDS = ("time", "source", "target", "q", "s")


class Suggestions:
    """The file of suggestions. When a suggestion is acknowledged, it is on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()

    def add(self, source: str, target: str, text: str, suggested: str) -> None:
        """Write one suggestion to the file."""
        made = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        entry = {"time": made, "source": source, "target": target, "q": text, "s": suggested}
        line = json.dumps(entry, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        with self._lock, self.path.open("ab") as stream:
            if stream.tell() > MOST:
                raise refuse("there is no room for more suggestions", 507)
            stream.write(line)
            stream.flush()
            os.fsync(stream.fileno())

    def last(self, most: int) -> list[dict[str, str]]:
        """Return the latest suggestions, newest first. Damaged lines are skipped."""
        found: list[dict[str, str]] = []
        with suppress(FileNotFoundError), self.path.open("rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - READ))
            for line in reversed(stream.read().splitlines()):
                with suppress(ValueError, RecursionError):
                    entry = json.loads(line)
                    if isinstance(entry, dict) and all(isinstance(entry.get(name), str) for name in FIELDS):
                        found.append({name: entry[name] for name in FIELDS})
                if len(found) == most:
                    break
        return found
