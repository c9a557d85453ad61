"""Adds up the counts of several parts on one machine. In the result, each rule has one row."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeglot._core import Tally, add_up_counts
from treeglot.base.files import write_binary, write_json
from treeglot.base.later import Later
from treeglot.rules.columns import buffers_of, reading
from treeglot.rules.count_files import FILES, PARTITIONS_PER_FILE, counts_writer, write_partition
from treeglot.rules.extract import Extraction

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
else:
    np = Later("numpy")

CODED = ("source", "target", "alignment", "labels")
NUMBERS = ("count", "occurrences", "lhs", "variables", "lex_target_given_source", "lex_source_given_target")


def add_up(extraction: Extraction, threads: int = 1) -> Extraction:
    """Add up the counts of several parts. Each thread holds only one of 128 partitions in memory.

    All parts have their partitions in the same files and in the same order. So the parts are read side by side, and
    only one partition of each is in memory. When a partition is written, the files that it came from are removed.
    """
    from concurrent.futures import ThreadPoolExecutor

    if extraction.facts["parts"] == 1:
        return extraction
    folder = extraction.folder
    (folder / "extraction.json").unlink()
    given = [[path for path in extraction.files if path.stem.endswith(f"-{file}")] for file in range(FILES)]
    occurrence_parts = extraction.facts.get("occurrence_parts", 1)

    def write_file(file: int) -> int:
        first, *others = given[file]
        rows = 0
        with write_binary(first) as stream, counts_writer(stream) as writer:
            readers = [_Partitions(path) for path in given[file]]
            for partition in range(file * PARTITIONS_PER_FILE, (file + 1) * PARTITIONS_PER_FILE):
                parts = [_columns(table) for reader in readers if (table := reader.take(partition)) is not None]
                rows += write_partition(writer, 0, partition, add_up_counts(parts, occurrence_parts))
        for path in others:
            path.unlink()
        return rows

    with ThreadPoolExecutor(threads) as pool:
        rows = sum(pool.map(write_file, range(FILES)))
    facts = {name: value for name, value in extraction.facts.items() if name != "occurrence_parts"}
    facts |= {"parts": 1, "rows": rows}
    write_json(folder / "extraction.json", facts)
    return Extraction(folder, facts)


class _Partitions:
    """Reads the partitions of a file of counts, one after the other."""

    def __init__(self, path: Path) -> None:
        self._tables = _partitions(path)
        self._next: tuple[int, pa.Table] | None = None
        self._taken = True

    def take(self, partition: int) -> pa.Table | None:
        """Return the rows of a partition, or None if it is empty. Partitions must be requested in order."""
        if self._taken:  # read on only now: the last partition is no longer in use
            self._next = next(self._tables, None)
            self._taken = False
        if self._next is None or self._next[0] != partition:
            return None
        table = self._next[1]
        self._next, self._taken = None, True
        return table


def _partitions(path: Path) -> Iterator[tuple[int, pa.Table]]:
    """Yield the rows of a file, partition by partition. The high bits of a row's number name its partition."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    held: list[pa.RecordBatch] = []
    current = -1
    with reading(path), pq.ParquetFile(path) as file:
        for batch in file.iter_batches(columns=[*CODED, *NUMBERS, "row"]):
            numbers = (batch["row"].to_numpy() >> 32) % Tally.partitions
            bounds = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(numbers)]
            for begin, end in pairwise(bounds):
                if begin == end:
                    continue
                partition = int(numbers[begin])
                if partition != current and held:
                    yield current, pa.Table.from_batches(held)
                    held = []
                current = partition
                held.append(batch.slice(begin, end - begin))
    if held:
        yield current, pa.Table.from_batches(held)


def _columns(table: pa.Table) -> Any:
    whole = table.combine_chunks()
    codes = [buffers_of(whole[name].chunk(0)) for name in CODED]
    return (*codes, *(whole[name].chunk(0).to_numpy() for name in NUMBERS))
