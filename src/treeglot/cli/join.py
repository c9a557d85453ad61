"""`treeglot join`: joins several trained models into one that searches all their grammars together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot.base.errors import UsageError
from treeglot.cli.output import say, shown_warnings
from treeglot.cli.parameters import MAPPED, NewFolder, split_named


def join(
    models: Annotated[
        list[str],
        typer.Argument(help="Folders of trained models: FOLDER, or NAME=FOLDER; without a name it is the kind's."),
        MAPPED,
    ],
    out: Annotated[NewFolder, typer.Option("--out", "-o", help="The folder of the joint model.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a model with tuned weights.")] = False,
) -> None:
    """Join several models into one that searches all their rules together.

    A derivation of one grammar can fill a variable in a rule of another grammar. After joining, tune all weights
    together. Dependency models are left out. Models with labels on the target side cannot be joined.
    """
    from treeglot.models.joint import join as make
    from treeglot.models.joint import names_of

    if out is None:
        raise UsageError("there is no --out; expected the folder of the joint model")
    pairs = [split_named(model) for model in models]
    own = list(names_of([Path(folder) for _, folder in pairs]))
    names = [name or other for (name, _), other in zip(pairs, own, strict=True)]
    if len(set(names)) < len(names):
        raise UsageError("two parts have the same name; expected another NAME=FOLDER")
    with shown_warnings():
        made = make(dict(zip(names, [folder for _, folder in pairs], strict=True)), out, force=force, report=say)
    say(f"{made.translator.rules:,} rules of {', '.join(names)}")
