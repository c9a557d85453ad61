"""`treeglot parser train`: trains a split grammar from a treebank."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot.cli.output import Stages, say, warn
from treeglot.cli.parameters import FOLDER, TextFile
from treeglot.parse.train import ParserTraining


def parser_train(
    trees: Annotated[TextFile, typer.Argument(help="A treebank in Penn Treebank brackets; - is standard input.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder of the model."), FOLDER],
    options: ParserTraining = ParserTraining(),  # noqa: B008
    classes: Annotated[
        Path | None, typer.Option(help="Classes of words for the tags of rare and unknown ones; lm classes finds them.")
    ] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out broken trees, and say which.")] = False,
) -> None:
    """Train a parser from a treebank. The grammar is a PCFG whose labels are split in cycles of EM.

    If a run is killed, the same command continues it. If you ask for more cycles, it continues a finished run.
    """
    from treeglot.base.errors import FormatError
    from treeglot.lm.classes import WordClasses
    from treeglot.parse.train import train_in, treebank
    from treeglot.syntax.formats import read_trees

    records = read_trees(trees, "brackets", skip_bad=skip_bad)
    bank, report = treebank(records, options)
    if records.skipped:
        warn(f"{records.skipped:,} broken trees were left out, the first: {records.problems[0]}")
    if report.left_out:
        warn(f"{report.left_out:,} trees were left out, the first: {report.problems[0]}")
    if report.unary_cycles:
        warn(
            f"{report.unary_cycles:,} unary chains that lead from a label back to itself were cut short, "
            f"the first: {report.first_cycle}"
        )
    if not report.trees:
        raise FormatError(str(trees), 0, "has no trees to train on")
    with Stages() as stages:
        grammar = train_in(out, bank, options, stages.update, WordClasses.read(classes) if classes else None)
    say(f"{report.trees:,} trees, {grammar.words:,} words and classes of unknown ones, {len(grammar.labels):,} labels")
    say("states by level: " + " ".join(f"{sum(states):,}" for states in grammar.states))
