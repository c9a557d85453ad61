"""Scores the counted rules of an extraction, and writes the rule table, a Parquet file."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from treeglot._core import Renderer, SourceFilter
from treeglot.base.files import PathLike, write_binary
from treeglot.base.later import Later
from treeglot.base.machine import give_back
from treeglot.rules import table_shards
from treeglot.rules.columns import Buffers, binary_array, buffers_of, reading
from treeglot.rules.count_files import read_words
from treeglot.rules.engines import DuckDB, Engine
from treeglot.rules.extract import Extraction
from treeglot.rules.scores import score_counts
from treeglot.rules.sql import CODES, COLUMNS, COPIED, ScoreOptions, scoring
from treeglot.rules.table import MEMORY, Compiled, CompileOptions, TableMaker, compile_table, no_rows

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
else:
    np = Later("numpy")

ROWS = 1 << 17  # of a row group
STRANGE = "scoring gave rows that the counts do not have, or gave them out of order"


def score_rules(
    extraction: Extraction,
    path: PathLike,
    options: ScoreOptions | None = None,
    *,
    threads: int = 1,
    memory: int = MEMORY,
    engine: Engine | None = None,
) -> int:
    """Score the rules of an extraction, write them to `path`, and return the number of rules."""
    engine = engine or DuckDB(threads, memory, Path(path).parent)
    return _score(extraction, path, options or ScoreOptions(), engine, lambda codes, rows: None)


def make_tables(
    extraction: Extraction,
    rules: PathLike,
    table: PathLike,
    options: ScoreOptions,
    compiling: CompileOptions,
    engine: Engine,
    keep: SourceFilter | None = None,
    memory: int = MEMORY,
    stream: bool = False,
    machines: Engine | None = None,
) -> tuple[int, Compiled]:
    """Score and compile rules in one pass, like `score_rules` and `compile_table`. Also return the number of scored
    rules.

    The compiled table is built from the codes of rules, so their text is written but never parsed. There is one
    exception. Frequent words are known only after all rules are scored, so compiling with them reads the rule table.
    With `keep`, both tables contain only rules whose source sides it keeps, with their scores among all rules.
    Compiling takes about `memory` bytes; the rest goes to disk. With `stream`, scores are compiled while they are read,
    and the engine keeps its memory. Otherwise, all scores are first read from the database; they take few bytes per
    rule. With `machines`, tasks compile a large table in shards of the rule table, and must see the folder of both
    tables.
    """
    sharded = machines if extraction.facts["rows"] > table_shards.SHARD else None
    if compiling.words or sharded is not None:
        number = _score(extraction, rules, options, engine, lambda codes, rows: None, keep)
        if sharded is None:
            return number, compile_table(rules, table, compiling, memory=memory)
        return number, table_shards.compile_in_shards(rules, table, compiling, sharded, memory=memory)
    give_back()  # what extraction took
    maker = TableMaker(compiling, table_schema(), str(rules), table, memory)
    maker.know_codes(*read_words(extraction.folder))
    labels = extraction.facts["labels"]

    def add(codes: pa.Table, rows: pa.RecordBatch) -> None:
        sides = [_codes(codes, name) for name in ("source", "target", "alignment")]
        maker.add(rows, [*sides, _codes(codes, "labels") if labels else no_rows()])

    number = _score(extraction, rules, options, engine, add, keep, stream)
    give_back()  # what scoring took: the rules are in memory twice, in parts, while the table is written
    return number, maker.finish()


def _score(
    extraction: Extraction,
    path: PathLike,
    options: ScoreOptions,
    engine: Engine,
    also: Callable[[pa.Table, pa.RecordBatch], None],
    keep: SourceFilter | None = None,
    stream: bool = True,
) -> int:
    """Score the rules and write the rule table. `also` gets its rows as codes and as text."""
    from concurrent.futures import ThreadPoolExecutor

    import pyarrow as pa
    import pyarrow.parquet as pq

    renderer = Renderer(*read_words(extraction.folder))
    facts = extraction.facts
    whole = facts.get("occurrence_parts", 1)
    statements = scoring(options, facts["parts"], facts["labels"], facts["roots"], facts["apart"], whole)
    rules = 0
    with (
        write_binary(Path(path)) as out,
        pq.ParquetWriter(
            out,
            table_schema(),
            compression="zstd",
            compression_level=1,
            use_dictionary=["lhs", "source", "count_bin", "variables", "labels"],
        ) as writer,
        ThreadPoolExecutor(1) as pool,
    ):
        writing = None
        scored = score_counts(extraction, options, engine) if isinstance(engine, DuckDB) else None
        if scored is None:
            scored = engine.run({"counts": extraction.files}, statements)
            if facts["parts"] == 1:
                scored = with_counts(scored if stream else _emptying(deque(scored)), extraction.files)
        for codes in _groups(scored):
            rows = _rendered(codes, renderer, facts["labels"])
            if keep is not None:
                kept = pa.array(keep.keeps(*buffers_of(rows["source"])).astype(bool))
                codes, rows = codes.filter(kept), rows.filter(kept)
            if writing is not None:
                writing.result()
            writing = pool.submit(writer.write_batch, rows)
            also(codes, rows)
            rules += rows.num_rows
        if writing is not None:
            writing.result()
    return rules


def table_schema() -> pa.Schema:
    """Return the columns of the file of a rule table."""
    import pyarrow as pa

    types = {"text": "string"}  # the others are called as Arrow calls them
    return pa.schema(
        [
            pa.field(name, pa.type_for_alias(types.get(column.holds, column.holds)), nullable=column.nullable)
            for name, column in COLUMNS.items()
        ]
    )


def with_counts(scored: Iterator[pa.RecordBatch], files: Iterable[Path]) -> Iterator[pa.RecordBatch]:
    """Add to scored rows the columns of the counts that they refer to. Both inputs are sorted."""
    import pyarrow as pa

    held: list[pa.RecordBatch] = []
    for counts in _counts(files):
        rows = counts["row"].to_numpy()
        while not held or held[-1]["row"][-1].as_py() <= rows[-1]:
            batch = next(scored, None)
            if batch is None:
                break
            held.append(batch)
        if not held:
            return
        table = pa.Table.from_batches(held).combine_chunks()
        found = table["row"].to_numpy()
        here = int(np.searchsorted(found, rows[-1], side="right"))
        held = [batch for batch in table.slice(here).to_batches() if batch.num_rows]
        places = np.searchsorted(rows, found[:here])
        if not np.array_equal(rows[places], found[:here]):
            raise ValueError(STRANGE)
        kept = counts if here == len(rows) else counts.take(pa.array(places))
        made = table.slice(0, here).drop_columns("row").combine_chunks()
        columns = {name: kept[name] for name in (*CODES, *COPIED)}
        columns |= {name: made[name].combine_chunks() for name in made.column_names}
        yield pa.RecordBatch.from_pydict(columns)
    if held or next(scored, None) is not None:
        raise ValueError(STRANGE)


def _emptying(batches: deque[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the batches, and free each of them after its use."""
    while batches:
        yield batches.popleft()


