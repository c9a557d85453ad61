"""Searches a rule table for rules with given words, and for phrases with ill-formed structures."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from treeglot._core import escaped_word
from treeglot.base.errors import FormatError
from treeglot.base.files import PathLike
from treeglot.rules.columns import reading
from treeglot.rules.sql import COLUMNS

NUMBERS = tuple(name for name, column in COLUMNS.items() if column.holds in ("float", "double", "int64"))


@dataclass(frozen=True)
class FoundRule:
    """A rule that was found. `values` maps columns of the table to its counts and probabilities."""

    lhs: str
    source: str
    target: str
    alignment: str
    values: dict[str, float]

    def __str__(self) -> str:
        shown = " ".join(f"{name}={value:.4g}" for name, value in self.values.items())
        return f"[{self.lhs}] ||| {self.source} ||| {self.target} ||| {self.alignment} ||| {shown}"


def find_rules(
    rules: PathLike,
    source: str = "",
    target: str = "",
    *,
    whole: bool = False,
    sides: Collection[tuple[str, str]] = (),
    most: int = 20,
) -> tuple[int, list[FoundRule]]:
    """Find rules with given words in the table `rules` (Parquet). Return their number and the most frequent ones.

    Words and variables are written as in the table, separated by blanks: `das [X,1]`. They must be adjacent in the
    rule. An empty side matches any side. With `whole`, a side must equal the given words. With `sides`, only rules with
    one of these source and target sides are found.
    """
    import duckdb
    import pyarrow.parquet as pq

    with reading(rules):
        known = set(pq.read_schema(rules).names)
    missing = {"lhs", "source", "target", "alignment", "count"} - known
    if missing:
        raise FormatError(str(rules), 0, f"has no column {min(missing)}; expected a rule table")
    tests: list[str] = ["true"]
    values: list[Any] = []
    for side, given in (("source", source), ("target", target)):
        words = " ".join(given.split())
        if words:
            tests.append(f"{side} = ?" if whole else f"contains(' ' || {side} || ' ', ?)")
            values.append(words if whole else f" {words} ")
    if sides:
        tests.append("source IN (SELECT unnest(?))")  # leaves few rules, whose sides are put together
        tests.append("source || ' ||| ' || target IN (SELECT unnest(?))")
        values += [sorted({one for one, _ in sides}), [" ||| ".join(each) for each in sides]]
    numbers = [name for name in NUMBERS if name in known]
    wanted = ", ".join(["lhs", "source", "target", "alignment", *numbers])
    where = f"FROM read_parquet(?) WHERE {' AND '.join(tests)}"
    given_values: list[Any] = [str(rules), *values]
    order = "ORDER BY count DESC, source, target, lhs"
    connection = duckdb.connect()
    try:
        if sides:  # few rules: one pass over the table counts them, too
            rows = connection.execute(f"SELECT {wanted} {where} {order}", given_values).fetchall()
            total, rows = len(rows), rows[:most]
        else:
            [total] = connection.execute(f"SELECT count(*) {where}", given_values).fetchone() or (0,)
            rows = connection.execute(f"SELECT {wanted} {where} {order} LIMIT {most:d}", given_values).fetchall()
    finally:
        connection.close()
    found = []
    for lhs, one, other, alignment, *rest in rows:
        named = {name: float(value) for name, value in zip(numbers, rest, strict=True) if value is not None}
        found.append(FoundRule(lhs, one, other, alignment, named))
    return int(total), found


def ill_formed_phrases(rules: PathLike) -> list[str]:
    """Return the target phrases of a table (Parquet) whose dependency structures are ill-formed, sorted."""
    import duckdb
    import pyarrow.parquet as pq

    with reading(rules):
        if "structure" not in pq.read_schema(rules).names:
            raise FormatError(str(rules), 0, "has no column structure; expected rules with dependency structures")
    marked = "len(string_split(structure, ' ')) = len(string_split(target, ' ')) + 1"
    connection = duckdb.connect()
    try:
        [kept] = connection.execute("SELECT count(structure) FROM read_parquet(?)", [str(rules)]).fetchone() or (0,)
        if not kept:
            raise FormatError(str(rules), 0, "has no dependency structures; expected those of a c2d model")
        query = f"SELECT DISTINCT target FROM read_parquet(?) WHERE variables = 0 AND {marked} ORDER BY target"
        rows = connection.execute(query, [str(rules)]).fetchall()
    finally:
        connection.close()
    return [" ".join(map(_plain, target.split(" "))) for [target] in rows]


def _plain(word: str) -> str:
    """Return a word of a rule in the form in which it appears in text."""
    return word[1:] if word.startswith("\\") and escaped_word(word[1:]) == word else word
