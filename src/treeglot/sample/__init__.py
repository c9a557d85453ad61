"""A small Chinese-English treebank, generated from a synchronous grammar."""
