"""A command that works record by record, on the machines of an engine: in shards, whose outputs are joined."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from treeglot.base.files import nearest_folder, scratch_folder, write_binary
from treeglot.cli.output import warn

if TYPE_CHECKING:
    from treeglot.rules.engines import Engine

RECORDS = 1000  # of a shard
WARNING = "warning: "


@dataclass(frozen=True)
class Shard:
    """Records of the input, counted from 1."""

    number: int
    first: int
    last: int


@dataclass(frozen=True)
class Work:
    """What the machines do: `command(index, out)` writes the output of the records of an index, such as 7-9."""

    command: Callable[[str, Path], None]
    folder: Path


def spread(command: Callable[[str, Path], None], records: int, out: Path, engine: Engine) -> list[str]:
    """Run a command in shards, and write their outputs to `out` in order, with the bytes of one run.

    All machines must see the folder of `out`, where the outputs of shards are until all are complete. Warnings of the
    shards are shown in order, each once, and returned.
    """
    starts = range(1, records + 1, RECORDS)
    shards = [Shard(number, first, min(first + RECORDS - 1, records)) for number, first in enumerate(starts)]
    with scratch_folder(nearest_folder(out.parent), out.name) as folder:
        told = engine.map(run_shard, Work(command, folder.resolve()), shards)
        with write_binary(out) as stream:
            for shard in shards:
                with _part(folder, shard).open("rb") as part:
                    shutil.copyfileobj(part, stream)
    lines = list(dict.fromkeys(line for lines in told for line in lines))
    for line in lines:
        warn(line)
    return lines


def run_shard(work: Work, shard: Shard) -> list[str]:
    """Write the output of a shard; gives its warnings. Another call for the same shard writes the same."""
    with redirect_stderr(io.StringIO()) as said:
        work.command(f"{shard.first}-{shard.last}", _part(work.folder, shard))
    return [line.removeprefix(WARNING) for line in said.getvalue().split("\n") if line.startswith(WARNING)]


def _part(folder: Path, shard: Shard) -> Path:
    return folder / f"{shard.number:06}.out"
