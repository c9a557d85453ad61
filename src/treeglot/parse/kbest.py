"""Reads k-best lists of trees, in the formats of other parsers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from treeglot._core import Tree
from treeglot.base.errors import FormatError
from treeglot.base.files import PathLike, iterate_lines

_HEADER = re.compile(r"sentence \d+ ?: ?")
_BEST = re.compile(r"\d+ best:")

ScoredTree = tuple[float, Tree]


def read_tree_lists(path: PathLike) -> Iterator[list[ScoredTree]]:
    r"""Yield the k-best lists in a file of Egret (`-n=100`) or the Berkeley parser (`-kbest 100`).

    Egret prints three lines before each list: `sentence 1:`, the words, `100 best:`. Lists of the Berkeley parser end
    with an empty line, and a score and a tab can precede a tree (`-confidence`). If there are no scores, all trees have
    the score 0. An empty tree, `(())`, is left out, so a sentence without a parse has an empty list.
    `ParseForest.from_kbest` packs a list into a forest.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "dev.kbest"
    >>> _ = path.write_text("-1.5\t( (S (A a)))\n-2\t( (S (B a)))\n\n")
    >>> [[(score, str(tree)) for score, tree in trees] for trees in read_tree_lists(path)]
    [[(-1.5, '(S (A a))'), (-2.0, '(S (B a))')]]
    """
    name = os.fspath(path)
    trees: list[ScoredTree] | None = None
    words_next = False
    for number, line in enumerate(iterate_lines(path), 1):
        if words_next:
            words_next = False
        elif _HEADER.fullmatch(line):
            if trees is not None:
                yield trees
            trees, words_next = [], True
        elif _BEST.fullmatch(line) and trees == []:
            continue
        elif not line.strip():
            if trees is not None:
                yield trees
            trees = None
        else:
            trees = trees or []
            tree = _tree(name, number, line)
            if tree[1]:
                trees.append(tree)
    if trees is not None:
        yield trees


def _tree(name: str, number: int, line: str) -> ScoredTree:
    score, tab, text = line.rpartition("\t")
    try:
        return float(score) if tab else 0.0, Tree.parse(text)
    except ValueError as error:
        raise FormatError(name, number, f"is not a tree, with a score and a tab before it or not: {error}") from error
