"""`treeglot compact`: corrections become part of a model's tables."""

from __future__ import annotations

from typing import Annotated

import typer

from treeglot.cli.parameters import ChangedModel


def compact(
    model: ChangedModel,
    drop_provenance: Annotated[
        bool, typer.Option("--drop-provenance", help="Remove provenance.bin, because it does not fit the new tables.")
    ] = False,
) -> None:
    """Merge a model's corrections into its tables. Afterwards they cannot be undone.

    Translations and their scores do not change. Corrections with features other than probabilities stay in their file.
    So do rules whose scope is above the limit of the model's options.
    """
    from treeglot.cli.output import say, shown_warnings, warn
    from treeglot.models.compact import compact as merge

    with shown_warnings():
        merged = merge(model, drop_provenance=drop_provenance)
    if merged.left:
        why = "a rule table has no columns for their features, or their scope is above compile.max_scope"
        warn(f"{len(merged.left):,} corrections stay in their file: {why}")
    say(f"{merged.rules:,} rules" if merged.rules else "no corrections: nothing changes")
