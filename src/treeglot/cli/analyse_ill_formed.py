"""`treeglot analyse ill-formed`: lists the phrases of a model that have no well-formed dependency structure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot.cli.output import say
from treeglot.cli.parameters import MAPPED, Out


def analyse_ill_formed(
    model: Annotated[Path, typer.Argument(help="The folder of a model with structures, such as c2d."), MAPPED],
    out: Out = Path("-"),
) -> None:
    """List the target phrases whose dependency structures are ill-formed, one per line.

    A parser can analyse these phrases. The option extract.phrase_dependencies then gives them the parser's structures.
    """
    from treeglot.base.errors import UsageError
    from treeglot.base.files import write_binary
    from treeglot.rules.find import ill_formed_phrases

    table = model / "rules.parquet"
    if not table.is_file():
        raise UsageError(f"{model} has no rules.parquet, which training writes beside the compiled table")
    phrases = ill_formed_phrases(table)
    with write_binary(out) as stream:
        for phrase in phrases:
            stream.write(f"{phrase}\n".encode())
    say(f"{len(phrases):,} phrases")
