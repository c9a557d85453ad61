"""Parsing: trains grammars on treebanks, parses sentences into trees or forests, and defines what a parser is."""

from treeglot.parse.parser import ParsingOptions, load_parser
from treeglot.parse.protocol import Parser
from treeglot.parse.train import ParserTraining, train_parser, treebank

__all__ = ["Parser", "ParserTraining", "ParsingOptions", "load_parser", "train_parser", "treebank"]
