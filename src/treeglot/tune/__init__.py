"""Weights for a model: MERT, MIRA and PRO."""

from treeglot.decode.weights import Weights, read_weights, write_weights
from treeglot.tune.decoder import DecoderTranslator
from treeglot.tune.kbest import KBest
from treeglot.tune.loop import LoopOptions, Translator, Tuned, read_log, tune
from treeglot.tune.mert import Mert
from treeglot.tune.method import Method, Update, method
from treeglot.tune.mira import Mira
from treeglot.tune.plot import plot
from treeglot.tune.pool import Pool
from treeglot.tune.pro import Pro

__all__ = [
    "DecoderTranslator",
    "KBest",
    "LoopOptions",
    "Mert",
    "Method",
    "Mira",
    "Pool",
    "Pro",
    "Translator",
    "Tuned",
    "Update",
    "Weights",
    "method",
    "plot",
    "read_log",
    "read_weights",
    "tune",
    "write_weights",
]
