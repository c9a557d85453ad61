"""The kinds of models, by name."""

from __future__ import annotations

from treeglot.base.errors import UsageError
from treeglot.base.options import unknown
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


def find_kind(name: str) -> Kind:
    """The kind of model with that name.

    >>> find_kind("hiero").summary
    'hierarchical phrases, no syntax'
    """
    if name == JOINT:
        raise UsageError("a joint model is made of trained ones, by treeglot join; expected the kind of one of them")
    if name not in KINDS:
        raise UsageError(unknown("kind of model", name, KINDS))
    return KINDS[name]
