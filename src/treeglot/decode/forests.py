"""The set-up of models that translate packed forests."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from treeglot import _core
from treeglot.decode.search import SearchOptions

if TYPE_CHECKING:
    from treeglot._core import HeadTable
    from treeglot.lm import DependencyModel


def match_forests(
    heads: HeadTable | None = None, dependency_models: tuple[DependencyModel, ...] = ()
) -> Callable[[_core.FeatureSet, SearchOptions], _core.Matcher]:
    """Fragments at the nodes of forests; a line, and a forest without a parse, falls back to phrases and glue.

    Adds the features `parse`, the log probability of the tree that was used, and `pseudo`, the hyperedges that were
    translated in source order for want of a rule; with dependency models `dlm_words`, `dlm_tags` and `ill_formed`.
    `heads` is the source language's head table: it says how pseudo rules build the output's tree.
    """

    def setup(features: _core.FeatureSet, options: SearchOptions) -> _core.Matcher:
        for model in dependency_models:
            features.add_dependency(model.core)
        return _core.ForestMatcher(features, heads, options)

    return setup
