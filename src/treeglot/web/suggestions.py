"""Better translations that users suggest: lines of JSON in a file, for whoever decides what is learnt."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path

from treeglot.web.asking import refuse

MOST = 100_000_000  # bytes of the file


class Suggestions:
    """A file that suggestions are added to. One that was acknowledged is on the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()

    def add(self, source: str, target: str, text: str, suggested: str) -> None:
        """Add one."""
        made = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        entry = {"time": made, "source": source, "target": target, "q": text, "s": suggested}
        line = json.dumps(entry, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        with self._lock, self.path.open("ab") as stream:
            if stream.tell() > MOST:
                raise refuse("there is no room for more suggestions", 507)
            stream.write(line)
            stream.flush()
            os.fsync(stream.fileno())
