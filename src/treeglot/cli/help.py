"""Prints help in plain text: commands by stage, and options by panel. (Importing Rich takes too long.)"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import typer
from typer.core import TyperCommand

from treeglot.cli.output import is_terminal
from treeglot.cli.values import parse_values

WIDTH = {"max_content_width": 100, "help_option_names": ["--help", "-h"]}


def section(formatter: Any, title: str, rows: Iterable[tuple[str, str]]) -> None:
    """Write a heading, and below it a list of names with their meanings."""
    rows = list(rows)
    if not rows:
        return
    with formatter.section(styled(title, bold=True)):
        formatter.write_dl([(styled(name, fg="cyan"), text) for name, text in rows])


def panels(command: Any, ctx: Any) -> dict[str, list[tuple[str, str]]]:
    """Return the arguments and options of a command by panel, with their help. Options of all commands come last."""
    found: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        panel = getattr(parameter, "rich_help_panel", None)
        if parameter.param_type_name == "argument":
            found["Arguments"].append((str(parameter.metavar).removesuffix("..."), parameter.help or ""))
        elif record is not None:
            found.setdefault(panel if isinstance(panel, str) else "Options", []).append(record)
    return found


def parameters(command: Any, ctx: Any, formatter: Any) -> None:
    """Write a section for each panel of a command."""
    for title, rows in panels(command, ctx).items():
        section(formatter, title, rows)


def styled(text: str, **style: Any) -> str:
    """Colour `text` if the terminal shows colours."""
    return typer.style(text, **style) if is_terminal(sys.stdout) and "NO_COLOR" not in os.environ else text


class PlainCommand(TyperCommand):
    """A command with help in plain text. `annotations` contains the types of its parameters."""

    annotations: Mapping[str, Any] = {}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments with our own conversion. Incomplete lines, during completion, are left to typer."""
        if ctx.resilient_parsing:
            return list(super().parse_args(ctx, args))
        parse_values(self, ctx, args, self.annotations)
        return []

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options of the command, grouped by panel."""
        parameters(self, ctx, formatter)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the pieces of a usage line, such as `[OPTIONS] IN OUT [MORE]...`."""
        pieces = ["[OPTIONS]"]
        for parameter in self.get_params(ctx):
            if parameter.param_type_name == "argument":
                name = str(parameter.metavar).removesuffix("...") + ("..." if parameter.nargs == -1 else "")
                pieces.append(name if parameter.required else f"[{name}]")
        return pieces
