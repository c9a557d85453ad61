"""Compiles a table in shards: tasks of an engine sort rules and compile ranges, and this process joins them.

Words, labels and features are numbered in the order of the rule table's rows, and the table is sorted by these numbers.
So tasks first survey ranges of rows. Then they sort the ranges by the numbers of the whole table, and write one piece
for each range of the table. Other tasks merge the pieces of a range, and compile it. Ranges begin with different
symbols, so they share only the root of the trie. Joining them copies bytes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from treeglot._core import RuleTableBuilder, TableFacts
from treeglot.base.errors import UsageError
from treeglot.base.files import PathLike, scratch_folder
from treeglot.rules.columns import reading
from treeglot.rules.engines import Engine
from treeglot.rules.table import MEMORY, ROWS, Compiled, CompileOptions, TableMaker, frequent_words

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

SHARD = 1 << 20  # rows that a task reads, or more in large tables
MOST_SHARDS = 128  # a task opens a run of each at once; macOS allows 256 open files by default


@dataclass(frozen=True)
class RowRange:
    """Rows of a rule table that a task reads, counted from 0."""

    number: int
    begin: int
    end: int


@dataclass(frozen=True)
class Piece:
    """Rules of one range of the table, stored between two places of a file."""

    file: Path
    begin: int
    end: int


@dataclass(frozen=True)
class TablePart:
    """One range of the table, as the list of its pieces in the order of the rows."""

    number: int
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Shared:
    """The data that tasks need to survey rows."""

    rules: Path
    folder: Path  # that all machines see
    options: CompileOptions
    words: tuple[list[str], list[str]] | None  # frequent ones, if features name them
    memory: int


@dataclass(frozen=True)
class Numbered(Shared):
    """The data that tasks need after the survey: the numbers of all words, labels and features."""

    facts: TableFacts  # of all rows
    begins: tuple[int, ...]  # the symbols that parts of the table begin with, all but the first


@dataclass(frozen=True)
class Surveyed:
    """The words, labels and features that a survey found in a range of rows."""

    facts: TableFacts
    left_out: int
    too_wide: int
    crossing: int


def compile_in_shards(
    rules: PathLike,
    path: PathLike,
    options: CompileOptions,
    engine: Engine,
    *,
    memory: int = MEMORY,
    shards: int | None = None,
) -> Compiled:
    """Compile the rule table `rules` (Parquet) into `path`, like `compile_table`, with the tasks of an engine.

    All machines must see the folder of `path`, which stores sorted rules and parts of the table until they are joined.
    `memory` applies to one executor, and the tasks that it runs at once share it. There are `shards` shards, or by
    default one for every SHARD rows, but at most MOST_SHARDS. The table does not depend on their number.
    """
    import pyarrow.parquet as pq

    if shards is not None and not 1 <= shards <= MOST_SHARDS:
        raise UsageError(f"a table in {shards} shards; expected 1 to {MOST_SHARDS}")
    with reading(rules), pq.ParquetFile(rules) as file:
        rows = file.metadata.num_rows
    number = shards or min(MOST_SHARDS, max(1, -(-rows // SHARD)))
    ranges = [RowRange(i, rows * i // number, rows * (i + 1) // number) for i in range(number)]
    words = frequent_words(rules, max(options.word_pairs, options.unlinked)) if options.words else None
    place = Path(path).resolve()
    with scratch_folder(place.parent, "table") as folder:
        common = Path(rules).resolve(), folder, options, words, max(1, memory // engine.calls_at_once())
        surveys = engine.map(survey_rows, Shared(*common), ranges)
        whole = RuleTableBuilder(list(options.features), 0, os.fspath(folder))
        for found in surveys:
            whole.add_facts(found.facts)
        shared = Numbered(*common, whole.facts(), tuple(whole.split(number)))
        places = engine.map(sort_rows, shared, ranges)
        spilled = sum(ends[-1] for ends in places) * 4
        pieces = [
            [Piece(_run(folder, each.number), *between) for between in pairwise(ends)]
            for each, ends in zip(ranges, places, strict=True)
        ]
        parts = [TablePart(i, of_part) for i, of_part in enumerate(zip(*pieces, strict=True))]
        engine.map(compile_part, shared, parts)
        for each in ranges:
            _run(folder, each.number).unlink()
        joined, size, copied = whole.join_parts([os.fspath(_part(folder, part.number)) for part in parts], str(place))
    left_out, too_wide, crossing = (
        sum(getattr(found, name) for found in surveys) for name in ("left_out", "too_wide", "crossing")
    )
    return Compiled(joined, left_out, too_wide, crossing, size, spilled + copied)


def survey_rows(shared: Shared, rows: RowRange) -> Surveyed:
    """Survey a range of rows without writing anything."""
    maker = _add_rows(shared, rows)
    builder = maker.builder
    return Surveyed(builder.facts(), maker.left_out, builder.left_out_by_scope, builder.left_out_by_structure)


def sort_rows(shared: Numbered, rows: RowRange) -> list[int]:
    """Sort the rules of a range of rows and write them.

    Return the places where the pieces of parts begin, and the end.
    """
    builder = _add_rows(shared, rows).builder
    return builder.write_run(os.fspath(_run(shared.folder, rows.number)), list(shared.begins))


def compile_part(shared: Numbered, part: TablePart) -> int:
    """Merge the pieces of a range, compile it, and return the size of the written file."""
    builder = RuleTableBuilder(list(shared.options.features), shared.memory, os.fspath(shared.folder))
    builder.add_facts(shared.facts)
    try:
        for piece in part.pieces:
            builder.add_run(os.fspath(piece.file), piece.begin, piece.end)
        return builder.write_part(os.fspath(_part(shared.folder, part.number)))
    finally:
        del builder  # closes its files even if an error keeps this frame: removing the folder opens files


def _add_rows(shared: Shared, rows: RowRange) -> TableMaker:
    """Create a table maker and add the rows of a range."""
    import pyarrow.parquet as pq

    with reading(shared.rules), pq.ParquetFile(shared.rules) as file:
        made = shared.folder / "table", shared.memory, rows.begin + 1
        maker = TableMaker(shared.options, file.schema_arrow, str(shared.rules), *made)
        if isinstance(shared, Numbered):
            maker.builder.know_names(shared.facts)
        else:
            maker.builder.survey()
        if shared.words is not None:
            maker.know_words(*shared.words)
        for batch in _batches(file, rows, maker.columns):
            maker.add(batch)
    return maker


def _batches(file: pq.ParquetFile, rows: RowRange, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a range in batches."""
    first = 0  # row of the group
    for group in range(file.metadata.num_row_groups):
        end = first + file.metadata.row_group(group).num_rows
        if first < rows.end and end > rows.begin:
            at = first
            for batch in file.iter_batches(ROWS, row_groups=[group], columns=columns):
                begin, stop = max(at, rows.begin), min(at + batch.num_rows, rows.end)
                if begin < stop:
                    yield batch.slice(begin - at, stop - begin)
                at += batch.num_rows
        first = end


def _run(folder: Path, number: int) -> Path:
    return folder / f"run-{number:06}"


def _part(folder: Path, number: int) -> Path:
    return folder / f"part-{number:06}"
