"""`treeglot parser join`: joins several grammars in one folder, which parses with all of them together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot.base.errors import UsageError
from treeglot.cli.output import say, warn
from treeglot.cli.parameters import MAPPED, NewFolder


def parser_join(
    grammars: Annotated[list[Path], typer.Argument(help="Folders of two grammars or more."), MAPPED],
    out: Annotated[NewFolder, typer.Option("--out", "-o", help="The new folder of all grammars.")] = None,
) -> None:
    """Join grammars in one folder, which parses with all of them together, like parse --also.

    The command copies all files. Models and recipes accept the new folder as a parser.
    """
    from treeglot.parse.parser import join_parsers

    if out is None:
        raise UsageError("there is no --out; expected the folder of the joined grammars")
    if len(grammars) < 2:
        raise UsageError(f"found {len(grammars)} grammar; expected two or more")
    if out.exists():
        raise UsageError(f"{out} exists; expected a new folder")
    parser = join_parsers(grammars, out)
    if parser.lacking:
        warn(parser.differences())
    say(f"{1 + len(parser.also)} grammars parse together")
