"""SuPar's dependency parsers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from treeglot._core import Dependency
from treeglot.base.errors import UsageError
from treeglot.parse.adapters.common import batches, checked, require


class SuparParser:
    """A dependency parser of SuPar; it gives no tags."""

    gives: type[Dependency] = Dependency

    def __init__(self, parser: Any, name: str) -> None:
        self._parser = parser
        self.name = name

    @classmethod
    def load(cls, model: str) -> SuparParser:
        """By the name that SuPar knows, such as `biaffine-dep-en`, or a file."""
        supar = require("supar", "supar")
        try:
            parser = supar.Parser.load(model)
        except Exception as error:
            raise UsageError(f"SuPar cannot load {model}: {error}") from error
        return cls(parser, f"supar {model}")

    def parse(self, sentences: Iterable[Sequence[str]]) -> Iterator[Dependency]:
        """Dependencies for each sentence."""
        for batch in batches(sentences):
            given = [words for words in batch if words]
            found = iter(self._parser.predict(given, verbose=False, prob=False) if given else [])
            for words in batch:
                if not words:
                    yield Dependency([], [])
                    continue
                parsed = next(found)
                yield checked(self.name, words, [int(head) for head in parsed.arcs], [None] * len(words))
