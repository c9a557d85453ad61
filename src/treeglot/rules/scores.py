"""Scores counted rules in the core. The results are the same as with SQL, but no database is needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeglot._core import RuleScores
from treeglot.base.errors import FormatError
from treeglot.base.later import Later
from treeglot.base.machine import give_back
from treeglot.rules.columns import buffers_of, reading
from treeglot.rules.engines import DuckDB
from treeglot.rules.extract import Extraction
from treeglot.rules.sql import CODES, COPIED, COUNT_BINS, MORE, ScoreOptions, discounting, has_own_columns

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa
else:
    np = Later("numpy")

ROWS = 1 << 17  # read at a time
GIVEN = ("source_row", "count", "occurrences", "lhs", "variables")
"""The columns of the counts that scores are computed from, besides the target side."""


def score_counts(extraction: Extraction, options: ScoreOptions, engine: DuckDB) -> Iterator[pa.RecordBatch] | None:
    """Score counts that consist of one part. The rows are the same as those of the SQL and `with_counts`.

    Returns None where only the database can score them. It is needed for a test of significance and for columns with
    other SQL. It is also needed if the sums take more than half of its memory, or may take more than all of it while
    they grow. The latter is an estimate, because a table may grow several times in a batch.
    """
    if extraction.facts["parts"] > 1 or options.significance > 0 or not has_own_columns():
        return None
    scores = _scores(extraction, options, engine)
    for batch in _batches(extraction.files, ["target", *GIVEN]):
        rows = buffers_of(batch["target"]), _given(batch)
        if fits := scores.bytes_to_add(*rows) <= engine.memory:
            scores.add(*rows)
        if not fits or scores.bytes > engine.memory // 2:
            del scores
            give_back()  # the database needs the memory
            return None
    scores.finish()
    give_back()  # what target sides look like
    return _scored(extraction, scores)


def _scores(extraction: Extraction, options: ScoreOptions, engine: DuckDB) -> RuleScores:
    factors: list[float] = []
    discounts: list[float] = []
    rules = 0.0
    if options.smoothing != "none":
        batches = engine.run({"counts": extraction.files}, discounting(options.smoothing))
        [row] = [row for batch in batches for row in batch.to_pylist()]
        rules = row.pop("rules", 0.0)
        if options.smoothing == "good-turing":
            factors = list(row.values())
        else:
            discounts = list(row.values())
    return RuleScores(
        factors=factors,
        discounts=discounts,
        rules=rules,
        least=options.min_occurrences,
        least_gappy=max(options.min_occurrences, options.min_gappy_occurrences),
        targets_per_source=options.targets_per_source,
        roots=extraction.facts["roots"],
        apart=extraction.facts["apart"],
    )


def _scored(extraction: Extraction, scores: RuleScores) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for counts in _whole_sources(_batches(extraction.files, [*CODES, *COPIED, "source_row", "lhs"])):
        kept, target_given_source, source_given_target, given_root = scores.score(_given(counts))
        if not len(kept):
            continue
        rows = counts if len(kept) == len(counts) else counts.take(pa.array(kept))
        columns = {name: rows[name] for name in (*CODES, *COPIED)}
        columns["count_bin"] = _bins(rows["occurrences"].to_numpy())
        columns["p_target_given_source"] = pa.array(target_given_source)
        columns["p_source_given_target"] = pa.array(source_given_target)
        root = pa.array(given_root) if extraction.facts["roots"] else pa.nulls(len(kept), pa.float32())
        yield pa.RecordBatch.from_pydict(columns | {"p_rule_given_root": root})
    if scores.waiting:
        raise FormatError(
            str(extraction.files[-1]), 0, f"lacks {scores.waiting} rows that it had before; expected the same file"
        )


def _bins(occurrences: npt.NDArray[np.uint32]) -> pa.Array:
    import pyarrow as pa

    names = pa.array([*COUNT_BINS.values(), MORE])
    return names.take(pa.array(np.searchsorted(np.array(list(COUNT_BINS)), occurrences)))


def _given(batch: pa.RecordBatch) -> tuple[Any, ...]:
    return tuple(batch[name].to_numpy() for name in GIVEN)


def _batches(files: Sequence[Path], columns: list[str]) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet as pq

    for path in files:
        with reading(path), pq.ParquetFile(path) as file:
            yield from (
                batch for batch in file.iter_batches(ROWS, columns=columns, use_threads=False) if batch.num_rows
            )


def _whole_sources(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Regroup rows into batches that end only at the end of a source side."""

    held: list[pa.RecordBatch] = []  # the last source side's rows
    for batch in batches:
        sources = batch["source_row"].to_numpy()
        if held and held[0]["source_row"][0].as_py() != sources[0]:
            yield _joined(held)
            held = []
        last = int(np.searchsorted(sources, sources[-1]))
        if last:
            yield _joined([*held, batch.slice(0, last)])
            held = []
        held.append(batch.slice(last))
    if held:
        yield _joined(held)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    import pyarrow as pa

    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)
