"""`treeglot check-corrections`: shows how corrections change a model's translations."""

from __future__ import annotations

from typing import Annotated

import typer

from treeglot.cli.parameters import InputFormat, MaybeText, ModelFolder, TextFile, Threads


def check_corrections(
    model: ModelFolder,
    dev: Annotated[TextFile, typer.Option(help="Sentences, forests or trees, as for translate.")],
    refs: Annotated[MaybeText, typer.Option(help="Their translations, to score both.")] = None,
    format: InputFormat = None,
    threads: Threads = 1,
) -> None:
    """Show the sentences that a model's corrections change, before and after, with scores.

    The command translates only sentences that contain the words of a corrected rule, because no other sentence can
    change. Scores are computed on these sentences.
    """
    from treeglot.base.files import read_lines
    from treeglot.cli.output import say, show, shown_warnings
    from treeglot.models import load
    from treeglot.models.radius import check_corrections as check

    with shown_warnings():
        loaded = load(model)
        loaded.need_table("corrections")
        references = None if refs is None else list(read_lines(refs))
        found = check(loaded, list(loaded.read(dev, format)), references, threads)
    for change in found.changes:
        show(f"{change.number + 1}\t- {change.before}\n{change.number + 1}\t+ {change.after}")
    say(f"{found.sentences:,} sentences, {len(found.touched):,} can change, {len(found.changes):,} do")
    for name, (before, after) in found.scores.items():
        say(f"{name} {before:.2f} before, {after:.2f} after")
