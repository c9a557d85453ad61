"""Head finding and dependency structures: trees and spans per second, on one core.

python bench/heads.py TREES [--heads english] [--max-length 10]

TREES has one bracketed tree a line, compressed or not. Reading is not timed.
"""

import argparse
from pathlib import Path
from typing import Any

from record import add_option, column, record
from timing import fastest

from treeglot._core import structures
from treeglot.base.files import read_chunks
from treeglot.syntax import Tree, heads
from treeglot.syntax.constituents import to_dependencies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", type=Path)
    parser.add_argument("--heads", default="english", help="a head table, by name or path")
    parser.add_argument("--max-length", type=int, default=10, help="of the spans that are classified")
    add_option(parser)
    options = parser.parse_args()

    table = heads.load(options.heads)
    text = b"".join(read_chunks(options.trees)).decode()
    trees = [Tree.parse(line) for line in text.splitlines() if line.strip()]
    nodes = sum(map(len, trees))

    seconds, dependencies = fastest(lambda: to_dependencies(trees, table), runs=3)
    words = sum(map(len, dependencies))
    print(f"{len(trees)} trees, {nodes} nodes, {words} words")
    print(f"to_dependencies: {seconds:.3f} s, {len(trees) / seconds:,.0f} trees/s, {nodes / seconds:,.0f} nodes/s")

    rows: list[list[Any]] = [["`to_dependencies`", seconds, len(trees) / seconds, None]]
    spans = sum(
        min(options.max_length, len(dependency) - begin)
        for dependency in dependencies
        for begin in range(len(dependency))
    )
    for strict in (False, True):
        seconds, found = fastest(
            lambda strict=strict: sum(len(structures(d, options.max_length, strict)) for d in dependencies), runs=1
        )
        name = f"structures{', strict' if strict else ''}, up to {options.max_length} words"
        rate = f"{seconds:.3f} s with their Python values, {spans / seconds:,.0f} spans/s"
        print(f"{name}: {rate}, {found / spans:.1%} well-formed")
        rows.append([name, seconds, spans / seconds, 100 * found / spans])
    columns = [column("work"), column("s", 2), column("trees or spans a second"), column("well-formed, %", 1)]
    record(options.json, columns, rows)


if __name__ == "__main__":
    main()
