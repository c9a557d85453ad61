"""`treeglot lm export`: writes a compiled model as an ARPA file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot.base.errors import UsageError
from treeglot.cli.output import say
from treeglot.cli.parameters import FILE, MAPPED


def lm_export(
    model: Annotated[Path, typer.Argument(help="A compiled n-gram model."), MAPPED],
    out: Annotated[Path, typer.Option("--out", "-o", help="The ARPA file to write, also .gz, .xz or .zst."), FILE],
) -> None:
    """Write a compiled n-gram model as an ARPA file, which other programs read."""
    from treeglot.lm import load_ngram
    from treeglot.lm.dependency import is_dependency_model

    if is_dependency_model(model):
        raise UsageError(f"{model} is a dependency model; ARPA files hold n-gram models")
    loaded = load_ngram(model)
    loaded.write_arpa(out)
    what = f"; its words are classes of {loaded.core.classed:,} words" if loaded.core.classed else ""
    say(f"{sum(loaded.counts):,} n-grams of order 1 to {loaded.order}{what}")
