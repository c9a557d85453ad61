"""Runs several steps at once, each in its own process.

A worker is a new Python process that receives a step through a pipe. It sends back messages and warnings, and at the
end its measurements or an error. A worker ends when the process that started it ends, even if that process is killed.
Until then, it keeps the lock of the folder, so no second run can begin there.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe, wait
from types import TracebackType
from typing import Any

from treeglot.base.errors import TreeglotError
from treeglot.experiment.making import Making, make
from treeglot.models.kinds import find_kind, installed_kinds

# The working directory may have any modules, so only `sys` is imported before the path is set.
PROGRAM = (
    "import sys; number, *sys.path[:] = sys.argv[1:]; from treeglot.experiment.workers import work; work(int(number))"
)
SAID, WARNED, MADE, FAILED = "said", "warned", "made", "failed"  # the messages of a worker
GRACE = 0.5  # seconds that a worker has to remove its temporary files; less than a command has
EXIT = 5.0  # seconds that a worker has to exit after the end of its pipe
ROUNDS = 1000  # of messages that are read after an error


class _RemoteError(Exception):
    """Carries the traceback of an error in a worker."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return f"\n{self.text}"


@dataclass
class Workers:
    """The running workers of a run, each with its step's name. On leaving, those that still run are ended."""

    lock: int  # a file descriptor that each worker keeps open
    running: dict[str, tuple[subprocess.Popen[bytes], Connection]] = field(default_factory=dict)
    warned: dict[str, dict[Any, Any]] = field(default_factory=dict)  # by file: what the filters have let through once

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        try:
            self._signal(signal.SIGTERM)
            deadline = time.monotonic() + GRACE
            for process, _ in self.running.values():
                with suppress(subprocess.TimeoutExpired):
                    process.wait(max(0.0, deadline - time.monotonic()))
        finally:  # also after a second interrupt
            while self.running:
                self._end(next(iter(self.running)))

    def start(self, making: Making) -> None:
        """Start a worker for a step."""
        message = pickle.dumps((installed_kinds(), pickle.dumps(making)))
        ours, theirs = Pipe()
        with theirs:
            kept = (theirs.fileno(), self.lock)
            command = [sys.executable, *_flags(), "-c", PROGRAM, str(theirs.fileno()), *map(str, sys.path)]
            # A session of its own: an interrupt on the terminal reaches this process, which ends the workers.
            process = subprocess.Popen(command, pass_fds=kept, stdin=subprocess.DEVNULL, start_new_session=True)
        self.running[making.step.name] = process, ours
        with suppress(BrokenPipeError, ConnectionResetError):  # it has died, as `messages` will find
            ours.send_bytes(message)

    def messages(self, said: Callable[[str, str], None]) -> Iterator[tuple[str, Mapping[str, float]]]:
        """Wait for messages. Pass reports on with the step's name, and yield names and measurements of made steps.

        After an error, this also reads what the other workers have sent by then, and raises the error at the end.
        Further errors are warnings.
        """
        errors: list[tuple[str, Exception]] = []
        yield from self._read(None, said, errors)
        for _ in range(ROUNDS if errors else 0):
            if not (yield from self._read(0, said, errors)):
                break
        if errors:
            try:
                for name, error in errors[1:]:
                    warnings.warn(f"step {name!r} failed, too: {type(error).__name__}: {error}", stacklevel=2)
            finally:  # even if warnings are errors
                raise errors[0][1]

    def _read(
        self, timeout: float | None, said: Callable[[str, str], None], errors: list[tuple[str, Exception]]
    ) -> Generator[tuple[str, Mapping[str, float]], None, bool]:
        """Wait for workers, and read one message of each that has sent some. Return whether any has.

        Errors are added to the given ones with their steps' names.
        """
        names = {connection: name for name, (_, connection) in self.running.items()}
        ready = wait(list(names), timeout)
        for connection in ready:
            assert isinstance(connection, Connection)
            name = names[connection]
            try:
                what, *content = pickle.loads(connection.recv_bytes())
            except (EOFError, OSError):  # an OSError, if it has not read all, or not sent all
                errors.append((name, _ended(name, self._end(name, EXIT))))
                continue
            if what == SAID:
                said(name, *content)
            elif what == WARNED:
                self._warn(*content)
            elif what == MADE:
                self._end(name)
                yield name, *content
            else:
                self._end(name)
                error, text = content
                error.__cause__ = _RemoteError(text)
                errors.append((name, error))
        return bool(ready)

    def _warn(self, message: str, category: type[Warning], file: str, line: int) -> None:
        warnings.warn_explicit(message, category, file, line, registry=self.warned.setdefault(file, {}))

    def _end(self, name: str, seconds: float = 0.0) -> int:
        """Kill a worker and the programs that it runs, and return its exit code.

        The worker may exit by itself within some seconds, since only then its code says why.
        """
        process, connection = self.running[name]
        if seconds > 0:
            with suppress(subprocess.TimeoutExpired):
                process.wait(seconds)
        _kill_group(process.pid, signal.SIGKILL)
        connection.close()
        del self.running[name]
        return process.wait()

    def _signal(self, number: signal.Signals) -> None:
        """Send a signal to the workers and to the programs that they run."""
        for process, _ in self.running.values():
            _kill_group(process.pid, number)


