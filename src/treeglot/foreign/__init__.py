"""Other decoders' files: grammars, weights and configurations, decoded as those decoders define it."""

from treeglot.foreign.cdec_config import ForeignConfig, read_cdec_config
from treeglot.foreign.grammar import read_grammar, write_grammar
from treeglot.foreign.translator import ForeignTranslator
from treeglot.foreign.weights import ForeignWeights, read_foreign_weights

__all__ = [
    "ForeignConfig",
    "ForeignTranslator",
    "ForeignWeights",
    "read_cdec_config",
    "read_foreign_weights",
    "read_grammar",
    "write_grammar",
]
