"""The set-up of models that translate dependency trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treeglot import _core
from treeglot.decode.search import SearchOptions
from treeglot.decode.translator import Setup

if TYPE_CHECKING:
    from treeglot._core import HeadTable


def match_dependents(augmented: bool = False, heads: HeadTable | None = None) -> Setup:
    """Rules at the words of a dependency tree with their dependents, phrases on subtrees; a line falls back to phrases.

    Adds the feature `pseudo`, the words whose dependents were translated in source order for want of a rule. An
    `augmented` model uses phrases on parts of a relation too, with features of their own: `phrase_` and the name of one
    of the table's. `heads` makes dependency trees of forests, from their best trees.
    """

    def setup(features: _core.FeatureSet, options: SearchOptions) -> _core.Matcher:
        return _core.HeadDependentsMatcher(features, heads, options, augmented)

    return setup
