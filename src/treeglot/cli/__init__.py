"""The command line: `treeglot COMMAND`.

To add a command `treeglot rules extract`:

1. write `cli/rules_extract.py` with a function `rules_extract` whose parameters are the command's arguments and options
   (`Annotated[Path, typer.Argument(help="…")]`) and whose docstring is its help; import what is heavy inside it;
2. name it in `COMMANDS` of `cli/app.py`, under its stage;
3. mention it in `docs/cli.md`.

A parameter whose type is an options dataclass (`treeglot.base.options`) becomes one command-line option per field.
`--quiet` and `--debug` are added to every command. A command raises `TreeglotError` for bad input (exit code 1) and
`UsageError` for what makes no sense to ask (2), prints its result to standard output, and says all else through
`treeglot.cli.output`: `say` for a line, `warn` for a warning, `Progress` for what takes long.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    from treeglot.cli.app import run

    return run(arguments)
