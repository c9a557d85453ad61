"""`treeglot heads learn`: learns a head table from a treebank with dependencies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot.cli.output import say
from treeglot.cli.parameters import Out, TextFile


def heads_learn(
    trees: Annotated[TextFile, typer.Argument(help="Constituency trees.")],
    dependencies: Annotated[
        TextFile, typer.Argument(help="Dependencies of the same sentences: a treebank's or a parser's.")
    ],
    out: Out = Path("-"),
) -> None:
    """Learn a head table from constituents and dependencies of the same sentences.

    A head table defines, for each label, which child of a constituent is the head. Every option that takes a head table
    accepts the written file.
    """
    from treeglot.base.errors import FormatError, UsageError, shown
    from treeglot.base.files import write_binary
    from treeglot.syntax import Dependency, Tree
    from treeglot.syntax.formats import find_format, read_parallel
    from treeglot.syntax.heads.learn import learn_heads

    for path, holds, noun in ((trees, Tree, "trees"), (dependencies, Dependency, "dependencies")):
        if (format := find_format(path)).holds is not holds:
            raise UsageError(f"{shown(str(path))}: the format {format.name} holds no {noun}; expected {noun}")
    try:
        learnt = learn_heads(read_parallel(trees, dependencies), str(out))
    except UsageError as error:
        raise FormatError(str(dependencies), 0, str(error)) from error
    with write_binary(out) as stream:
        stream.write(learnt.table.text.encode())
    say(learnt.summary())
