"""The command line: `treeglot COMMAND`. Each command is a file in this folder.

To add a command `treeglot rules extract`:

1. Write `cli/rules_extract.py` with a function `rules_extract`. Its parameters are the command's arguments and options
   (`Annotated[Path, typer.Argument(help="…")]`), and its docstring is the help. Import heavy modules inside it.
2. Name it in `COMMANDS` of `cli/app.py`, under its stage.
3. Describe it in `docs/cli.md`.

A parameter of a path accepts URIs. Remote inputs are copied to this machine before the command begins. Marks such as
`STREAMED` in `cli/parameters.py` change this. Parameters that name files as text, such as NAME=FILE, also need a mark.

A parameter whose type is an options dataclass (`treeglot.base.options`) becomes one command-line option per field.
`--quiet` and `--debug` are added to every command. A command raises `TreeglotError` for bad input (exit code 1) and
`UsageError` for wrong usage (exit code 2). It prints its result to standard output. Everything else goes through
`treeglot.cli.output`: `say` for a line, `warn` for a warning, `Progress` for long work.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    from treeglot.cli.app import run

    return run(arguments)
