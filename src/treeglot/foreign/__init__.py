"""Decodes with files of other decoders (grammars, weights, configurations), as those decoders define them."""

from treeglot.foreign.export import export
from treeglot.foreign.grammar import read_grammar
from treeglot.foreign.translator import ForeignTranslator
from treeglot.foreign.weights import read_foreign_weights

__all__ = ["ForeignTranslator", "export", "read_foreign_weights", "read_grammar"]
