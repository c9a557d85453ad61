"""`treeglot verify`: checks the cards of experiments and the files of models."""

from __future__ import annotations

from typing import Annotated

import typer

from treeglot.base.errors import FormatError, shown
from treeglot.base.storage import fetch, is_complete, is_file, is_remote
from treeglot.cli.output import say
from treeglot.cli.parameters import MaybeTexts, Texts


def verify(
    paths: Annotated[Texts, typer.Argument(help="Cards that `treeglot run` wrote, and folders of models.")],
    data: Annotated[
        MaybeTexts, typer.Option(help="Look for the data files of cards here, too, by their names.")
    ] = None,
    partial: Annotated[bool, typer.Option("--partial", help="Accept files that are absent.")] = False,
) -> None:
    """Check the cards of experiments (digests, keys and scores), or all files of models.

    The command prints a line for everything that differs or is missing. The exit code is 1 if something differs, or if
    something is missing without --partial.
    """
    from treeglot.experiment.verify import verify_card
    from treeglot.models.verify import verify_model

    failed = False
    for given in paths:
        path = shown(str(given))
        if is_complete(given) if is_remote(given) else given.is_dir():
            model = fetch(given, report=say)
            say(f"{path}: all parts of the model are sound: {', '.join(verify_model(model))}")
            continue
        if not is_file(given):
            raise FormatError(path, 0, "is not there; expected a card or the folder of a model")
        found = list(verify_card(given, data or []))
        number = {state: sum(check.state == state for check in found) for state in ("matches", "differs", "absent")}
        for check in found:
            if check.state != "matches":
                print(f"{path}: {check}")
        failed |= number["differs"] > 0 or (number["absent"] > 0 and not partial)
        said = ", ".join(f"{count} {state}" for state, count in number.items())
        say(f"{path}: {said}")
    if failed:
        raise typer.Exit(1)
