"""Extraction of string-to-dependency rules (Shen et al. 2008): Hiero's, with structures on their target sides."""

from __future__ import annotations

from collections.abc import Iterable

from treeglot._core import Bitext, Dependency, DependencyBank, TargetStructures


def target_structures(pairs: Bitext, trees: Iterable[Dependency], *, strict: bool = True) -> TargetStructures:
    """Dependency structures for the phrases of Hiero's rules: give them to `extract` as its labels.

    A phrase whose target side is ill-formed is neither a rule nor stands in a variable; what is left carries its
    structure, and the tags of its words as notes. A tree without words refuses all phrases of its pair.
    `strict` asks for the definitions of Shen et al. (2008), else those of the constituency-to-dependency model hold.

    >>> import tempfile
    >>> from treeglot.rules import bitext, extract
    >>> from treeglot.syntax import Alignment
    >>> pairs = bitext([("das alte Haus".split(), "the old house".split(), Alignment.parse("0-0 1-1 2-2"))])
    >>> structures = target_structures(pairs, [Dependency("the old house".split(), [2, 2, -1])])
    >>> extraction = extract(pairs, tempfile.mkdtemp(), labels=structures)
    """
    bank = DependencyBank()
    for tree in trees:
        bank.append(tree)
    return TargetStructures(pairs, bank, strict)
