"""A small Chinese-English treebank, generated from a synchronous grammar."""

from treeglot.sample.corpus import forests, read_pairs, split, write_corpus

__all__ = ["forests", "read_pairs", "split", "write_corpus"]
