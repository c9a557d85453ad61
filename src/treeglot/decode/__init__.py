"""From a rule table and weights to translations: matching, search, k-best lists, derivations."""

from treeglot._core import Derivation, Hypothesis, Step
from treeglot.decode.dependents import match_dependents
from treeglot.decode.forests import match_forests
from treeglot.decode.kbest import Entry, read_kbest, write_kbest
from treeglot.decode.search import SearchOptions
from treeglot.decode.translation import SearchForest, Translation, as_object, attach_views
from treeglot.decode.translator import Setup, Source, Translator, match_labels, match_strings
from treeglot.decode.weights import read_weights, write_weights

__all__ = [
    "Derivation",
    "Entry",
    "Hypothesis",
    "SearchForest",
    "SearchOptions",
    "Setup",
    "Source",
    "Step",
    "Translation",
    "Translator",
    "as_object",
    "match_dependents",
    "match_forests",
    "match_labels",
    "match_strings",
    "read_kbest",
    "read_weights",
    "write_kbest",
    "write_weights",
]

attach_views()
