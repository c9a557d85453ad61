"""Other decoders' files: grammars, weights and configurations, decoded as those decoders define it."""

from treeglot.foreign.config import ForeignConfig, read_config
from treeglot.foreign.export import export
from treeglot.foreign.grammar import read_grammar, write_grammar
from treeglot.foreign.translator import ForeignTranslator
from treeglot.foreign.weights import ForeignWeights, read_foreign_weights

__all__ = [
    "ForeignConfig",
    "ForeignTranslator",
    "ForeignWeights",
    "export",
    "read_config",
    "read_foreign_weights",
    "read_grammar",
    "write_grammar",
]
