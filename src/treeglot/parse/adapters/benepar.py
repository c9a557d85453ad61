"""The Berkeley Neural Parser."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from treeglot._core import Tree
from treeglot.base.errors import TreeglotError, UsageError
from treeglot.parse.adapters.common import batches, require


class BeneparParser:
    """A model of benepar; it gives trees."""

    gives: type[Tree] = Tree

    def __init__(self, parser: Any, name: str) -> None:
        self._parser = parser
        self.name = name

    @classmethod
    def load(cls, model: str) -> BeneparParser:
        """By the name that benepar knows, such as `benepar_en3`, or a file; benepar must have it already."""
        benepar = require("benepar", "benepar")
        try:
            parser = benepar.Parser(model)
        except Exception as error:
            raise UsageError(f"benepar cannot load {model}: {error}") from error
        return cls(parser, f"benepar {model}")

    def parse(self, sentences: Iterable[Sequence[str]]) -> Iterator[Tree]:
        """A tree for each sentence."""
        for batch in batches(sentences):
            given = [words for words in batch if words]
            found = iter(self._parser.parse_sents(given) if given else [])
            for words in batch:
                yield self._tree(next(found), words) if words else Tree()

    def _tree(self, found: Any, words: Sequence[str]) -> Tree:
        """From NLTK's: with the words as they were given, as benepar escapes brackets in those that it prints."""
        leaves = found.leaves()
        if len(leaves) != len(words):
            raise TreeglotError(
                f"{self.name} gave {len(leaves)} leaves for {len(words)} words: it must not split or join them"
            )
        rest = iter(words)
        root: list[Any] = [found.label()]
        open_nodes = [(root, iter(found))]
        while open_nodes:
            made, children = open_nodes[-1]
            child = next(children, None)
            if child is None:
                open_nodes.pop()
            elif isinstance(child, str):
                made.append(next(rest))
            else:
                made.append([child.label()])
                open_nodes.append((made[-1], iter(child)))
        return Tree.from_nested(root)
