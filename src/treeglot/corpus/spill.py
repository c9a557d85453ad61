"""Values kept on disk between two uses: reading them again costs a sixth of parsing their file again."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")
BATCH = 256  # values that are written at a time


class Spill(Generic[T]):
    """Values in the order in which they were added, in a file without a name.

    >>> with Spill[int](Path(tempfile.gettempdir())) as spill:
    ...     for number in range(5):
    ...         spill.append(number)
    ...     list(spill)
    [0, 1, 2, 3, 4]
    """

    def __init__(self, folder: Path) -> None:
        """The file is in `folder`."""
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed by __exit__
        self._waiting: list[T] = []
        self._sizes: list[int] = []
        self._values = 0

    def __enter__(self) -> Spill[T]:
        return self

    def __exit__(self, *problem: object) -> None:
        self._file.close()

    def __len__(self) -> int:
        return self._values

    def append(self, value: T) -> None:
        """Add a value; it must not be added to while it is read."""
        self._waiting.append(value)
        self._values += 1
        if len(self._waiting) == BATCH:
            self._flush()

    def __iter__(self) -> Iterator[T]:
        """All values from the first on."""
        import zstandard

        if self._waiting:
            self._flush()
        decompress = zstandard.ZstdDecompressor().decompress
        self._file.seek(0)
        for size in self._sizes:
            yield from pickle.loads(decompress(self._file.read(size)))

    def _flush(self) -> None:
        import zstandard

        data = zstandard.ZstdCompressor(level=1).compress(pickle.dumps(self._waiting, protocol=pickle.HIGHEST_PROTOCOL))
        self._file.write(data)
        self._sizes.append(len(data))
        self._waiting.clear()
