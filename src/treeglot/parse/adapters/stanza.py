"""Stanza's pipelines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from treeglot._core import Dependency
from treeglot.base.errors import UsageError
from treeglot.parse.adapters.common import batches, checked, require


class StanzaParser:
    """A pipeline of Stanza for a language, on text that is tokenised already."""

    gives: type[Dependency] = Dependency

    def __init__(self, pipeline: Any, name: str) -> None:
        self._pipeline = pipeline
        self.name = name

    @classmethod
    def load(cls, model: str) -> StanzaParser:
        """By language, such as `en`; its models must have been downloaded with Stanza."""
        stanza = require("stanza", "stanza")
        try:
            pipeline = stanza.Pipeline(
                model,
                processors="tokenize,pos,lemma,depparse",
                tokenize_pretokenized=True,
                download_method=None,
                verbose=False,
            )
        except Exception as error:
            raise UsageError(f"Stanza has no models for {model} here: {error}") from error
        return cls(pipeline, f"stanza {model}")

    def parse(self, sentences: Iterable[Sequence[str]]) -> Iterator[Dependency]:
        """Dependencies for each sentence."""
        for batch in batches(sentences):
            found = iter(self._pipeline([words for words in batch if words]).sentences if any(batch) else [])
            for words in batch:
                if not words:
                    yield Dependency([], [])
                    continue
                parsed = next(found).words
                yield checked(self.name, words, [w.head for w in parsed], [w.xpos or w.upos for w in parsed])
