"""Displays the progress of a run: as a table of its steps on a terminal, and as lines in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

from treeglot.cli.output import LOG_INTERVAL, is_terminal, say, settings
from treeglot.experiment.pipeline import NEW, Planned, Watcher

BEFORE = 15  # steps shown above the one that runs


class Lines(Watcher):
    """Shows progress as lines: when a step begins or ends, and the messages of the step every few seconds."""

    def __init__(self) -> None:
        """Create the display without any messages."""
        self.last: dict[str, float] = {}  # when a running step printed something
        self.line: dict[str, str] = {}  # its last message

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def planned(self, plan: Sequence[Planned]) -> None:
        """Print the number of steps, and how many of them are already done."""
        there = sum(planned.done for planned in plan)
        say(f"{len(plan)} steps, {there} of them done before")

    def started(self, planned: Planned) -> None:
        """Print the name of the step that begins, and the reason if it runs again."""
        self.last[planned.step.name], self.line[planned.step.name] = time.monotonic(), ""
        say(f"{planned.step.name}: {'begins' if planned.reason == NEW else planned.reason}")

    def said(self, planned: Planned, line: str) -> None:
        """Print a step's message, at most every few seconds. The last message is printed when the step ends."""
        name = planned.step.name
        self.line[name] = line
        if time.monotonic() - self.last[name] >= LOG_INTERVAL:
            self.last[name] = time.monotonic()
            say(f"{name}: {line}")

    def finished(self, planned: Planned, seconds: float) -> None:
        """Print the time that the step took, and its last message."""
        line = self.line[planned.step.name]
        say(f"{planned.step.name}: done in {seconds:.1f} s{f', {line}' if line else ''}")


class Board(Watcher):
    """Shows progress as a table of the steps, which is redrawn during the run."""

    def __init__(self) -> None:
        """Create a table on standard error."""
        self.plan: Sequence[Planned] = ()
        self.state: dict[str, str] = {}
        self.began: dict[str, float] = {}  # when each running step began
        self.spoke: set[str] = set()  # steps that have said something
        self.live: Any = None

    def __enter__(self) -> Board:
        return self

    def __exit__(self, *error: object) -> None:
        if self.live is not None:
            self.live.stop()

    def planned(self, plan: Sequence[Planned]) -> None:
        """Draw the table of all planned steps."""
        from rich.console import Console
        from rich.live import Live

        self.plan = plan
        self.state = {planned.step.name: "done before" if planned.done else "" for planned in plan}
        self.live = Live(console=Console(stderr=True), get_renderable=self.table, refresh_per_second=4)
        self.live.start()

    def started(self, planned: Planned) -> None:
        """Show in the table that a step is running."""
        self.began[planned.step.name] = time.monotonic()
        self.state[planned.step.name] = "" if planned.reason == NEW else planned.reason

    def said(self, planned: Planned, line: str) -> None:
        """Show the latest message of a step."""
        self.spoke.add(planned.step.name)
        self.state[planned.step.name] = line

    def finished(self, planned: Planned, seconds: float) -> None:
        """Show the time that a step took, and its last message."""
        line = self.state[planned.step.name] if planned.step.name in self.spoke else ""
        self.state[planned.step.name] = f"{seconds:.1f} s{f', {line}' if line else ''}"
        del self.began[planned.step.name]

    def table(self) -> Any:
        """Return the running steps and their neighbours, and how many steps are hidden and remaining."""
        from rich.table import Table

        out = Table.grid(padding=(0, 2))
        began = self.began.copy()  # another thread draws, and steps end meanwhile
        names = [planned.step.name for planned in self.plan]
        running = [place for place, name in enumerate(names) if name in began]
        waiting = [place for place, name in enumerate(names) if name in began or not self.state[name]]
        last = running[-1] if running else waiting[0] if waiting else len(names) - 1
        shown = sorted({*range(max(0, last - BEFORE), last + 1), *running})
        hidden = [self.state[name] for place, name in enumerate(names) if place not in shown]
        if done := sum(map(bool, hidden)):
            out.add_row("[green]✓", f"{done} steps", "above")
        for place in shown:
            name, text = names[place], self.state[names[place]]
            mark = "[bold]▶" if name in began else "[green]✓" if text else " "
            if name in began:
                text = f"{time.monotonic() - began[name]:.0f} s{f', {text}' if text else ''}"
            out.add_row(mark, name, text)
        if left := len(hidden) - done:
            out.add_row(" ", f"{left} steps", "to come")
        return out


def watcher() -> Board | Lines:
    """Choose a progress display for standard error: a table on a terminal, and lines in a log."""
    return Board() if is_terminal(sys.stderr) and not settings().quiet else Lines()
