"""Writes and reads the files of an extraction: counted rules as codes, the meaning of codes, and word translations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from treeglot._core import Bitext, Extractor, LexicalTable, Tally, Vocabulary
from treeglot.base.errors import FormatError
from treeglot.base.files import write_binary
from treeglot.base.later import Later
from treeglot.rules.columns import binary_array, reading

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa
    import pyarrow.parquet as pq
else:
    np = Later("numpy")

NULL = 2**32 - 1  # the number of no word
FILES = 8  # per part of the counts: what threads write side by side; fixed, so that files do not depend on threads
PARTITIONS_PER_FILE = Tally.partitions // FILES


def counts_schema() -> pa.Schema:
    """Return the columns of the files `counts-*.parquet`."""
    import pyarrow as pa

    columns = {
        "source": pa.binary(),
        "target": pa.binary(),
        "alignment": pa.binary(),
        "labels": pa.binary(),
        "count": pa.float64(),
        "occurrences": pa.uint32(),
        "lhs": pa.uint32(),
        "variables": pa.uint8(),
        "lex_target_given_source": pa.float32(),
        "lex_source_given_target": pa.float32(),
        "source_row": pa.int64(),
        "row": pa.int64(),
    }
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns.items()])


def counts_writer(stream: IO[bytes]) -> pq.ParquetWriter:
    """Open a writer for the rows of a file of counts."""
    import pyarrow.parquet as pq

    return pq.ParquetWriter(stream, counts_schema(), compression="lz4", use_dictionary=False, write_statistics=False)


def write_partition(writer: pq.ParquetWriter, part: int, partition: int, columns: Sequence[Any]) -> int:
    """Write the rows of a partition, which come as columns of the core. Return the number of rows."""
    import pyarrow as pa

    source, target, alignment, labels, *rest, source_row = columns
    codes = [binary_array(c, pa.binary()) for c in (source, target, alignment, labels)]
    numbers = [pa.array(values) for values in rest]
    first = (part * Tally.partitions + partition) << 32
    rows = [first + source_row.astype(np.int64), np.arange(first, first + len(codes[0]), dtype=np.int64)]
    writer.write_table(pa.Table.from_arrays([*codes, *numbers, *map(pa.array, rows)], schema=counts_schema()))
    return len(codes[0])


def write_counts(tally: Tally, lexical: LexicalTable, folder: Path, part: int, whole: bool, threads: int) -> int:
    """Write counted rules as part number `part` of the counts. Return the number of rows.

    If this part is the `whole` of the counts, each row is a rule. Otherwise, a rule has one row for each combination of
    its alignments and labels.
    """

    def write_file(file: int) -> int:
        written = 0
        with (
            write_binary(folder / f"counts-{part:04}-{file}.parquet") as stream,
            counts_writer(stream) as writer,
        ):
            for partition in range(file * PARTITIONS_PER_FILE, (file + 1) * PARTITIONS_PER_FILE):
                made = tally.columns(partition, partition + 1, lexical, whole)
                written += write_partition(writer, part, partition, made)
        return written

    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(write_file, range(FILES)))


def write_tallies(
    core: Extractor, begin: int, lexical: LexicalTable, folder: Path, first: int, alone: bool, memory: int, threads: int
) -> tuple[int, int]:
    """Extract rules from all pairs after `begin`, and write parts of the counts, numbered from `first` on.

    A part is written when the rules take more than `memory` bytes. With `alone`, there are no other pairs. The result
    is the number of parts and of rows.
    """
    tally, pairs = Tally(), len(core.bitext)
    parts = rows = 0
    while begin < pairs or parts == 0:
        begin = core.extract(begin, tally, memory, threads)
        whole = alone and parts == 0 and begin == pairs
        rows += write_counts(tally, lexical, folder, first + parts, whole, threads)
        tally.clear()
        parts += 1
    return parts, rows


def write_words(folder: Path, source: Sequence[str], target: Sequence[str], labels: Sequence[str]) -> None:
    """Write the words and labels that the numbers in codes stand for."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = [("source", source), ("target", target), ("label", labels)]
    table = pa.table(
        {
            "kind": pa.array([kind for kind, words in kinds for _ in words]).dictionary_encode(),
            "number": pa.array([n for _, words in kinds for n in range(len(words))], type=pa.int32()),
            "text": pa.array([word for _, words in kinds for word in words], type=pa.string()),
        }
    )
    with write_binary(folder / "words.parquet") as stream:
        pq.write_table(table, stream, compression="zstd")


def read_words(folder: Path) -> tuple[list[str], list[str], list[str]]:
    """Read the source words, the target words and the labels, in the order of their numbers."""
    import pyarrow.parquet as pq

    path = folder / "words.parquet"
    with reading(path):
        table = pq.read_table(path, columns=["kind", "text"])
    kinds: dict[str, list[str]] = {"source": [], "target": [], "label": []}
    for kind, text in zip(table["kind"].to_pylist(), table["text"].to_pylist(), strict=True):
        if kind not in kinds or not isinstance(text, str):
            raise FormatError(str(path), 0, f"has {text!r} of kind {kind!r}; expected text of kind {', '.join(kinds)}")
        kinds[kind].append(text)
    return kinds["source"], kinds["target"], kinds["label"]


def write_lexical(folder: Path, lexical: LexicalTable, words: Bitext | Vocabulary) -> None:
    """Write the word translation probabilities. A missing word is the NULL word."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    source, target, target_given_source, source_given_target = lexical.entries()

    def named(numbers: npt.NDArray[np.uint32], texts: list[str]) -> pa.Array:
        known = pa.array(numbers, mask=numbers == NULL)
        return pa.array(texts, type=pa.string()).take(known)

    table = pa.table(
        {
            "source": named(source, words.source_words),
            "target": named(target, words.target_words),
            "w_target_given_source": pa.array(target_given_source),
            "w_source_given_target": pa.array(source_given_target),
        }
    )
    with write_binary(folder / "lexical.parquet") as stream:
        pq.write_table(table, stream, compression="zstd")
