"""Prepares the matcher for the input of each kind of model, and the additional features of the kind.

Each function takes the head table of the source language and the dependency models of the target side, if a model has
them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from treeglot._core import (
    ChartMatcher,
    FeatureSet,
    ForestMatcher,
    HeadDependentsMatcher,
    JointMatcher,
    Matcher,
    OnDemandMatcher,
    RulesOnDemand,
)
from treeglot.decode.search import SearchOptions

if TYPE_CHECKING:
    from treeglot._core import HeadTable
    from treeglot.lm import DependencyModel

Setup: TypeAlias = Callable[[FeatureSet, SearchOptions], Matcher]
Models: TypeAlias = "tuple[DependencyModel, ...]"


def match_strings(heads: HeadTable | None = None, dependency_models: Models = ()) -> Setup:
    """Match rules on spans of a sentence. With dependency models, the output has a dependency tree."""

    def setup(features: FeatureSet, options: SearchOptions) -> Matcher:
        for model in dependency_models:
            features.add_dependency(model.core)
        return ChartMatcher(features, options)

    return setup


def match_on_demand(rules: RulesOnDemand) -> Setup:
    """Match rules on spans of a sentence. The index finds these rules when the sentence arrives."""
    return lambda features, options: OnDemandMatcher(rules, options)


def match_labels(heads: HeadTable | None = None, dependency_models: Models = ()) -> Setup:
    """Match rules with soft labels on spans of a sentence. Features score each substitution of labels."""

    def setup(features: FeatureSet, options: SearchOptions) -> Matcher:
        features.add_labels()
        return ChartMatcher(features, options)

    return setup


def match_forests(heads: HeadTable | None = None, dependency_models: Models = ()) -> Setup:
    """Match tree fragments at the nodes of forests. Without a parse, use phrases and glue.

    This setup adds two features. `parse` is the log probability of the tree that was used. `pseudo` counts the
    hyperedges without a rule, which are translated in source order. Dependency models add `dlm_words`, `dlm_tags` and
    `ill_formed`. `heads` defines how pseudo rules build the tree of the output.
    """

    def setup(features: FeatureSet, options: SearchOptions) -> Matcher:
        for model in dependency_models:
            features.add_dependency(model.core)
        return ForestMatcher(features, heads, options)

    return setup


def match_dependents(heads: HeadTable | None = None, dependency_models: Models = ()) -> Setup:
    """Match rules at the words of a dependency tree, and phrases on subtrees. Without a parse, use phrases.

    This setup adds the feature `pseudo`. It counts the words without a rule, whose dependents are translated in source
    order. `heads` converts the best trees of forests to dependency trees.
    """
    return lambda features, options: HeadDependentsMatcher(features, heads, options, False)


def match_augmented(heads: HeadTable | None = None, dependency_models: Models = ()) -> Setup:
    """Match like `match_dependents`, and use phrases on parts of a relation. Their features begin with `phrase_`."""
    return lambda features, options: HeadDependentsMatcher(features, heads, options, True)


_OF_CHARTS = frozenset({"label_limit", "match_limit", "unknown_labels"})
_OF_FORESTS = frozenset({"forest_margin", "step_limit", "pseudo_structures", "crossing_phrases"})
_OF_DEPENDENTS = frozenset({"max_combinations", "pseudo_structures", "dependency_trees"})
OWN_OPTIONS: Mapping[Callable[..., Setup], frozenset[str]] = {
    match_strings: _OF_CHARTS,
    match_labels: _OF_CHARTS,
    match_forests: _OF_FORESTS,
    match_dependents: frozenset({"dependency_trees"}),
    match_augmented: _OF_DEPENDENTS,
}
"""The options of the search that only some matchers read, by matcher."""


def unused_options(matcher: Callable[..., Setup]) -> frozenset[str]:
    """Return the search options that a matcher does not use. For matchers of other packages, this is unknown.

    >>> sorted(unused_options(match_dependents))  # doctest: +ELLIPSIS
    ['crossing_phrases', 'forest_margin', 'label_limit', ..., 'step_limit', 'unknown_labels']
    """
    if matcher not in OWN_OPTIONS:
        return frozenset()
    return frozenset().union(*OWN_OPTIONS.values()) - OWN_OPTIONS[matcher]


def match_joint(setups: Sequence[Setup]) -> Setup:
    """Match several grammars together: a derivation of one can fill a variable of another's rule.

    Each setup adds only the features of its own grammar, which have no state.
    """

    def setup(features: FeatureSet, options: SearchOptions) -> Matcher:
        return JointMatcher(features, [one(part, options) for one, part in zip(setups, features.parts, strict=True)])

    return setup
