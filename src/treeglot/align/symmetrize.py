"""Merges the alignments of two directions into one."""

from __future__ import annotations

from collections.abc import Iterable

from treeglot import _core
from treeglot.base.errors import UsageError
from treeglot.base.options import unknown
from treeglot.syntax import Alignment

SYMMETRIZATIONS = tuple(method.name.replace("_", "-") for method in _core.Symmetrization)


def symmetrize(
    forward: Iterable[Alignment], backward: Iterable[Alignment], method: str = "grow-diag-final-and"
) -> list[Alignment]:
    """Symmetrise the alignments of two directions. The links of both run from source to target.

    >>> forward, backward = [Alignment.parse("0-0 1-1 1-2")], [Alignment.parse("0-0 1-1 2-1")]
    >>> for method in ("intersection", "grow-diag", "union"):
    ...     print(method, *symmetrize(forward, backward, method))
    intersection 0-0 1-1
    grow-diag 0-0 1-1 1-2 2-1
    union 0-0 1-1 1-2 2-1
    """
    if method not in SYMMETRIZATIONS:
        raise UsageError(unknown("symmetrisation", method, SYMMETRIZATIONS))
    chosen = _core.Symmetrization[method.replace("-", "_")]
    return [_core.symmetrize(f, b, chosen) for f, b in zip(forward, backward, strict=True)]
