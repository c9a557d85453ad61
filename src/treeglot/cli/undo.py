"""`treeglot undo`: removes what a model learnt from a sentence pair."""

from __future__ import annotations

from typing import Annotated

import typer

from treeglot.cli.parameters import ChangedModel


def undo(
    model: ChangedModel,
    group: Annotated[str | None, typer.Option(help="The group that treeglot learn printed; default: the last.")] = None,
) -> None:
    """Undo what a model learnt from the last sentence pair, or from the pair of --group."""
    from treeglot.cli.output import say, shown_warnings
    from treeglot.models import load

    with shown_warnings():
        removed = load(model).undo(group)
    say(f"{removed.corrections[0].group}: {len(removed):,} corrections removed")
