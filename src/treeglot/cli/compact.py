"""`treeglot compact`: merges corrections into the tables of a model."""

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
    """Merge a model's corrections into its tables. After that, the corrections cannot be undone.

    Translations and their scores do not change. Corrections that set features other than probabilities stay in their
    file. Rules whose scope exceeds the model's limit stay there, too.
    """
    from treeglot.cli.output import say, shown_warnings, warn
    from treeglot.models.compact import compact as merge

    with shown_warnings():
        merged = merge(model, drop_provenance=drop_provenance)
    if merged.left:
        why = "a rule table has no columns for their features, or their scope is above compile.max_scope"
        warn(f"{len(merged.left):,} corrections stay in their file: {why}")
    say(f"{merged.rules:,} rules" if merged.rules else "no corrections: nothing changes")
