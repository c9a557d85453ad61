"""Pharaoh links: `0-0 1-2`, a line for each sentence pair."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

from treeglot._core import Alignment, PharaohReader, write_pharaoh
from treeglot.syntax.formats.format import CoreReader, Format


class _CheckedReader:
    """Checks every line against the lengths of its sentences, taken from an iterator as the lines come."""

    def __init__(self, reader: PharaohReader, lengths: Iterable[tuple[int, int]]) -> None:
        self._reader = reader
        self._lengths = iter(lengths)

    def feed(self, chunk: bytes) -> list[Alignment | None]:
        self._reader.expect(list(islice(self._lengths, chunk.count(b"\n"))))
        return self._reader.feed(chunk)

    def finish(self) -> list[Alignment | None]:
        # One pair for a last line without a newline; where there is a second, or no such line, lines are missing.
        self._reader.expect(list(islice(self._lengths, 2)))
        return self._reader.finish()

    @property
    def skipped(self) -> int:
        return self._reader.skipped

    @property
    def problems(self) -> list[tuple[int, str]]:
        return self._reader.problems


def _reader(file: str, skip_bad: bool, lengths: Iterable[tuple[int, int]] | None = None) -> CoreReader[Alignment]:
    reader = PharaohReader(file, skip_bad)
    return reader if lengths is None else _CheckedReader(reader, lengths)


def _writer() -> Callable[[Alignment], str]:
    return lambda alignment: write_pharaoh(alignment) + "\n"


PHARAOH = Format(
    name="pharaoh",
    summary="Pharaoh links, from the source to the target",
    holds=Alignment,
    suffixes=(".align", ".links", ".pharaoh", ".gd", ".gda", ".gdf", ".gdfa"),
    reader=_reader,
    writer=_writer,
)
