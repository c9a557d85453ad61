"""Parsing: grammars read off treebanks, and forests of all their parses."""

from treeglot._core import Pcfg

__all__ = ["Pcfg"]
