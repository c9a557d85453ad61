"""The kinds of models by name. Installed packages can add kinds to those of this package."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

from treeglot.base.errors import UsageError
from treeglot.base.options import unknown
from treeglot.base.program import module_digest
from treeglot.models.c2d import C2D_KINDS
from treeglot.models.dep2str import DEP2STR_KINDS
from treeglot.models.hiero import HIERO_KINDS
from treeglot.models.kind import Kind
from treeglot.models.s2d import S2D_KINDS
from treeglot.models.t2t import T2T_KINDS

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

KINDS: dict[str, Kind] = {
    kind.name: kind for kind in (*HIERO_KINDS, *C2D_KINDS, *S2D_KINDS, *DEP2STR_KINDS, *T2T_KINDS)
}
BUILT_IN = frozenset(KINDS)


class KindWarning(UserWarning):
    """Warns that a kind of model of an installed package cannot be used."""


JOINT = "joint"  # the kind of models that are made of trained ones (treeglot.models.joint)
GROUP = "treeglot.kinds"  # the entry points of packages that bring kinds


def find_kind(name: str) -> Kind:
    """Return a kind of model by its name. Installed packages can add kinds by entry points.

    >>> find_kind("hiero").summary
    'hierarchical phrases, no syntax'
    """
    from importlib.metadata import entry_points

    if name == JOINT:
        raise UsageError("a joint model is made of trained ones, by treeglot join; expected the kind of one of them")
    if name in KINDS and name not in BUILT_IN:  # installed, and found before
        return KINDS[name]
    entries = entry_points(group=GROUP)
    own = {entry.value: entry for entry in entries if entry.name == name}
    brought = " and ".join(map(_origin, own.values()))
    if name in BUILT_IN:
        if own:
            problem = f"the kind of model {name!r} is treeglot's own; {brought} has the same name and is not used"
            warnings.warn(problem, KindWarning, stacklevel=2)
        return KINDS[name]
    if not own:
        raise UsageError(
            unknown("kind of model", name, [*KINDS, *sorted({entry.name for entry in entries} - BUILT_IN)])
        )
    if len(own) > 1:
        raise UsageError(f"the kind of model {name!r} is {brought}; expected one package that brings it")
    KINDS[name] = _installed(*own.values())
    return KINDS[name]


def installed_kinds() -> list[str]:
    """Return the names of the kinds of other packages that were found so far, in this order.

    Another process that finds the same kinds imports the same packages, and so has all that they register.
    """
    return [name for name, kind in KINDS.items() if name not in BUILT_IN and kind.code]


def kind_of_model(name: str) -> Kind:
    """Return the kind of a model that is opened.

    This repeats no warnings about packages that redefine a built-in kind.
    """
    return KINDS[name] if name in KINDS else find_kind(name)


def _origin(entry: EntryPoint) -> str:
    """Describe an entry point and the package that it comes from."""
    return f"{entry.value} of the package {entry.dist.name}" if entry.dist else entry.value


def _installed(entry: EntryPoint) -> Kind:
    """Load the kind that an entry point names. Return it with a digest of its code."""
    place = f"the kind of model {entry.name!r} is {entry.value}"
    try:
        kind = entry.load()
    except Exception as error:
        raise UsageError(f"{place}, which cannot be imported: {type(error).__name__}: {error}") from error
    if not isinstance(kind, Kind):
        raise UsageError(f"{place}, which is of type {type(kind).__name__}; expected a treeglot.models.Kind")
    if kind.name != entry.name:
        raise UsageError(f"{place}, whose name is {kind.name!r}; expected the same name in both places")
    return replace(kind, code=module_digest(entry.module))
