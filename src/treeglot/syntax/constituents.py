"""Converts constituency trees to dependency trees with a head table.

A word depends on the head of the smallest constituent that it does not head.
"""

from __future__ import annotations

from collections.abc import Iterable

from treeglot import _core
from treeglot._core import Dependency, HeadTable, Tree
from treeglot.syntax.head_style import HeadStyle

__all__ = ["to_dependencies", "to_dependency"]

_TABLE = HeadStyle()


def to_dependency(tree: Tree, heads: HeadTable, style: HeadStyle = _TABLE) -> Dependency:
    """Return the dependency tree of a constituency tree. It is projective and has one root and tags.

    Tags lose their functional parts (`NN-SB` becomes `NN`). The empty tree, a failed parse, becomes a `Dependency`
    without words. `style` defines where to depart from the table.

    >>> from treeglot.syntax import heads
    >>> tree = Tree.parse("(S (NP (NNP Bush)) (VP (VBD held) (NP (DT a) (NN talk)) (PP (IN with) (NP (NNP Sharon)))))")
    >>> to_dependency(tree, heads.load("english")).to_brackets()
    '(Bush) held ((a) talk) (with (Sharon))'
    >>> to_dependency(tree, heads.load("english"), HeadStyle(prepositions="object")).to_brackets()
    '(Bush) held ((a) talk) ((with) Sharon)'
    """
    return _core.to_dependency(tree, heads, style)


def to_dependencies(trees: Iterable[Tree], heads: HeadTable, style: HeadStyle = _TABLE) -> list[Dependency]:
    """Convert many trees like `to_dependency`. The core does this without the interpreter lock.

    >>> from treeglot.syntax import heads
    >>> trees = [Tree.parse("(IP (NP (PN 我)) (VP (VV 来) (AS 了)))"), Tree()]
    >>> [dependency.to_brackets() for dependency in to_dependencies(trees, heads.load("chinese"))]
    ['(我) 来 (了)', '']
    """
    # A list that nobody else has: the core reads it while other threads run.
    return _core.to_dependencies(list(trees), heads, style)
