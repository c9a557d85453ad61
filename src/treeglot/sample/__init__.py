"""A small Chinese-English treebank, generated from a synchronous grammar."""

from treeglot.sample.corpus import SamplePair, forests, generate, grammar, split, write

__all__ = ["SamplePair", "forests", "generate", "grammar", "split", "write"]
