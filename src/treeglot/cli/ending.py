"""Ends a command cleanly. SIGTERM and SIGHUP end it like Ctrl-C, so that no unfinished files remain.

While the core or a library works, Python does not handle signals. So a thread of the core ends the command after
`GRACE` seconds, or after a second signal. This thread also removes unfinished output.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from treeglot import _core

SIGNALS = (signal.SIGTERM, signal.SIGHUP)
GRACE = 0.7  # seconds
WORDS = "terminated"
INTERRUPTED = "interrupted"


class Told(BaseException):
    """The exception that ends a command after a signal."""

    def __init__(self, number: int) -> None:
        """Create the exception for the signal with this `number`."""
        super().__init__(number)
        self.code = 128 + number


@contextmanager
def told_to_end() -> Iterator[None]:
    """During a block, raise `Told` for signals that would otherwise end the process."""
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
    words = {int(number): INTERRUPTED if number == signal.SIGINT else WORDS for number in before}
    watch = _core.Ending(words, GRACE)
    fd_before = signal.set_wakeup_fd(watch.descriptor, warn_on_full_buffer=False)  # a byte for each signal, at once
    for number in before:
        signal.signal(number, tell if number in heard else interrupt)
    try:
        yield
    except Exception as error:
        if told:  # libraries such as DuckDB replace what a handler raises by their own errors
            raise told[-1] from error
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(fd_before)
        del watch


def _ignore(number: int, frame: FrameType | None) -> None:
    pass


def say_ended() -> None:
    """Print the message that a signal ended the command. The terminal may be gone, or its cursor may be hidden."""
    with suppress(OSError, ValueError, AttributeError):
        shown = "\x1b[?25h" if sys.stderr.isatty() else ""
        os.write(sys.stderr.fileno(), f"{shown}{WORDS}\n".encode())
