"""`treeglot learn`: teaches a model corrected translations."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from treeglot.base.errors import UsageError
from treeglot.cli.parameters import ChangedModel, MaybeText


def learn(
    model: ChangedModel,
    source: Annotated[str | None, typer.Argument(help="A sentence; without it, pairs come from files.")] = None,
    target: Annotated[str | None, typer.Argument(help="Its translation.")] = None,
    source_file: Annotated[MaybeText, typer.Option(help="Sentences, one per line.")] = None,
    target_file: Annotated[MaybeText, typer.Option(help="Their translations.")] = None,
    alignment: Annotated[
        str | None, typer.Option(help="Links of the one pair, 0-0 1-2, instead of an aligner.")
    ] = None,
    aligner: Annotated[Path | None, typer.Option(help="A saved aligner, if the model has none.")] = None,
    author: Annotated[str, typer.Option(help="Who says so; kept with the rules.")] = "",
    weights: Annotated[
        bool, typer.Option("--weights", help="Also move the weights, by a small step towards each translation.")
    ] = False,
) -> None:
    """Add the rules of corrected translations to a model. The next translation uses them.

    Give a sentence and its translation, or two files. Without them, the command reads lines from standard input, with a
    tab between source and target. When the rules of a pair are safely stored, it prints a line with their group (for
    treeglot undo) and the number of added rules. With --weights, the line also has the number of changed weights.
    """
    from treeglot.align import Aligner
    from treeglot.cli.output import say, shown_warnings
    from treeglot.models import load

    if (source is None) != (target is None) or (source_file is None) != (target_file is None):
        raise UsageError("one side of a pair is missing; expected SOURCE and TARGET, or both files")
    if source is not None and source_file is not None:
        raise UsageError("a pair and files were given; expected one or the other")
    if alignment is not None and source is None:
        raise UsageError("--alignment is for one pair; expected SOURCE and TARGET")
    pairs = iter([(source, target)]) if source is not None and target is not None else _pairs(source_file, target_file)
    pairs_learnt = 0
    with shown_warnings():
        loaded = load(model)
        own = None if aligner is None else Aligner.load(aligner)
        for one, other in pairs:
            found = loaded.learn(one, other, alignment=alignment, author=author, aligner=own, weights=weights)
            group = found.group if found.rules or found.step else "-"
            moved = f"\t{len(found.step.features) if found.step else 0} weights moved" if weights else ""
            print(f"{group}\t{len(found.rules)} rules added\t{found.known} known{moved}", flush=True)
            pairs_learnt += 1
    say(f"{pairs_learnt:,} pairs learnt")


def _pairs(source: Path | None, target: Path | None) -> Iterator[tuple[str, str]]:
    from treeglot.base.errors import FormatError
    from treeglot.models.new_pairs import line_pairs

    if source is not None and target is not None:
        yield from line_pairs(source, target)
        return
    for number, line in enumerate(sys.stdin, start=1):
        one, tab, other = line.rstrip("\n").partition("\t")
        if not tab or "\t" in other:
            raise FormatError("standard input", number, f"{line[:60]!r} is not a pair; expected SOURCE TAB TARGET")
        yield one, other
