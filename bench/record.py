"""What a benchmark measured, as JSON that `bench/render.py` prints.

`add_option` gives a benchmark the option `--json FILE`, and `record` writes the file. `bench/results/README.md` has
the format.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from treeglot.base.files import write_binary
from treeglot.base.machine import machine

TOP = Path(__file__).parents[1]
CODE = ("bench", "cpp", "recipes", "src")
FIGURES = (":!bench/results", ":!bench/RESULTS.md")  # what a benchmark writes changes no code


def add_option(parser: argparse.ArgumentParser) -> None:
    """Let a benchmark take `--json FILE`."""
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here, for bench/render.py")


def column(name: str, digits: int | None = None, *, signed: bool = False) -> dict[str, Any]:
    """A column; `digits` are those after the point."""
    out: dict[str, Any] = {"name": name}
    if digits is not None:
        out["digits"] = digits
    return out | ({"signed": True} if signed else {})


def record(path: Path | None, columns: Sequence[dict[str, Any]], rows: Sequence[Sequence[Any]]) -> None:
    """Write a table with how, when and where it was made; without a path, do nothing."""
    if path is None:
        return
    places = [2 + one.get("digits", 0) for one in columns]  # two more than the page prints
    kept = [[_rounded(value, places[n]) for n, value in enumerate(row)] for row in rows]
    table = {"columns": list(columns), "rows": kept, **circumstances()}
    with write_binary(path) as stream:
        stream.write(dumped(table).encode())


def _rounded(value: Any, places: int) -> Any:
    if isinstance(value, list | tuple):
        return [_rounded(one, places) for one in value]
    if isinstance(value, dict):
        return {name: _rounded(one, places) for name, one in value.items()}
    return round(value, places) if isinstance(value, float) else value


def circumstances() -> dict[str, Any]:
    """The command, the commit, the machine, its load and the date."""
    script = Path(sys.argv[0]).resolve()
    program = script.relative_to(TOP) if script.is_relative_to(TOP) else script.name
    absolute = r"(^|[=,:])/(?!/)(?:[^=,:]*/)?"  # no paths of the machine; the slashes after http: stay
    arguments = [re.sub(absolute, r"\1", word) for word in sys.argv[1:]]
    return {
        "command": f"python {shlex.join([str(program), *arguments])}",
        "commit": commit(),
        "machine": where(),
        "load": round(os.getloadavg()[1], 1),  # over five minutes
        "date": datetime.now(timezone.utc).date().isoformat(),
    }


def commit() -> str:
    """The commit of the code, with a plus if files differ from it. New files count in the folders of `CODE`.

    Tables of results do not count.
    """

    def git(*words: str) -> str:
        done = subprocess.run(["git", "-C", str(TOP), *words], capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    found = git("rev-parse", "--short=7", "HEAD")
    if not found:
        return "unknown"
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", *FIGURES)
    new = git("ls-files", "--others", "--exclude-standard", "--", *CODE, *FIGURES)
    return f"{found}+" if changed or new else found


def where() -> str:
    """The cores, the memory and the processor."""
    found = machine()
    return f"{found['cores']} cores, {found['memory'] / 2**30:.0f} GiB, {found['processor']}"


def dumped(table: dict[str, Any]) -> str:
    """JSON with a line for each row, so that changes are easy to read."""
    blocks = {"columns", "rows"}
    lines = []
    for name, value in table.items():
        if name in blocks:
            inner = ",\n".join(f"  {json.dumps(one, ensure_ascii=False)}" for one in value)
            lines.append(f" {json.dumps(name)}: [\n{inner}\n ]")
        else:
            lines.append(f" {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"
