"""Runs several steps at once, each in its own process.

A worker is a new Python process that receives a step through a pipe. It sends back messages and warnings, and at the
end its measurements or an error. A worker ends when the process that started it ends, even if that process is killed.
Until then, it keeps the lock of the folder, so no second run can begin there.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe, wait
from types import TracebackType
from typing import Any

from treeglot.base.errors import TreeglotError
from treeglot.experiment.making import Making, make

PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); "
    "from treeglot.experiment.workers import work; work(int(sys.argv[1]))"
)
SAID, WARNED, MADE, FAILED = "said", "warned", "made", "failed"  # the messages of a worker


class _RemoteError(Exception):
    """Carries the traceback of an error in a worker."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return f"\n{self.text}"


@dataclass
class Workers:
    """The workers that are running, by the names of their steps. When the block ends, remaining workers are killed."""

    lock: int  # a file descriptor that each worker keeps open
    running: dict[str, tuple[subprocess.Popen[bytes], Connection]] = field(default_factory=dict)

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        for process, connection in self.running.values():
            process.kill()
            process.wait()
            connection.close()
        self.running.clear()

    def start(self, making: Making) -> None:
        """Start a new worker that makes this step."""
        ours, theirs = Pipe()
        with theirs:
            kept = (theirs.fileno(), self.lock)
            command = [sys.executable, "-c", PROGRAM, str(theirs.fileno()), json.dumps(sys.path)]
            # A session of its own: an interrupt on the terminal reaches this process, which kills the workers.
            process = subprocess.Popen(command, pass_fds=kept, stdin=subprocess.DEVNULL, start_new_session=True)
        self.running[making.step.name] = process, ours
        ours.send_bytes(pickle.dumps(making))

    def messages(self, said: Callable[[str, str], None]) -> Iterator[tuple[str, Mapping[str, float]]]:
        """Wait for messages of the workers until there are some.

        Pass on their reports, and yield the names and measurements of finished steps.
        """
        names = {connection: name for name, (_, connection) in self.running.items()}
        for connection in wait(list(names)):
            assert isinstance(connection, Connection)
            name = names[connection]
            try:
                what, *content = pickle.loads(connection.recv_bytes())
            except EOFError:
                code = self._end(name)
                problem = f"signal {-code}, perhaps for lack of memory" if code < 0 else f"exit code {code}"
                raise TreeglotError(f"step {name!r} ended without a result ({problem}); run again") from None
            if what == SAID:
                said(name, *content)
            elif what == WARNED:
                warnings.warn_explicit(*content)
            elif what == MADE:
                self._end(name)
                yield name, *content
            else:
                self._end(name)
                error, text = content
                raise error from _RemoteError(text)

    def _end(self, name: str) -> int:
        process, connection = self.running.pop(name)
        connection.close()
        return process.wait()


def work(descriptor: int) -> None:
    """Run as a worker: receive a step through a pipe, make it, and exit."""
    connection = Connection(descriptor)
    making: Making = pickle.loads(connection.recv_bytes())
    threading.Thread(target=_end_with_starter, args=[connection], daemon=True).start()

    def send(*message: Any) -> None:
        connection.send_bytes(pickle.dumps(message))

    def show(message: Warning | str, category: type[Warning], file: str, line: int, *more: object) -> None:
        send(WARNED, str(message), category, file, line)

    warnings.simplefilter("always")  # the starter has filters
    warnings.showwarning = show  # type: ignore[assignment]
    try:
        send(MADE, make(making, lambda line: send(SAID, line)))
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            error = RuntimeError(f"{type(error).__name__}: {error}")
        send(FAILED, error, traceback.format_exc())


def _end_with_starter(connection: Connection) -> None:
    try:
        connection.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)
