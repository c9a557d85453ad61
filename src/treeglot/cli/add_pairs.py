"""`treeglot add-pairs`: adds sentence pairs to a model that finds its rules on demand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot.cli.parameters import ChangedModel, MaybeText, TextFile


def add_pairs(
    model: ChangedModel,
    source: Annotated[TextFile, typer.Option(help="Sentences, one per line.")],
    target: Annotated[TextFile, typer.Option(help="Their translations.")],
    alignments: Annotated[
        MaybeText, typer.Option(help="Links of the words, 0-0 1-2, instead of an aligner; not for raw text.")
    ] = None,
    aligner: Annotated[Path | None, typer.Option(help="A saved aligner, if the model has none.")] = None,
) -> None:
    """Add sentence pairs to a model with rules on demand. The next translation uses their rules.

    If the model translates raw text, give raw text. The language model and the weights do not change. The command adds
    all pairs or none. If a pair is bad, the error names its line.
    """
    from treeglot.cli.output import say, shown_warnings
    from treeglot.models import load

    with shown_warnings():
        loaded = load(model)
        loaded.need_index()
        new = list(loaded.read_pairs(source, target, alignments, aligner))
        pairs = loaded.add_pairs(new)
    say(f"{len(new):,} sentence pairs added; {pairs:,} in all")
