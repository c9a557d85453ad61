"""spaCy's pipelines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from treeglot._core import Dependency
from treeglot.base.errors import UsageError
from treeglot.parse.adapters.common import BATCH, checked, require


class SpacyParser:
    """A pipeline of spaCy with a parser; its tokenizer and its borders of sentences are not used."""

    gives: type[Dependency] = Dependency

    def __init__(self, pipeline: Any, name: str) -> None:
        self._pipeline = pipeline
        self.name = name

    @classmethod
    def load(cls, model: str) -> SpacyParser:
        """By the name of an installed pipeline, or its folder."""
        spacy = require("spacy", "spacy")
        try:
            pipeline = spacy.load(model, exclude=["ner", "lemmatizer", "senter", "sentencizer"])
        except OSError as error:
            raise UsageError(f"{model} is no pipeline of spaCy that is here: {error}") from error
        if "parser" not in pipeline.pipe_names:
            raise UsageError(f"{model} has no parser; its parts are {', '.join(pipeline.pipe_names) or 'none'}")
        return cls(pipeline, f"spacy {model}")

    def parse(self, sentences: Iterable[Sequence[str]]) -> Iterator[Dependency]:
        """Dependencies for each sentence; where spaCy sees several sentences in it, each has a root."""
        from spacy.tokens import Doc

        given = (Doc(self._pipeline.vocab, words=list(words)) for words in sentences)
        for doc in self._pipeline.pipe(given, batch_size=BATCH):
            words = [token.text for token in doc]
            # spaCy's roots are heads of themselves.
            heads = [0 if token.head.i == token.i else token.head.i + 1 for token in doc]
            yield checked(self.name, words, heads, [token.tag_ or token.pos_ for token in doc])
