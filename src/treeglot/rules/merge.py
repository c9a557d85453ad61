"""Merges corrections into a rule table (docs/corrections.md)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from treeglot._core import escaped_word
from treeglot.base.files import PathLike, write_binary
from treeglot.rules.columns import reading
from treeglot.rules.corrections import Correction
from treeglot.rules.table import PROBABILITIES

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

ROWS = 1 << 17  # of a row group
NOTES = ("alignment", "labels", "structure")  # of rules that are added
VARIABLE = re.compile(r"\[.+,[0-9]+\]")
Row = dict[str, Any]


@dataclass(frozen=True)
class Merged:
    """The number of rules after merging, and the corrections that a rule table cannot represent."""

    rules: int
    left: tuple[Correction, ...]


def merge_corrections(rules: PathLike, corrections: Iterable[Correction], out: PathLike, max_scope: int = -1) -> Merged:
    """Merge corrections into the rule table `rules` (Parquet), and write the result to `out`.

    A rule table has a column for each probability of its kind, and perhaps for labels and structures. If a correction
    needs other features, labels or structures, it stays in its file, with all corrections of the same source side.
    Steps of weights stay there, too. So do rules with a scope above `max_scope` (-1: no limit), because compiling would
    drop them. Added rules count as seen once.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    written = 0
    with reading(rules), pq.ParquetFile(rules) as file:
        schema = file.schema_arrow
        missing = {field.name for field in schema if field.nullable and _is_empty(file, field.name)}
        by_source, left = _mergeable(corrections, set(schema.names) - missing, max_scope)
        wanted = pa.array(list(by_source), type=pa.string())
        touched: defaultdict[str, list[Row]] = defaultdict(list)
        with (
            write_binary(out) as stream,
            pq.ParquetWriter(
                stream,
                schema,
                compression="zstd",
                compression_level=1,
                use_dictionary=[n for n in ("lhs", "source", "count_bin", "variables", "labels") if n in schema.names],
            ) as writer,
        ):
            for batch in file.iter_batches(ROWS):
                named = pc.is_in(batch["source"].cast(pa.string()), value_set=wanted)
                for row in batch.filter(named).to_pylist():
                    touched[row["source"]].append(row)
                rest = batch.filter(pc.invert(named))
                written += rest.num_rows
                writer.write_batch(rest)
            changed: list[Row] = []
            for source, given in by_source.items():
                changed += apply_corrections(touched[source], given, schema, missing)
            writer.write_table(pa.Table.from_pylist(changed, schema=schema))
            written += len(changed)
    return Merged(written, left)


def _is_empty(file: pq.ParquetFile, column: str) -> bool:
    """Return whether a column contains no values."""
    return all(batch[column].null_count == len(batch) for batch in file.iter_batches(ROWS, columns=[column]))


def _mergeable(
    corrections: Iterable[Correction], columns: set[str], max_scope: int
) -> tuple[dict[str, list[Correction]], tuple[Correction, ...]]:
    """Separate the corrections that a rule table can hold, by source side, from the others."""
    given = [(each, as_in_tables(each)) for each in corrections]
    probabilities = {name for name in columns if name.startswith(PROBABILITIES)}
    stay = {same.source for each, same in given if not probabilities.issuperset(name for name, _ in each.features)}
    stay |= {same.source for each, same in given if each.action == "weigh"}
    stay |= {same.source for each, same in given for name in NOTES if getattr(each, name) and name not in columns}
    if max_scope >= 0:
        stay |= {same.source for _, same in given if scope_of(same.source) > max_scope}
    out: dict[str, list[Correction]] = {}
    for _, same in given:
        if same.source not in stay:
            out.setdefault(same.source, []).append(same)
    return out, tuple(each for each, same in given if same.source in stay)


def scope_of(source: str) -> int:
    """Return the scope of a source side: the number of its free ends (Hopkins and Langmead 2010).

    >>> scope_of("[A,1] [B,2] c [D,3]"), scope_of("a [B,1] c")
    (3, 0)
    """
    variables = [True, *(VARIABLE.fullmatch(symbol) is not None for symbol in source.split()), True]
    return sum(one and other for one, other in pairwise(variables))


def as_in_tables(correction: Correction) -> Correction:
    """Write the sides of a correction in the form of rule tables: variables in order, and escaped special words.

    >>> found = as_in_tables(Correction("add", "X", r"[X,2] \\the [X,1]", r"[X,1] \\||| [X,2] )"))
    >>> found.source, found.target
    ('[X,1] the [X,2]', '[X,2] ||| [X,1] \\\\)')
    """
    numbers: dict[str, int] = {}  # of variables, by how they are written

    def symbol(given: str, source: bool) -> str:
        if given.startswith("\\"):
            return escaped_word(given[1:])
        if VARIABLE.fullmatch(given):
            label, _, _ = given.rpartition(",")
            return f"{label},{numbers.setdefault(given, len(numbers) + 1)}]"
        return given if source else escaped_word(given)

    source = " ".join(symbol(each, True) for each in correction.source.split())
    target = correction.target and " ".join(symbol(each, False) for each in correction.target.split())
    made = copy(correction)  # not checked again: the separator of fields is a word in tables
    made.__dict__.update(source=source, target=target)
    return made


def apply_corrections(
    rows: list[Row], corrections: Iterable[Correction], schema: pa.Schema, missing: Collection[str]
) -> list[Row]:
    """Apply the corrections of a source side to its rows, in order. No rule of the table has the `missing` columns."""
    rows = [dict(row) for row in rows]
    for each in corrections:
        like = [row for row in rows if _is_like(row, each)]
        match each.action:
            case "forbid":
                rows = [row for row in rows if not _is_like(row, each)]
            case "reweight":
                for row in like:
                    row.update(each.features)
            case "add":
                if not like:
                    like = [_new(each, schema, missing)]
                    rows += like
                notes = {name: getattr(each, name) for name in NOTES}
                for row in like:
                    row.update(each.features)
                    row.update({name: value for name, value in notes.items() if value})
    return rows


def is_like(lhs: str, target: str | None, structure: str, correction: Correction) -> bool:
    """Return whether a correction applies to a rule with the same source side. Both have the form of rule tables."""
    same = correction.lhs in ("", lhs) and correction.target in (None, target)
    return same and correction.structure in ("", structure)


def _is_like(row: Row, correction: Correction) -> bool:
    return is_like(row["lhs"], row["target"], row.get("structure") or "", correction)


def _new(correction: Correction, schema: pa.Schema, missing: Collection[str]) -> Row:
    """Return the row of an added rule, which counts as seen once.

    Its probabilities are 1 unless the correction gives others.
    """
    row: Row = {}
    for field in schema:
        if field.name.startswith(PROBABILITIES):
            row[field.name] = 1.0
        else:
            row[field.name] = None if field.name in missing else "" if str(field.type) == "string" else 0
    sides = {"lhs": correction.lhs, "source": correction.source, "target": correction.target, "count_bin": "1"}
    seen = {"count": 1.0, "occurrences": 1}
    return (
        row | sides | seen | {"variables": min(255, sum(map(bool, map(VARIABLE.fullmatch, correction.source.split()))))}
    )
