"""`treeglot neural average`: averages several joint models into one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot.base.errors import UsageError
from treeglot.cli.parameters import FILE, MAPPED


def neural_average(
    models: Annotated[list[Path], typer.Argument(help="Joint models of one corpus, of different seeds."), MAPPED],
    out: Annotated[Path, typer.Option("--out", "-o", help="The file of the averaged model."), FILE],
) -> None:
    """Average several joint models into one. Its log probabilities are the means of those of the models.

    The networks must have the same words and see the same number of words. The result is as large as all of them
    together.
    """
    from treeglot.cli.output import say
    from treeglot.neural.average import average
    from treeglot.neural.train import load_joint

    if str(out) == "-":
        raise UsageError("a joint model cannot be written to standard output: it has to be a file")
    made = average([load_joint(path) for path in models])
    made.write(str(out))
    say(f"{out}: {len(models)} networks, {made.facts['hidden']:,} hidden units, {made.bytes / 1e6:,.0f} MB")
