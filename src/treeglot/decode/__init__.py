"""From a rule table and weights to translations: matching, search, k-best lists, derivations."""

from treeglot.decode.search import SearchOptions
from treeglot.decode.translation import Derivation, Hypothesis, Step, Translation
from treeglot.decode.translator import Translator
from treeglot.decode.weights import read_weights, write_weights

__all__ = [
    "Derivation",
    "Hypothesis",
    "SearchOptions",
    "Step",
    "Translation",
    "Translator",
    "read_weights",
    "write_weights",
]
