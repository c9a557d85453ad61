"""Counting and scoring: the rule table, a Parquet file, from the counts of an extraction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from treeglot._core import Renderer
from treeglot.base.files import PathLike, write_binary
from treeglot.rules.columns import Buffers, binary_array, buffers_of
from treeglot.rules.count_files import read_words
from treeglot.rules.engines import DuckDB, Engine
from treeglot.rules.extract import Extraction
from treeglot.rules.sql import COLUMNS, ScoreOptions, scoring

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 1 << 17  # of a row group
MEMORY = 2 << 30


def score_rules(
    extraction: Extraction,
    path: PathLike,
    options: ScoreOptions | None = None,
    *,
    threads: int = 1,
    memory: int = MEMORY,
    engine: Engine | None = None,
) -> int:
    """Score the rules of an extraction and write the rule table to `path`; gives the number of rules."""
    import pyarrow.parquet as pq

    path = Path(path)
    engine = engine or DuckDB(threads, memory, path.parent)
    renderer = Renderer(*read_words(extraction.folder))
    facts = extraction.facts
    statements = scoring(options or ScoreOptions(), facts["parts"], facts["labels"], facts["roots"], facts["apart"])
    batches = _groups(engine.run({"counts": extraction.files}, statements))
    rules = 0
    with (
        write_binary(path) as stream,
        pq.ParquetWriter(
            stream,
            table_schema(),
            compression="zstd",
            compression_level=1,
            use_dictionary=["lhs", "source", "count_bin", "variables", "labels"],
        ) as writer,
        ThreadPoolExecutor(1) as pool,
    ):
        writing = None
        for batch in batches:
            rows = _rendered(batch, renderer, facts["labels"])
            if writing is not None:
                writing.result()
            writing = pool.submit(writer.write_table, rows)
            rules += rows.num_rows
        if writing is not None:
            writing.result()
    return rules


def table_schema() -> pa.Schema:
    """The columns of a rule table."""
    import pyarrow as pa

    types = {"text": "string"}  # the others are called as Arrow calls them
    return pa.schema(
        [
            pa.field(name, pa.type_for_alias(types.get(column.holds, column.holds)), nullable=column.nullable)
            for name, column in COLUMNS.items()
        ]
    )


def _groups(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Row groups of ROWS rows each, whatever the size of the batches: the file does not depend on it."""
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


def _rendered(group: pa.Table, renderer: Renderer, labels: bool) -> pa.Table:
    """Rows of the table from rows with codes."""
    import pyarrow as pa

    def codes(name: str) -> Buffers:
        return buffers_of(group[name].combine_chunks())

    lhs, source = renderer.source(*codes("source"))
    target, structure = renderer.target(*codes("source"), *codes("target"))
    text = {"lhs": lhs, "source": source, "target": target, "alignment": renderer.alignment(*codes("alignment"))}
    columns = {name: binary_array(buffers, pa.string()) for name, buffers in text.items()}
    nothing = pa.nulls(group.num_rows, pa.string())
    columns["structure"] = binary_array(structure, pa.string()) if len(structure[1]) else nothing
    columns["labels"] = binary_array(renderer.labels(*codes("labels")), pa.string()) if labels else nothing
    schema = table_schema()
    arrays = [columns[f.name] if f.name in columns else group[f.name].combine_chunks().cast(f.type) for f in schema]
    return pa.Table.from_arrays(arrays, schema=schema)
