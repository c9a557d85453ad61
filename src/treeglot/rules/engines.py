"""The engines that count and score rules. DuckDB works on one machine within bounded memory; Spark is in `spark.py`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from treeglot.base.errors import TreeglotError, UsageError
from treeglot.base.shards import Machines, R, S, T
from treeglot.rules.columns import reading

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

EngineName: TypeAlias = Literal["duckdb", "spark"]
EXPANSION = 4  # bytes of memory that a byte of Parquet files takes while it is grouped, joined and sorted, about


@dataclass(frozen=True)
class Statement:
    """An SQL query, and the name by which later statements refer to its rows."""

    name: str
    sql: str
    by_file: bool = False  # whether its rows for all files are those for each file, one after the other


class Engine(Machines, Protocol):
    """The interface of an engine.

    Its SQL is what DuckDB and Spark share: no QUALIFY, no macros, max_by but not arg_max.
    """

    def run(self, files: Mapping[str, Sequence[Path]], statements: Sequence[Statement]) -> Iterator[pa.RecordBatch]:
        """Run statements, and yield the rows of the last one. `files` maps names in the statements to Parquet files."""


@dataclass(frozen=True)
class DuckDB:
    """Runs queries on one machine. Data that exceeds `memory` bytes is stored in a file in `folder`."""

    threads: int = 1
    memory: int = 2 << 30
    folder: Path = Path()

    def run(self, files: Mapping[str, Sequence[Path]], statements: Sequence[Statement]) -> Iterator[pa.RecordBatch]:
        """Run statements, and yield the rows of the last one."""
        import duckdb
        import pyarrow as pa

        settings: dict[str, str | bool | int | float | list[str]] = {
            "threads": self.threads,
            "memory_limit": f"{self.memory >> 20}MiB",
            "temp_directory": str(self.folder / ".duckdb"),
            "preserve_insertion_order": False,  # rows have no order but the last statement's: less memory
        }
        whole, apart = self._rounds(files, statements)
        connection = duckdb.connect(config=settings)
        try:
            connection.execute("SET enable_progress_bar = false")  # drawn where Python looks interactive
            _read(connection, files)
            _make(connection, whole, [*whole, *apart[0][1]])
            for given, round_ in apart:
                _read(connection, given)
                _make(connection, round_[:-1], round_)
                yield from pa.RecordBatchReader.from_stream(connection.sql(round_[-1].sql))
        except duckdb.OutOfMemoryException as error:
            if "max_temp_directory_size" in str(error):
                problem = "no room for what does not fit into memory while rules are scored"
                raise TreeglotError(f"{self.folder}: {problem}") from error
            wanted = "give it more memory or fewer threads"
            raise UsageError(f"{self.memory >> 20} MB are too few to score these rules; {wanted}") from error
        except duckdb.Error as error:
            for path in (path for paths in files.values() for path in paths):
                _check(path)
            if isinstance(error, duckdb.IOException):  # a full disk, above all
                raise TreeglotError(f"scoring the rules: {str(error).splitlines()[0]}") from error
            raise
        finally:
            connection.close()

    def _rounds(
        self, files: Mapping[str, Sequence[Path]], statements: Sequence[Statement]
    ) -> tuple[list[Statement], list[tuple[Mapping[str, Sequence[Path]], list[Statement]]]]:
        """Split the statements into those that run once, for all files, and those that run for some files at a time."""
        by_file = [statement for statement in statements if statement.by_file]
        size = sum(path.stat().st_size for paths in files.values() for path in paths)
        if len(files) != 1 or not statements[-1].by_file or size * EXPANSION <= self.memory:
            return [], [(files, list(statements))]
        [(name, paths)] = files.items()
        return [each for each in statements if not each.by_file], [({name: [path]}, by_file) for path in paths]

    def map(self, function: Callable[[S, T], R], shared: S, items: Sequence[T]) -> list[R]:
        """Call `function(shared, item)` for each item, one after the other, and return the values."""
        return [function(shared, item) for item in items]

    def calls_at_once(self) -> int:
        """Return 1, because `map` makes only one call at a time."""
        return 1


@contextmanager
def open_engine(name: EngineName, master: str, threads: int) -> Iterator[Engine | None]:
    """Open an engine by its name. None means DuckDB. Spark runs on `master`, or else on this machine."""
    if name == "duckdb":
        if master:
            raise UsageError("--master is for --engine spark")
        yield None
        return
    from treeglot.rules.spark import Spark

    with Spark(master or f"local[{threads}]") as engine:
        engine.check()
        yield engine


def _read(connection: duckdb.DuckDBPyConnection, files: Mapping[str, Sequence[Path]]) -> None:
    """Make some files visible to the statements, under their names."""
    for name, paths in files.items():
        listed = ", ".join(_quoted(str(path)) for path in paths)
        connection.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS SELECT * FROM read_parquet([{listed}])")


def _make(connection: duckdb.DuckDBPyConnection, made: Sequence[Statement], uses: Sequence[Statement]) -> None:
    """Create the tables of some statements. When no statement in `uses` needs a table any longer, it is dropped."""
    alive: list[str] = []
    for i, statement in enumerate(made):
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {statement.name} AS {statement.sql}")
        alive.append(statement.name)
        for name in unread(alive, uses[i + 1 :]):
            connection.execute(f"DROP TABLE {name}")
            alive.remove(name)


def unread(names: Iterable[str], statements: Iterable[Statement]) -> list[str]:
    """Return those names that no statement reads.

    >>> unread(["counts", "sums"], [Statement("best", "SELECT row FROM sums s")])
    ['counts']
    """
    later = " ".join(statement.sql for statement in statements)
    return [name for name in names if not re.search(rf"\b{name}\b", later)]


def _check(path: Path) -> None:
    """Read a whole Parquet file to check it. If it is damaged, raise `FormatError`."""
    import pyarrow.parquet as pq

    with reading(path), pq.ParquetFile(path) as file:
        for _ in file.iter_batches():
            pass


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
