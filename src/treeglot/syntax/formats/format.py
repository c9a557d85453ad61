"""Declares what a format is: a name, the types of its values, a reader and a writer."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from treeglot.base.errors import UsageError
from treeglot.base.options import unknown

T = TypeVar("T")


class CoreReader(Protocol[T]):
    """The interface of readers in the core. They take bytes in chunks, and return the values that are complete."""

    def feed(self, chunk: bytes) -> list[T | None]:
        """Take the next bytes, and return the values that they complete. A skipped bad record is None."""

    def finish(self) -> list[T | None]:
        """Return the values that the end of the file completes."""

    @property
    def skipped(self) -> int:
        """The number of skipped bad records."""

    @property
    def problems(self) -> list[tuple[int, str]]:
        """The lines and problems of the first bad records that were skipped."""


@dataclass(frozen=True)
class Format(Generic[T]):
    """A file format. The keyword parameters of `reader` and `writer` are its options.

    >>> from treeglot.syntax import FORMATS
    >>> FORMATS["conllu"].read_options
    ('tags',)
    """

    name: str
    summary: str
    holds: type[T]
    suffixes: tuple[str, ...]
    reader: Callable[..., CoreReader[T]]
    """(file name, skip_bad, **options) → a reader."""
    writer: Callable[..., Callable[[T], str]] | None = None
    """(**options) → a function from a value to its text, newlines included; None for what only parsers print."""

    @property
    def read_options(self) -> tuple[str, ...]:
        """The names of the options for reading."""
        return tuple(inspect.signature(self.reader).parameters)[2:]

    @property
    def write_options(self) -> tuple[str, ...]:
        """The names of the options for writing."""
        return tuple(inspect.signature(self.writer).parameters) if self.writer else ()

    def open_reader(self, file: str, skip_bad: bool, options: dict[str, Any]) -> CoreReader[T]:
        """Check the options, and create a reader. Messages call the file `file`."""
        self._check(options, self.read_options)
        return self.reader(file, skip_bad, **options)

    def open_writer(self, options: dict[str, Any]) -> Callable[[T], str]:
        """Check the options, and create a function that converts a value to its text."""
        if self.writer is None:
            raise UsageError(f"{self.name} is a format of another program: it can be read, not written")
        self._check(options, self.write_options)
        return self.writer(**options)

    def _check(self, options: dict[str, Any], known: tuple[str, ...]) -> None:
        for name in options:
            if name not in known:
                raise UsageError(unknown(f"option of {self.name}", name, known))