def _counts(files: Iterable[Path]) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet as pq

    for path in files:
        with reading(path), pq.ParquetFile(path) as file:
            for batch in file.iter_batches(ROWS, columns=[*CODES, *COPIED, "row"]):
                if batch.num_rows:
                    yield batch


def _groups(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Group rows into row groups of ROWS rows. Then the file does not depend on the sizes of the batches."""
    import pyarrow as pa

    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        while rows >= ROWS:
            table = pa.Table.from_batches(held)
            yield table.slice(0, ROWS)
            held = table.slice(ROWS).to_batches()
            rows -= ROWS
    if rows:
        yield pa.Table.from_batches(held)


def _codes(group: pa.Table, column: str) -> Buffers:
    return buffers_of(group[column].combine_chunks())


def _rendered(group: pa.Table, renderer: Renderer, labels: bool) -> pa.RecordBatch:
    """Convert rows with codes to rows of the rule table."""
    import pyarrow as pa

    source_codes = _codes(group, "source")
    lhs, source = renderer.source(*source_codes)
    target, structure = renderer.target(*source_codes, *_codes(group, "target"))
    alignment = renderer.alignment(*_codes(group, "alignment"))
    text = {"lhs": lhs, "source": source, "target": target, "alignment": alignment}
    columns = {name: binary_array(buffers, pa.string()) for name, buffers in text.items()}
    nothing = pa.nulls(group.num_rows, pa.string())
    columns["structure"] = binary_array(structure, pa.string()) if len(structure[1]) else nothing
    columns["labels"] = binary_array(renderer.labels(*_codes(group, "labels")), pa.string()) if labels else nothing
    schema = table_schema()
    arrays = [columns[f.name] if f.name in columns else group[f.name].combine_chunks().cast(f.type) for f in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
