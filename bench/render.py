"""Makes bench/RESULTS.md from bench/results, and docs/claims.md from bench/claims.json: python bench/render.py

The page is the fragments `NNN-name.md` in the order of their numbers. A line `[table](NAME.json)` in a fragment
becomes the table of that file. `bench/results/README.md` has the format.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from claims import BadClaimError, anchor, claims_page

BENCH = Path(__file__).parent
FRAGMENT = re.compile(r"\d{3}-[a-z0-9-]+\.md")
TABLE = re.compile(r"^\[table\]\(([^)]*)\)$", re.MULTILINE)
TABLE_KEYS = {"columns", "rows", "command", "commit", "machine", "load", "date", "source"}
NEEDED = ("columns", "rows", "command", "commit", "machine", "load", "date")
COLUMN_KEYS = {"name", "digits", "signed", "unit", "mean_of"}
INTERVAL = {"mean", "low", "high"}
HEAD = """\
# Measured

<!-- Made by `python bench/render.py` from bench/results: edit the files there, not this page. -->

Below each table stand the command that made it, the commit, the date and the machine, as far as they are known.
Times are CPU times unless a column says otherwise. Noise between runs is about 5 % on a quiet machine of two cores
and 24 GiB.
[claims.md](../docs/claims.md) compares the figures with those of the papers.

"""


class BadResultError(ValueError):
    """A file of results that cannot be rendered."""


def render(folder: Path) -> str:
    """The page of all fragments in a folder."""
    fragments = sorted(path for path in folder.glob("*.md") if FRAGMENT.fullmatch(path.name))
    odd = sorted(path.name for path in folder.glob("*.md") if path not in fragments and path.name != "README.md")
    if odd:
        raise BadResultError(f"{folder / odd[0]}: expected a name such as 010-speed.md")
    used: set[Path] = set()
    parts = [_fragment(path, used) for path in fragments]
    unused = sorted(set(folder.glob("*.json")) - used)
    if unused:
        raise BadResultError(f"{unused[0]}: no fragment shows it; expected a line [table]({unused[0].name}) in one")
    questions = [line[3:] for part in parts for line in part.splitlines() if line.startswith("## ")]
    contents = "\n".join(f"- [{question}](#{anchor(question)})" for question in questions)
    return f"{HEAD}{contents}\n\n" + "\n\n".join(parts) + "\n"


def _fragment(path: Path, used: set[Path]) -> str:
    def table(found: re.Match[str]) -> str:
        used.add(path.parent / found[1])
        return table_text(path.parent / found[1])

    text = path.read_text(encoding="utf-8").strip()
    if not text.startswith("## "):
        raise BadResultError(f"{path}: begins with {text[:30]!r}; expected a heading, ## and the question")
    return TABLE.sub(table, text)


def table_text(path: Path) -> str:
    """The table of a file, and how it was made."""
    table = _read(path)
    columns, rows = table["columns"], table["rows"]
    names = [column["name"] for column in columns]
    lines = [_line(names), "|" + "---|" * len(columns)]
    for number, row in enumerate(rows, 1):
        if len(row) != len(columns):
            raise BadResultError(f"{path}: row {number} has {len(row)} cells; expected {len(columns)}")
        values = dict(zip(names, row, strict=True))
        lines.append(_line([_cell(column, values, f"{path}: row {number}") for column in columns]))
    return "\n".join(lines) + f"\n\n{_origin(table)}"


def _read(path: Path) -> dict[str, Any]:
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadResultError(f"{path}: {error}") from None
    if not isinstance(table, dict):
        raise BadResultError(f"{path}: expected an object")
    for key in table.keys() - TABLE_KEYS:
        raise BadResultError(f"{path}: unknown key {key!r}; expected {', '.join(sorted(TABLE_KEYS))}")
    for key in NEEDED:
        if key not in table:
            raise BadResultError(f"{path}: {key!r} is missing")
    names = {column.get("name") for column in table["columns"]}
    if len(names) < len(table["columns"]):
        raise BadResultError(f"{path}: two columns have the same name")
    for column in table["columns"]:
        odd = column.keys() - COLUMN_KEYS
        if odd or "name" not in column or column.get("mean_of", column["name"]) not in names:
            raise BadResultError(f"{path}: {json.dumps(column)} is no column")
    return table


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(column: dict[str, Any], row: dict[str, Any], place: str) -> str:
    value = row[column["name"]]
    if "mean_of" in column:
        if value is not None:
            raise BadResultError(f"{place}: {column['name']!r} is computed; expected null")
        seeds = row[column["mean_of"]]
        value = None if seeds is None else sum(seeds) / len(seeds)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ", ".join(number(one, column, place) for one in value)
    if isinstance(value, dict):
        if value.keys() != INTERVAL:
            raise BadResultError(f"{place}: {json.dumps(value)}; expected mean, low and high")
        mean, low, high = (number(value[key], column, place) for key in ("mean", "low", "high"))
        return f"{mean} ({low} to {high})"
    return number(value, column, place)


def number(value: Any, column: dict[str, Any], place: str) -> str:
    """A figure as the page prints it: thousands with commas, a minus sign, the column's digits."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadResultError(f"{place}: {value!r} in {column['name']!r} is no figure")
    sign = "+" if column.get("signed") else ""
    return f"{value:{sign},.{column.get('digits', 0)}f}".replace("-", "−") + column.get("unit", "")


def _origin(table: dict[str, Any]) -> str:
    load = table["load"]
    busy = "" if load is None else f", load {load}" if isinstance(load, int | float) else f", {load}"
    made = [f"`{table['command']}`"] if table["command"] else []
    known = re.fullmatch(r"[0-9a-f]{7,40}\+?", table["commit"])
    made += [f"commit {table['commit']}" if known else table["commit"]]
    parts = [*made, table["date"], f"{table['machine']}{busy}", table.get("source", "")]
    return f"*{' · '.join(part for part in parts if part)}*"


def main() -> int:
    """Write the pages; an error goes to stderr."""
    try:
        claims = claims_page(BENCH / "claims.json", BENCH / "results")
        pages = {"bench/RESULTS.md": render(BENCH / "results"), "docs/claims.md": claims}
    except (BadResultError, BadClaimError) as error:
        print(error, file=sys.stderr)
        return 1
    for name, text in pages.items():
        (BENCH.parent / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
