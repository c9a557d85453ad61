"""From a rule table and weights to translations: matching, search, k-best lists, derivations."""

from treeglot.decode.search import SearchOptions
from treeglot.decode.translation import Translation, attach_views
from treeglot.decode.translator import Translator

__all__ = ["SearchOptions", "Translation", "Translator"]

attach_views()
