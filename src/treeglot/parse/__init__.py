"""Parsing: grammars read off treebanks, forests of all their parses, and the protocol that every parser keeps to."""

from treeglot._core import Pcfg
from treeglot.parse.protocol import Parser

__all__ = ["Parser", "Pcfg"]
