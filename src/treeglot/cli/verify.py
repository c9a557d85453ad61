"""`treeglot verify`: check the cards of experiments and the files of models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot.base.errors import FormatError
from treeglot.cli.output import say
from treeglot.cli.parameters import MAPPED


def verify(
    paths: Annotated[
        list[Path], typer.Argument(help="Cards that `treeglot run` wrote, and folders of models."), MAPPED
    ],
    data: Annotated[
        list[Path] | None, typer.Option(help="Look for the data files of cards here, too, by their names.")
    ] = None,
    partial: Annotated[bool, typer.Option("--partial", help="Accept files that are absent.")] = False,
) -> None:
    """Check cards and models: digests, keys and scores of cards, all files of models.

    Prints a line for everything that differs or is absent. The exit code is 1 if something differs, or is absent
    without --partial.
    """
    from treeglot.experiment.verify import verify_card
    from treeglot.models.verify import verify_model

    failed = False
    for path in paths:
        if path.is_dir():
            say(f"{path}: all parts of the model are sound: {', '.join(verify_model(path))}")
            continue
        if not path.is_file():
            raise FormatError(str(path), 0, "is not there; expected a card or the folder of a model")
        found = list(verify_card(path, data or []))
        number = {state: sum(check.state == state for check in found) for state in ("matches", "differs", "absent")}
        for check in found:
            if check.state != "matches":
                print(f"{path}: {check}")
        failed |= number["differs"] > 0 or (number["absent"] > 0 and not partial)
        said = ", ".join(f"{count} {state}" for state, count in number.items())
        say(f"{path}: {said}")
    if failed:
        raise typer.Exit(1)
