"""`treeglot export`: writes a model as the files of another decoder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from treeglot.cli.output import say
from treeglot.cli.parameters import FOLDER, MaybeText, ModelFolder


def export(
    model: ModelFolder,
    format: Annotated[Literal["moses", "cdec", "joshua", "travatar"], typer.Option(help="Whose files to write.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write."), FOLDER],
    filter: Annotated[MaybeText, typer.Option(help="A test set: write only rules that its sentences can use.")] = None,
    weights: Annotated[Path | None, typer.Option(help="Weights instead of the model's.")] = None,
) -> None:
    """Write a model for another decoder: rules, glue grammar, weights, configuration and ARPA language model.

    The other decoder finds the same translations with the same scores. Start it in the written folder.
    """
    from treeglot.decode.weights import read_weights
    from treeglot.foreign import export as write
    from treeglot.models import load

    loaded = load(model)
    if weights is not None:
        loaded = loaded.with_weights(read_weights(weights))
    done = write(loaded, out, format, test=None if filter is None else loaded.read(filter))
    say(f"{done.rules:,} rules; {done.configuration} is the configuration")
