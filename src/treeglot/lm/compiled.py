"""Parts that all compiled language models share: a file that is mapped into memory, and numbered words."""

from __future__ import annotations

import os
from typing import Generic, Protocol, TypeVar

from treeglot.base.errors import UsageError
from treeglot.base.files import PathLike


class Compiled(Protocol):
    """The methods that compiled models have in the core."""

    @property
    def words(self) -> int:
        """The number of words in the vocabulary."""

    def id(self, word: str) -> int:
        """Return the number of a word. Unknown words have the number 0."""

    def word(self, id: int) -> str:
        """Return the word that has a number."""

    def write(self, path: str) -> None:
        """Write the compiled model to a file."""


Core = TypeVar("Core", bound=Compiled)


def file_name(path: PathLike) -> str:
    """Return the output file of a compiled model. Standard output is refused."""
    if os.fspath(path) == "-":
        raise UsageError("a compiled model cannot be written to standard output: it has to be a file")
    return os.fspath(path)


class CompiledModel(Generic[Core]):
    """A compiled language model, mapped from a file or just created. Each of its words has a number."""

    def __init__(self, core: Core, path: str | None = None) -> None:
        """Create a model. Use the functions that load and compile models instead."""
        self.core = core
        self.path = path

    def __len__(self) -> int:
        """Return the number of words or tags, including `<unk>`, `<s>` and `</s>`."""
        return self.core.words

    def __contains__(self, word: object) -> bool:
        """Return whether the model knows a word or tag."""
        return isinstance(word, str) and self.core.id(word) != 0

    def write(self, path: PathLike) -> None:
        """Write the compiled file, which can be opened at once."""
        self.core.write(file_name(path))

    def id(self, word: str) -> int:
        """Return the number of a word or tag. Unknown ones have the number of `<unk>`, 0."""
        return self.core.id(word)

    def word(self, number: int) -> str:
        """Return the word or tag that has a number."""
        return self.core.word(number)
