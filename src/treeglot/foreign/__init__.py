"""Files of other decoders: grammars, weights and configurations, decoded as those decoders define."""

from treeglot.foreign.export import export
from treeglot.foreign.grammar import read_grammar
from treeglot.foreign.translator import ForeignTranslator
from treeglot.foreign.weights import read_foreign_weights

__all__ = ["ForeignTranslator", "export", "read_foreign_weights", "read_grammar"]
