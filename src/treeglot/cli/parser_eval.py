"""`treeglot parser eval`: compares the labelled brackets of trees with those of gold trees."""

from __future__ import annotations

from typing import Annotated

import typer

from treeglot.cli.parameters import TextFile
from treeglot.parse.brackets import BracketOptions


def parser_eval(
    gold: Annotated[TextFile, typer.Argument(help="Gold trees in brackets.")],
    test: Annotated[TextFile, typer.Argument(help="Trees to score; of forests, the tree nearest to the gold tree.")],
    options: BracketOptions = BracketOptions(),  # noqa: B008
    clean: Annotated[
        bool, typer.Option(help="Remove traces, functional tags and indices from the gold trees, as training does.")
    ] = True,
) -> None:
    """Score trees by labelled brackets, as EVALB does with its usual parameters.

    A sentence without a tree has no correct brackets. For forests, the command computes the oracle score, which is the
    score of the forest's tree nearest to the gold tree.
    """
    from treeglot._core import clean_tree
    from treeglot.base.errors import FormatError
    from treeglot.parse.brackets import compare, summary
    from treeglot.syntax import ParseForest, Tree, read
    from treeglot.syntax.formats import find_format, read_trees

    holds = find_format(test).holds
    if holds is not Tree and holds is not ParseForest:
        raise FormatError(str(test), 0, "holds neither trees nor forests")
    wanted = [clean_tree(tree) if clean else tree for tree in read_trees(gold)]
    found = list(read(test))
    if len(wanted) != len(found):
        raise FormatError(str(test), 0, f"has {len(found):,} sentences; expected {len(wanted):,}, as {gold} has")
    print(summary(compare(wanted, found, options), tags=holds is Tree))
