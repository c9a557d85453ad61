"""The protocol of parsers: they take tokenised sentences, and return trees, forests or dependencies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypeVar, runtime_checkable

from treeglot._core import Dependency, ParseForest, Tree

Parsed_co = TypeVar("Parsed_co", bound=Tree | ParseForest | Dependency, covariant=True)


@runtime_checkable
class Parser(Protocol[Parsed_co]):
    """The interface of a parser of tokenised sentences, which does not change the tokens.

    Each sentence yields one value, in order, even if the parser works in batches. A sentence that cannot be parsed
    yields an empty value: a tree or forest without nodes, or dependencies without heads.

    >>> class Chain:
    ...     name = "chain"
    ...     gives = Dependency
    ...
    ...     def parse(self, sentences):
    ...         for words in sentences:
    ...             yield Dependency(words, [i - 1 for i in range(len(words))])
    >>> isinstance(Chain(), Parser)
    True
    >>> [tree.to_brackets() for tree in Chain().parse([["all", "follow", "on"]])]
    ['all (follow (on))']
    """

    @property
    def name(self) -> str:
        """The name of the parser and of its model, for reports."""
        ...

    @property
    def gives(self) -> type[Parsed_co]:
        """The type of parses that this parser yields: trees, forests or dependencies."""
        ...

    def parse(self, sentences: Iterable[Sequence[str]]) -> Iterator[Parsed_co]:
        """Yield the parse of each sentence, in order. Sentences are read in batches, as parses are needed."""
        ...
