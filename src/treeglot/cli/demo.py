"""`treeglot demo`: what works, on the sample treebank."""

from __future__ import annotations


def demo() -> None:
    """See what Treeglot does, on a small treebank of its own."""
    import treeglot

    print(f"Treeglot {treeglot.__version__}")
