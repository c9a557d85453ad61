"""How a command ends that is told to: SIGTERM and SIGHUP unwind it as Ctrl-C does, so that nothing is left half-way.

The core does not hear of signals while it works. A thread sees to it that a command which has not ended by itself after
`GRACE` seconds, or is told twice, ends all the same; what it was writing is removed then, too.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGTERM, signal.SIGHUP)
GRACE = 3.0  # seconds
WORDS = "terminated"

# Names of what `treeglot.base.files`, the core and the steps of experiments (whose keys have twelve) write aside.
ASIDE = re.compile(r"\..+\.(\w{6}|\w{8}|\w{12})\.part")


class Told(BaseException):
    """The command was told to end."""

    def __init__(self, number: int) -> None:
        """By the signal of that number."""
        super().__init__(number)
        self.code = 128 + number


@contextmanager
def told_to_end() -> Iterator[None]:
    """Signals that would end the process raise `Told` in the block; what it ignores or handles stays as it is."""
    heard = [number for number in SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    if not heard or threading.current_thread() is not threading.main_thread():
        yield
        return
    told: list[BaseException] = []

    def tell(number: int, frame: FrameType | None) -> None:
        for other in heard:  # the thread hears of a second one
            if signal.getsignal(other) is tell:
                signal.signal(other, _ignore)
        told.append(Told(number))
        raise told[-1]

    def interrupt(number: int, frame: FrameType | None) -> None:
        told.append(KeyboardInterrupt())
        raise told[-1]

    before: dict[signal.Signals, Any] = dict.fromkeys(heard, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        before[signal.SIGINT] = signal.default_int_handler
    ear, mouth = os.pipe()
    os.set_blocking(mouth, False)
    fd_before = signal.set_wakeup_fd(mouth, warn_on_full_buffer=False)  # a byte for each signal, at once
    threading.Thread(target=_watch, args=(ear, heard), daemon=True).start()
    for number in before:
        signal.signal(number, tell if number in heard else interrupt)
    try:
        yield
    except Exception as error:
        if told:  # libraries make errors of their own of what a handler raises, as DuckDB does in a query
            raise told[-1] from error
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(fd_before)
        os.close(mouth)


def _ignore(number: int, frame: FrameType | None) -> None:
    pass


def _watch(ear: int, heard: list[signal.Signals]) -> None:
    try:
        while said := os.read(ear, 1):
            if said[0] in heard:
                again, _, _ = select.select([ear], [], [], GRACE)
                if not again or os.read(ear, 1):
                    _end(128 + said[0])
    finally:
        os.close(ear)


def _end(code: int) -> None:
    """End now; what this process was writing, which it holds open, goes with it."""
    for link in Path("/proc/self/fd").glob("*"):  # where there is none, the next run removes it
        with suppress(OSError):
            path = link.readlink()
            if ASIDE.fullmatch(path.name):
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink()
    say_ended()
    os._exit(code)


def say_ended() -> None:
    """The last word; a terminal may be gone, and one that is not may have lost its cursor to a progress display."""
    with suppress(OSError, ValueError, AttributeError):
        shown = "\x1b[?25h" if sys.stderr.isatty() else ""
        os.write(sys.stderr.fileno(), f"{shown}{WORDS}\n".encode())
