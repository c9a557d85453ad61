"""Common parts of compiled language models: a mapped file, and numbered words."""

from __future__ import annotations

import os
from typing import Generic, Protocol, TypeVar

from treeglot.base.errors import UsageError
from treeglot.base.files import PathLike


class Compiled(Protocol):
    """The interface of compiled models in the core."""

    @property
    def words(self) -> int:
        """The number of words."""

    def id(self, word: str) -> int:
        """The number of a word, 0 if it is unknown."""

    def word(self, id: int) -> str:
        """The word that has a number."""

    def write(self, path: str) -> None:
        """Write the file."""


Core = TypeVar("Core", bound=Compiled)


def file_name(path: PathLike) -> str:
    """The output file of a compiled model. Standard output is refused."""
    if os.fspath(path) == "-":
        raise UsageError("a compiled model cannot be written to standard output: it has to be a file")
    return os.fspath(path)


class CompiledModel(Generic[Core]):
    """A language model that is mapped from a file, or has just been compiled. Its words have numbers."""

    def __init__(self, core: Core, path: str | None = None) -> None:
        """Use the functions that load and compile models instead."""
        self.core = core
        self.path = path

    def __len__(self) -> int:
        """The number of words, or tags, `<unk>`, `<s>` and `</s>` among them."""
        return self.core.words

    def __contains__(self, word: object) -> bool:
        """Whether the model knows a word or tag."""
        return isinstance(word, str) and self.core.id(word) != 0

    def write(self, path: PathLike) -> None:
        """Write the compiled file, which can be opened at once."""
        self.core.write(file_name(path))

    def id(self, word: str) -> int:
        """The number of a word or tag; unknown ones have that of `<unk>`, 0."""
        return self.core.id(word)

    def word(self, number: int) -> str:
        """The word or tag that has a number."""
        return self.core.word(number)
