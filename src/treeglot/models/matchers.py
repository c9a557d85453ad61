"""The matchers of the kinds of models, set up with a model's artefacts."""

from __future__ import annotations

from treeglot._core import FeatureSet, Matcher
from treeglot.decode import SearchOptions
from treeglot.decode.dependents import match_dependents
from treeglot.decode.forests import match_forests
from treeglot.decode.translator import Setup, match_labels, match_strings
from treeglot.models.artefacts import Artefacts


def strings(parts: Artefacts) -> Setup:
    """Rules on spans; the output has a tree if there are dependency models."""

    def setup(features: FeatureSet, options: SearchOptions) -> Matcher:
        for model in parts.dependency_models:
            features.add_dependency(model.core)
        return match_strings(features, options)

    return setup


def labels(parts: Artefacts) -> Setup:
    """Rules on spans, with features for the labels that are substituted."""
    return match_labels


def forests(parts: Artefacts) -> Setup:
    """Fragments at the nodes of forests."""
    return match_forests(parts.source_heads, parts.dependency_models)


def dependents(parts: Artefacts) -> Setup:
    """Rules at the words of dependency trees."""
    return match_dependents(False, parts.source_heads)


def augmented_dependents(parts: Artefacts) -> Setup:
    """The same, with phrases on parts of relations."""
    return match_dependents(True, parts.source_heads)
