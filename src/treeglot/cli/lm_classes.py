"""`treeglot lm classes`: groups the words of a text into classes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from treeglot.cli.output import Stages, say
from treeglot.cli.parameters import FILE, HERE, Fields, TextFile


def lm_classes(
    text: Annotated[TextFile, typer.Argument(help="Text, one sentence per line; - is standard input.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Where lines WORD CLASS go; - is standard output."), FILE
    ] = Path("-"),
    options: Annotated[Any, Fields("treeglot.lm.classes", "ClassOptions")] = None,
    memory: Annotated[str, typer.Option(help="Memory for bigrams, at least 4M; the rest is on disk.")] = "2G",
    scratch: Annotated[
        Path | None, HERE, typer.Option(help="The folder for data that does not fit into memory.")
    ] = None,
) -> None:
    """Group the words of a text into classes, for lm train --classes.

    Words with similar neighbours share a class. Each word in turn moves to the class that makes the text most likely
    under a bigram model of classes. The command ends when no word moves.
    """
    from treeglot.lm.classes import learn_classes

    with Stages({"counting": "words", "moving": "words"}) as stages:
        made = learn_classes(text, options, memory=memory, scratch=scratch, progress=stages.update)
    made.write(out)
    first, last = made.likelihoods[0], made.likelihoods[-1]
    used = len(set(made.classes))
    rounds = len(made.likelihoods) - 1
    say(f"{len(made.words):,} words in {used:,} classes, {rounds} rounds: log likelihood {first:,.0f} to {last:,.0f}")
