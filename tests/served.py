"""Small models to serve, and a client for them without a network."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from treeglot.parse import ParserTraining
from treeglot.web.demo import raw_text, train_sample

PAIRS = 150
ZH, EN = raw_text(PAIRS)
QUICK = ParserTraining(cycles=0, split_iterations=2, merge_iterations=1, smooth_iterations=1, signature="chinese")


def train_models(folder: Path, kinds: tuple[str, ...] = ("hiero",), provenance: bool = False) -> list[str]:
    """Models from Chinese to English, a folder each."""
    return [str(place) for place in train_sample(folder, kinds, PAIRS, QUICK, provenance=provenance)]


def service(places: list[str], keys: Any = None, require_key: bool = False, clock: Any = None, **options: Any) -> Any:
    """A service of models that looks at no folder by itself."""
    from treeglot.web.asking import Service
    from treeglot.web.keys import Meter
    from treeglot.web.options import ServeOptions
    from treeglot.web.shelf import Shelf
    from treeglot.web.work import Workers

    limits = ServeOptions(**{"reload": 0.0, **options})
    made = Service(Shelf(places), Workers(2, limits.waiting), limits, keys, require_key)
    if clock is not None:
        made.meter = Meter(clock)
    return made


class Client:
    """A client of a service, in this process: no network, no ports."""

    def __init__(self, made: Any) -> None:
        from treeglot.web.app import make_app

        self.app = make_app(made)

    def ask(self, method: str, path: str, **more: Any) -> Any:
        """One request."""
        import httpx

        async def send() -> Any:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                return await client.request(method, path, **more)

        return asyncio.run(send())

    def get(self, path: str, **more: Any) -> Any:
        """GET."""
        return self.ask("GET", path, **more)

    def post(self, path: str, **more: Any) -> Any:
        """POST."""
        return self.ask("POST", path, **more)


@contextmanager
def running(places: list[str], *more: str) -> Iterator[tuple[str, Any]]:
    """`treeglot serve` on a free port: its address and its process."""
    command = [sys.executable, "-m", "treeglot", "serve", *places, "--port", "0", *more]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            said = []
            for line in process.stderr:
                said.append(line)
                if found := re.search(r"serving on (\S+)", line):
                    drain = threading.Thread(target=process.stderr.read, daemon=True)  # or it waits for a reader
                    drain.start()
                    yield found[1], process
                    break
            else:
                raise AssertionError("".join(said))
        finally:
            process.kill()
