"""What the terminal of this run can show."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from treeglot.cli.output import is_terminal

if TYPE_CHECKING:
    from treeglot.syntax.draw import Screen

Width = Annotated[int | None, typer.Option(help="Columns to draw in; those of the terminal if not given.", min=1)]
Colour = Annotated[bool | None, typer.Option("--colour/--no-colour", help="On a terminal yes, else no, if not given.")]


def screen(width: int | None = None, colour: bool | None = None) -> Screen:
    """The screen that standard output is, or 80 plain columns where it is none."""
    from treeglot.syntax.draw import Screen

    if colour is None:
        colour = is_terminal(sys.stdout) and "NO_COLOR" not in os.environ
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return Screen(width or shutil.get_terminal_size().columns, colour, encoding)
