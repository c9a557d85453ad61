"""A small Chinese-English treebank, generated from a synchronous grammar."""

from treeglot.sample.corpus import forests, generate, split, write_corpus

__all__ = ["forests", "generate", "split", "write_corpus"]
