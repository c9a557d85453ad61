"""The display of a run: a table of its steps on a terminal, one line per step in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

from treeglot.cli.output import LOG_INTERVAL, is_terminal, say, settings
from treeglot.experiment.pipeline import NEW, Planned, Watcher

BEFORE = 15  # steps shown above the one that runs


class Lines(Watcher):
    """Prints a line when a step begins or ends, and the messages of the step every few seconds."""

    def __init__(self) -> None:
        """Start without messages."""
        self.last = 0.0
        self.line = ""

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def planned(self, plan: Sequence[Planned]) -> None:
        """Print how many steps there are to do."""
        there = sum(planned.done for planned in plan)
        say(f"{len(plan)} steps, {there} of them done before")

    def started(self, planned: Planned) -> None:
        """Print which step runs, and why it runs again."""
        self.last, self.line = time.monotonic(), ""
        say(f"{planned.step.name}: {'begins' if planned.reason == NEW else planned.reason}")

    def said(self, planned: Planned, line: str) -> None:
        """Print the message of the step, unless another was printed just before. The last message is printed at the
        end.
        """
        self.line = line
        if time.monotonic() - self.last >= LOG_INTERVAL:
            self.last = time.monotonic()
            say(f"{planned.step.name}: {line}")

    def finished(self, planned: Planned, seconds: float) -> None:
        """Print how long the step took, and its last message."""
        say(f"{planned.step.name}: done in {seconds:.1f} s{f', {self.line}' if self.line else ''}")


class Board(Watcher):
    """A table of the steps that is redrawn during the run."""

    def __init__(self) -> None:
        """Draw to standard error."""
        self.plan: Sequence[Planned] = ()
        self.state: dict[str, str] = {}
        self.at = ""
        self.began = 0.0
        self.spoke = False  # whether the step has said anything
        self.live: Any = None

    def __enter__(self) -> Board:
        return self

    def __exit__(self, *error: object) -> None:
        if self.live is not None:
            self.live.stop()

    def planned(self, plan: Sequence[Planned]) -> None:
        """Draw the table."""
        from rich.console import Console
        from rich.live import Live

        self.plan = plan
        self.state = {planned.step.name: "done before" if planned.done else "" for planned in plan}
        self.live = Live(console=Console(stderr=True), get_renderable=self.table, refresh_per_second=4)
        self.live.start()

    def started(self, planned: Planned) -> None:
        """Mark the running step."""
        self.at, self.began, self.spoke = planned.step.name, time.monotonic(), False
        self.state[self.at] = "" if planned.reason == NEW else planned.reason

    def said(self, planned: Planned, line: str) -> None:
        """Show the step's message."""
        self.spoke = True
        self.state[planned.step.name] = line

    def finished(self, planned: Planned, seconds: float) -> None:
        """Show how long the step took, and its last message."""
        line = self.state[planned.step.name] if self.spoke else ""
        self.state[planned.step.name] = f"{seconds:.1f} s{f', {line}' if line else ''}"
        self.at = ""

    def table(self) -> Any:
        """Return the running step and the steps before it, with the number of hidden and of remaining steps."""
        from rich.table import Table

        out = Table.grid(padding=(0, 2))
        names = [planned.step.name for planned in self.plan]
        waiting = [i for i, name in enumerate(names) if name == self.at or not self.state[name]]
        current = names.index(self.at) if self.at else waiting[0] if waiting else len(names) - 1
        first = max(0, current - BEFORE)
        if first:
            out.add_row("[green]✓", f"{first} steps", "above")
        for name in names[first : current + 1]:
            mark = "[bold]▶" if name == self.at else "[green]✓" if self.state[name] else " "
            text = self.state[name]
            if name == self.at:
                text = f"{time.monotonic() - self.began:.0f} s{f', {text}' if text else ''}"
            out.add_row(mark, name, text)
        if current + 1 < len(names):
            out.add_row(" ", f"{len(names) - current - 1} steps", "to come")
        return out


def watcher() -> Board | Lines:
    """Return the progress display for standard error: a table on a terminal, or lines in a log."""
    return Board() if is_terminal(sys.stderr) and not settings().quiet else Lines()
