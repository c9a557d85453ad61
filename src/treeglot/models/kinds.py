"""The kinds of models, by name: those of this package, and those of other installed packages."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points

from treeglot.base.errors import UsageError
from treeglot.base.options import unknown
from treeglot.base.program import module_digest
from treeglot.models.c2d import C2D_KINDS
from treeglot.models.dep2str import DEP2STR_KINDS
from treeglot.models.hiero import HIERO_KINDS
from treeglot.models.kind import Kind
from treeglot.models.s2d import S2D_KINDS
from treeglot.models.t2t import T2T_KINDS

KINDS: dict[str, Kind] = {
    kind.name: kind for kind in (*HIERO_KINDS, *C2D_KINDS, *S2D_KINDS, *DEP2STR_KINDS, *T2T_KINDS)
}


JOINT = "joint"  # the kind of models that are made of trained ones (treeglot.models.joint)
GROUP = "treeglot.kinds"  # the entry points of packages that bring kinds


def find_kind(name: str) -> Kind:
    """The kind of model with that name. Installed packages bring further kinds by entry points.

    >>> find_kind("hiero").summary
    'hierarchical phrases, no syntax'
    """
    if name == JOINT:
        raise UsageError("a joint model is made of trained ones, by treeglot join; expected the kind of one of them")
    if name not in KINDS:
        installed = {entry.name: entry for entry in entry_points(group=GROUP)}
        if name not in installed:
            raise UsageError(unknown("kind of model", name, [*KINDS, *installed.keys() - KINDS.keys()]))
        KINDS[name] = _installed(installed[name])
    return KINDS[name]


def _installed(entry: EntryPoint) -> Kind:
    """The kind that an entry point names, with a digest of its code."""
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
