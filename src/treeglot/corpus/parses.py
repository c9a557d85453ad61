"""Converts parses of any kind to forests."""

from __future__ import annotations

from treeglot.syntax import ParseForest, Tree


def as_forest(value: ParseForest | Tree, best: bool = False) -> ParseForest | None:
    """Return a parse as a forest, with `best` only the forest of its best tree. A tree without words becomes None.

    >>> as_forest(Tree.parse("(NP (DT das) (NN Haus))")).count()
    1.0
    """
    if isinstance(value, Tree):
        return ParseForest.from_tree(value) if len(value) else None
    return ParseForest.from_tree(value.viterbi()) if best and value.parsed else value
