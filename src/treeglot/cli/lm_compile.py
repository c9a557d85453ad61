"""`treeglot lm compile`: creates a model file that opens at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from treeglot.cli.output import say, warn
from treeglot.cli.parameters import FILE, MAPPED


def lm_compile(
    arpa: Annotated[Path, typer.Argument(help="An ARPA file, also .gz, .xz or .zst; - is standard input."), MAPPED],
    out: Annotated[Path, typer.Option("--out", "-o", help="The compiled file to write."), FILE],
    layout: Annotated[
        Literal["fast", "small"],
        typer.Option(help="fast: exact. small: a third of the memory, values rounded, few false positives."),
    ] = "fast",
    memory: Annotated[
        str, typer.Option(help="Memory for the tables; larger ones are made in files beside the output.")
    ] = "2G",
) -> None:
    """Compile an n-gram model. The compiled file opens at once, because it is mapped into memory."""
    from treeglot.lm import compile_ngram

    model = compile_ngram(arpa, out, layout=layout, memory=memory)
    if model.core.unknown_added:
        warn(f"{arpa}: has no <unk>; unknown words get log10 -100")
    say(f"{sum(model.counts):,} n-grams of order 1 to {model.order} in {model.core.bytes:,} bytes")
