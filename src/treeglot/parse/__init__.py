"""Parsing: grammars read off treebanks, trees and forests of sentences, and the protocol that every parser keeps to."""

from treeglot.parse.brackets import compare
from treeglot.parse.kbest import read_tree_lists
from treeglot.parse.parser import GrammarParser, ParsingOptions, load
from treeglot.parse.protocol import Parser
from treeglot.parse.train import ParserTraining, train, treebank

__all__ = [
    "GrammarParser",
    "Parser",
    "ParserTraining",
    "ParsingOptions",
    "compare",
    "load",
    "read_tree_lists",
    "train",
    "treebank",
]
