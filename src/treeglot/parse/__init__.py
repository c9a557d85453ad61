"""Parsing: grammars read off treebanks, trees and forests of sentences, and the protocol that every parser keeps to."""

from treeglot._core import BracketCounts, SplitGrammar
from treeglot.parse.brackets import BracketOptions, compare
from treeglot.parse.grammar import load_grammar
from treeglot.parse.kbest import read_kbest
from treeglot.parse.parser import ForestParser, GrammarParser, Parsed, ParsingOptions, TreeParser, load
from treeglot.parse.protocol import Parser
from treeglot.parse.train import ParserTraining, TreebankReport, train, train_in, treebank

__all__ = [
    "BracketCounts",
    "BracketOptions",
    "ForestParser",
    "GrammarParser",
    "Parsed",
    "Parser",
    "ParserTraining",
    "ParsingOptions",
    "SplitGrammar",
    "TreeParser",
    "TreebankReport",
    "compare",
    "load",
    "load_grammar",
    "read_kbest",
    "train",
    "train_in",
    "treebank",
]
