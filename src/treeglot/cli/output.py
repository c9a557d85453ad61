"""Prints remarks, warnings and progress, which all go to standard error."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sized
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

import typer

T = TypeVar("T")

_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}

LOG_INTERVAL = 5.0  # seconds between two lines of progress in a log


@dataclass
class Settings:
    """Settings that define which messages a run prints."""

    quiet: bool = False
    debug: bool = False


SETTINGS: ContextVar[Settings] = ContextVar("settings")  # those of the command that runs


def set_common(quiet: bool, debug: bool) -> None:
    """Set the options `--quiet` and `--debug`, which can stand before or after the command."""
    settings().quiet |= quiet
    settings().debug |= debug


def settings() -> Settings:
    """Return the settings of the running command, or the defaults."""
    return SETTINGS.get(None) or Settings()


def report_error(message: str) -> None:
    """Print an error message on standard error, as `error: message`."""
    _line("error:", typer.colors.RED, message)


def say(message: str) -> None:
    """Print a remark on standard error. `--quiet` drops it."""
    if not settings().quiet:
        print(printable(message), file=sys.stderr)


def printable(text: str) -> str:
    """Escape control characters that come from a file, so that the terminal shows them.

    >>> printable("a\\x1b[2Jb")
    'a\\\\x1b[2Jb'
    """
    return text.translate(_CONTROLS)


def show(text: str) -> None:
    """Print a line of a result for people."""
    print(printable(text))


def show_data(text: str) -> None:
    """Print a line for programs. On a terminal, it is escaped in the same way as by `show`."""
    print(printable(text) if sys.stdout.isatty() else text)


def warn(message: str) -> None:
    """Print a warning on standard error. `--quiet` drops it."""
    if not settings().quiet:
        _line("warning:", typer.colors.YELLOW, message)


@contextmanager
def shown_warnings() -> Iterator[None]:
    """Show Python's warnings during a block, in the style of `warn`, each only once."""
    import warnings

    seen = set[str]()

    def show(message: Warning | str, *details: object) -> None:
        if str(message) not in seen:
            seen.add(str(message))
            warn(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show  # type: ignore[assignment]
        yield


class Progress:
    """Shows the progress of one piece of work: a bar on a terminal, or a line every few seconds in a log.

        with Progress("counting n-grams", unit="tokens", total=n) as progress:
            for batch in batches:
                progress.advance(len(batch))

    `total` may be unknown (None) and may be set later.
    """

    def __init__(self, what: str, *, unit: str = "", total: float | None = None) -> None:
        """Create the display. `what` names the work, and `unit` names the things that are counted."""
        self.what = printable(what)
        self.unit = unit
        self.total = total
        self.done: float = 0
        self._quiet = settings().quiet
        self._bar: Any = None
        self._begin = self._shown = time.monotonic()

    def advance(self, by: float = 1) -> None:
        """Report that `by` more units are done."""
        self.update(self.done + by)

    def update(self, done: float, total: float | None = None) -> None:
        """Set the number of units that are done."""
        self.done = done
        if total is not None:
            self.total = total
        if self._quiet:
            return
        now = time.monotonic()
        if self._bar is not None:
            # Rich draws ten times a second at most; it need not be told more often.
            if now - self._shown >= 0.05:
                self._shown = now
                self._bar.update(0, completed=done, total=self.total)
        elif now - self._shown >= LOG_INTERVAL:
            self._shown = now
            print(self._log_line(now), file=sys.stderr, flush=True)

    def __enter__(self) -> Progress:
        self._begin = self._shown = time.monotonic()
        if not self._quiet and is_terminal(sys.stderr):
            self._bar = _rich_bar(self)
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if self._bar is not None:
            self._bar.update(0, completed=self.done, total=self.total)
            self._bar.stop()
            self._bar = None
        if not self._quiet and kind is None:
            seconds = time.monotonic() - self._begin
            print(f"{self.what}: {self._amount(self.done)} in {seconds:.1f} s", file=sys.stderr, flush=True)

    def _amount(self, number: float) -> str:
        return f"{number:,.0f} {self.unit}".rstrip()

    def _log_line(self, now: float) -> str:
        rate = self.done / max(now - self._begin, 1e-9)
        if self.total:
            left = (self.total - self.done) / rate if rate else 0.0
            share = 100 * self.done / self.total
            return f"{self.what}: {self.done:,.0f} of {self._amount(self.total)} ({share:.0f} %), {left:.0f} s left"
        return f"{self.what}: {self._amount(self.done)}, {rate:,.0f} per second"


class Stages(ExitStack):
    """Shows the progress of several stages, one after the other. The last stage ends with the block."""

    def __init__(self, units: Mapping[str, str] | None = None) -> None:
        """Create the display. `units` names what each stage counts; the default is iterations."""
        super().__init__()
        self._units = units or {}
        self._stage = ""
        self._progress: Any = None

    def update(self, stage: str, done: float, total: float, *more: float) -> None:
        """Set the number of units that are done in `stage`."""
        if stage != self._stage:
            self.close()
            self._stage = stage
            unit = self._units.get(stage, "iterations")
            self._progress = self.enter_context(Progress(stage, unit=unit, total=total or None))
        self._progress.update(done)


def track(items: Iterable[T], what: str, *, unit: str = "", total: int | None = None) -> Iterator[T]:
    """Yield `items`, and show how many have been used."""
    if total is None and isinstance(items, Sized):
        total = len(items)
    with Progress(what, unit=unit, total=total) as progress:
        for item in items:
            yield item
            progress.advance()


def is_terminal(stream: Any) -> bool:
    """Return whether `stream` shows bars and colours: a terminal that is not a dumb one."""
    return stream is not None and bool(stream.isatty()) and os.environ.get("TERM") != "dumb"


def _line(prefix: str, colour: str, message: str) -> None:
    if is_terminal(sys.stderr) and "NO_COLOR" not in os.environ:
        prefix = typer.style(prefix, fg=colour, bold=True)
    print(prefix, printable(message), file=sys.stderr, flush=True)


def _rich_bar(progress: Progress) -> Any:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as RichProgress

    if progress.total is None:
        columns: list[Any] = [SpinnerColumn(), TextColumn("{task.description}"), TextColumn("{task.completed:,.0f}")]
        columns += [TextColumn(progress.unit), TimeElapsedColumn()]
    else:
        columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn(progress.unit)]
        columns += [TimeRemainingColumn()]
    bar = RichProgress(*columns, console=Console(stderr=True), transient=True)
    bar.add_task(progress.what, total=progress.total)
    return bar
