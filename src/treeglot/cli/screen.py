"""Finds out what the terminal can display, and prints pages of text."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from treeglot.cli.output import is_terminal

if TYPE_CHECKING:
    from treeglot.syntax.draw import Screen

Width = Annotated[int | None, typer.Option(help="Columns to draw in; default: those of the terminal.", min=1)]
Colour = Annotated[bool | None, typer.Option("--colour/--no-colour", help="Use colours; default: only on a terminal.")]


def screen(width: int | None = None, colour: bool | None = None) -> Screen:
    """Return the terminal of standard output. Otherwise, return a plain screen of 80 columns."""
    from treeglot.syntax.draw import Screen

    if colour is None:
        colour = is_terminal(sys.stdout) and "NO_COLOR" not in os.environ
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return Screen(width or shutil.get_terminal_size().columns, colour, encoding)


class Page:
    """A page on standard output, made of headings, paragraphs and lines."""

    def __init__(self, screen: Screen) -> None:
        """Create a page on `screen`."""
        self.screen = screen

    def title(self, text: str) -> None:
        """Print the title of the page."""
        from treeglot.syntax.draw.terminal import Piece

        print(self.screen.line([Piece(text, "word")]))

    def heading(self, text: str) -> None:
        """Print a heading, and a line across the page."""
        from treeglot.syntax.draw.terminal import Piece

        line = "─" * max(0, min(self.screen.width, 80) - len(text) - 4)
        print()
        print(self.screen.line([Piece("── ", "faint"), Piece(text, "word"), Piece(f" {line}", "faint")]))

    def text(self, text: str) -> None:
        """Print a paragraph, wrapped to the width of the page."""
        print()
        for line in textwrap.wrap(self.screen.readable(text), max(1, min(self.screen.width, 80) - 2)):
            print(line)

    def lines(self, lines: Sequence[str]) -> None:
        """Print lines unchanged, slightly indented."""
        from treeglot.syntax.draw.terminal import Piece

        print()
        for line in lines:
            print("  " + self.screen.line([Piece(self.screen.readable(line), "word")]))