def _kill_group(group: int, number: signal.Signals) -> None:
    """Send a signal to a worker and to its programs. Some systems refuse this if none of them runs any longer."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _flags() -> list[str]:
    """Return the options of this interpreter that change how modules run. A worker has the same ones."""
    letters = {"optimize": "-O", "dont_write_bytecode": "-B", "ignore_environment": "-E", "no_user_site": "-s"}
    found = [letter for name, letter in letters.items() for _ in range(getattr(sys.flags, name))]
    named = {"utf8": sys.flags.utf8_mode, "dev": sys.flags.dev_mode}
    return found + [part for name, value in named.items() if value for part in ("-X", name)]


def _ended(name: str, code: int) -> TreeglotError:
    problem = f"signal {-code}" if code < 0 else f"exit code {code}"
    if code == -signal.SIGKILL:
        problem += ", perhaps for lack of memory"
    return TreeglotError(f"step {name!r} ended without a result ({problem}); run again")


def work(descriptor: int) -> None:
    """Make the step that comes through a pipe, and exit. This is all that a worker does."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    os.set_inheritable(descriptor, False)
    connection, lock = Connection(descriptor), threading.Lock()

    def send(*message: Any) -> None:
        content = pickle.dumps(message)
        with lock, suppress(BrokenPipeError, ConnectionResetError):  # the starter has died, and so ends this
            connection.send_bytes(content)

    def show(message: Warning | str, category: type[Warning], file: str, line: int, *more: object) -> None:
        send(WARNED, str(message), category, file, line)

    try:
        content = connection.recv_bytes()
    except (EOFError, OSError):
        return
    threading.Thread(target=_end_with_starter, args=[connection], daemon=True).start()
    warnings.simplefilter("always")  # the starter has filters
    warnings.showwarning = show  # type: ignore[assignment]
    try:
        kinds, packed = pickle.loads(content)
        for kind in kinds:  # their packages register extractors, columns and more
            find_kind(kind)
        making: Making = pickle.loads(packed)
        result: tuple[Any, ...] = MADE, make(making, lambda line: send(SAID, line))
    except Exception as error:
        result = FAILED, _sendable(error), traceback.format_exc()
    for stream in (sys.stdout, sys.stderr):  # the starter does not wait for more
        with suppress(OSError, ValueError):
            stream.flush()
    send(*result)


def _sendable(error: Exception) -> Exception:
    """Return an error that pickle can restore: this one, or one with its message."""
    with suppress(Exception):
        if str(pickle.loads(pickle.dumps(error))) == str(error):
            return error
    kind = TreeglotError if isinstance(error, TreeglotError) else RuntimeError
    return kind(str(error) if kind is TreeglotError else f"{type(error).__name__}: {error}")


def _end_with_starter(connection: Connection) -> None:
    """Wait for the end of the pipe. Then end this process and the programs that it runs."""
    with suppress(EOFError, OSError):
        connection.recv_bytes()
    os.killpg(os.getpid(), signal.SIGKILL)
