"""UDPipe 1 (Straka and Straková 2017)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from treeglot._core import Dependency
from treeglot.base.errors import TreeglotError, UsageError
from treeglot.parse.adapters.common import checked, require


class UdpipeParser:
    """A model of UDPipe 1: it tags words, where it has a tagger, and parses them."""

    gives: type[Dependency] = Dependency

    def __init__(self, module: Any, model: Any, name: str) -> None:
        self._module = module
        self._model = model
        self.name = name

    @classmethod
    def load(cls, model: str) -> UdpipeParser:
        """From the file of a model."""
        module = require("ufal.udpipe", "udpipe")
        loaded = module.Model.load(model)
        if not loaded:
            raise UsageError(f"{model} is not a model of UDPipe, or cannot be read")
        return cls(module, loaded, f"udpipe {Path(model).name}")

    def parse(self, sentences: Iterable[Sequence[str]]) -> Iterator[Dependency]:
        """Dependencies for each sentence."""
        for words in sentences:
            yield self._parse(list(words))

    def _parse(self, words: list[str]) -> Dependency:
        if not words:
            return Dependency([], [])
        sentence, error = self._module.Sentence(), self._module.ProcessingError()
        for word in words:
            sentence.addWord(word)
        self._model.tag(sentence, self._module.Model.DEFAULT, error)
        if error.occurred():  # no tagger: the parser goes by words alone
            error = self._module.ProcessingError()
        self._model.parse(sentence, self._module.Model.DEFAULT, error)
        if error.occurred():
            raise TreeglotError(f"{self.name}: {error.message}")
        found = [sentence.words[i] for i in range(1, len(sentence.words))]  # the first is the artificial root
        return checked(self.name, words, [w.head for w in found], [w.xpostag or w.upostag for w in found])
