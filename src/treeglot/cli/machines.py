"""Opens the machines of `--engine spark`, for commands that process one record after another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from treeglot.base.errors import UsageError

if TYPE_CHECKING:
    from treeglot.base.shards import Machines


@contextmanager
def open_machines(
    engine: Literal["local", "spark"], master: str, threads: int, out: Path | None = None
) -> Iterator[Machines | None]:
    """Open the cluster of `--engine spark`, or return None for this machine. `out` is the output file, if any."""
    from treeglot.rules.engines import open_engine

    if engine == "spark" and out is not None and (str(out) == "-" or (out.exists() and not out.is_file())):
        raise UsageError(f"--engine spark keeps parts beside the output; expected --out FILE, not {out}")
    with open_engine("spark" if engine == "spark" else "duckdb", master, threads) as opened:
        yield opened


def refuse_with_spark(**given: object) -> None:
    """Refuse options that do not work on a cluster."""
    for name, value in given.items():
        if value:
            raise UsageError(f"--{name.replace('_', '-')} is not for --engine spark, which writes one file in shards")
