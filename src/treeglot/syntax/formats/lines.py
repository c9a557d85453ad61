"""Base class for readers whose records are lines and that need not be fast."""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Generic, TypeVar

from treeglot.base.errors import FormatError
from treeglot.base.files import longest_line, too_long

T = TypeVar("T")

KEPT = 100  # problems of skipped records


class BadRecordError(Exception):
    """Raised for a bad record, with its line and its problem."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(line, problem)
        self.line = line
        self.problem = problem


class LineRecords(ABC, Generic[T]):
    """A `CoreReader` in Python, for records that consist of lines."""

    def __init__(self, file: str, skip_bad: bool) -> None:
        self.file = file
        self.skip_bad = skip_bad
        self.skipped = 0
        self.problems: list[tuple[int, str]] = []
        self._rest = b""
        self._number = 0
        self._failed: FormatError | None = None
        self._finished = False

    @abstractmethod
    def take(self, number: int, line: str) -> Iterator[T | BadRecordError]:
        """Take a line, and return the records that it completes. Reading continues after a bad record."""

    @abstractmethod
    def end(self, number: int) -> Iterator[T | BadRecordError]:
        """Return the records that the end of the file completes."""

    def report(self) -> None:
        """After the last line, report problems that concern the whole file."""

    def feed(self, chunk: bytes) -> list[T | None]:
        """Take the next bytes, and return the records that they complete. A skipped bad record is None."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        out = self._take(lines)
        if len(self._rest) > longest_line():
            raise FormatError(self.file, self._number + 1, too_long(longest_line()))
        return out

    def finish(self) -> list[T | None]:
        """Return the records that the end of the file completes."""
        if self._finished and self._failed is None:
            return []
        lines, self._rest = [self._rest] if self._rest else [], b""
        out = self._take(lines)
        if self._failed is None:
            self._finished = True
            self._keep(out, self.end(self._number))
            if self._failed is None:
                self.report()
            elif not out:
                raise self._failed
        return out

    def _take(self, lines: list[bytes]) -> list[T | None]:
        out: list[T | None] = []
        if self._failed is not None:
            raise self._failed
        for line in lines:
            self._number += 1
            if self._number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)
            try:
                text = line.removesuffix(b"\r").decode()
            except UnicodeDecodeError as error:  # skipped or not: what else of the file is text cannot be told
                problem = f"the byte 0x{line[error.start]:02x} at byte {error.start + 1} is not UTF-8"
                self._failed = FormatError(self.file, self._number, problem)
                break
            self._keep(out, self.take(self._number, text))
            if self._failed is not None:
                break
        if self._failed is not None and not out:
            raise self._failed
        return out  # an error comes after the values before it, with the next call

    def _keep(self, out: list[T | None], found: Iterator[T | BadRecordError]) -> None:
        for value in found:
            if not isinstance(value, BadRecordError):
                out.append(value)
            elif self.skip_bad:
                out.append(None)
                self.skipped += 1
                if len(self.problems) < KEPT:
                    self.problems.append((value.line, value.problem))
            else:
                self._failed = FormatError(self.file, value.line, value.problem)
                return
