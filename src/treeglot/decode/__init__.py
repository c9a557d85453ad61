"""Translation with a rule table and weights: matching, search, k-best lists and derivations."""

from treeglot.decode.search import SearchOptions
from treeglot.decode.translation import Translation, attach_views
from treeglot.decode.translator import Translator

__all__ = ["SearchOptions", "Translation", "Translator"]

attach_views()
