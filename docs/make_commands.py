"""Makes docs/commands.md, the reference of all commands, from the code: python docs/make_commands.py"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from treeglot.cli.app import COMMANDS, build_command, build_group
from treeglot.cli.help import panels

INTRODUCTION = """# Commands and options

This page lists every command with all its arguments and options, as `treeglot COMMAND --help` does. It is generated
from the code. [The command line](cli.md) explains what the commands do, with examples. The installed man pages have the
same text: `man treeglot`, `man treeglot-align`.
"""
COMMON = ("-q, --quiet", "--debug")  # of every command; described once


def page() -> str:
    """The text of docs/commands.md."""
    parts = [INTRODUCTION, "## Options of all commands\n", table(list(rows("")))]
    for stage, paths in COMMANDS.items():
        parts.append(f"## {stage}\n")
        for path in paths:
            parts += [f"### `treeglot {path}`\n", *described(path)]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def described(path: str) -> Iterator[str]:
    """How a command is called, what it does, and its parameters by panel."""
    command = build_command(path)
    context = command.make_context(f"treeglot {path}", [], resilient_parsing=True)
    yield f"    treeglot {path} {' '.join(command.collect_usage_pieces(context))}\n"
    text = re.sub(r"\n[ \t]+", "\n", (command.help or "").strip())
    yield "\n\n".join(" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text)) + "\n"
    for title, records in panels(command, context).items():
        shown = [record for record in records if not record[0].startswith(COMMON)]
        if shown:
            yield f"**{title}**\n"
            yield table(shown)


def rows(path: str) -> Iterator[tuple[str, str]]:
    """The options of a group."""
    group: Any = build_group(path)
    context = group.make_context("treeglot", [], resilient_parsing=True)
    for records in panels(group, context).values():
        yield from records


def table(records: list[tuple[str, str]]) -> str:
    """Names and what they mean."""
    lines = ["| | |", "|---|---|"]
    for name, text in records:
        plain = " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
        lines.append(f"| `{name}` | {plain} |".replace("|  |", "| |"))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (Path(__file__).parent / "commands.md").write_text(page(), encoding="utf-8")
