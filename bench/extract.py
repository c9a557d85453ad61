"""From aligned text to a compiled table: time and memory of each stage, and what came out.

python bench/extract.py SOURCE TARGET ALIGNMENT [--out FOLDER] [--threads 2] [--moses] [--targets-per-source 20]

--moses takes the limits of Moses' hierarchical extraction, so that the numbers of rules can be compared. Lines that
the strict readers refuse are left out. CPU time is that of all threads.
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from record import add_option, column, record

from treeglot.corpus.pairs import Pair
from treeglot.rules import extract, open_table
from treeglot.rules.engines import DuckDB
from treeglot.rules.hiero import HieroOptions
from treeglot.rules.score import make_tables
from treeglot.rules.sql import ScoreOptions
from treeglot.rules.table import CompileOptions
from treeglot.syntax.formats import read_parallel

Result = TypeVar("Result")

MOSES = HieroOptions(
    max_phrase=10, max_target_phrase=10, max_symbols=5, max_nonterminals=2, min_hole=2,
    loose_source=-1, loose_target=-1, phrase_loose_source=-1, phrase_loose_target=-1,
)  # fmt: skip

total = [0.0, 0.0]
stages: list[list[Any]] = []  # for the file of figures


def stage(name: str, work: Callable[[], Result]) -> Result:
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    total[0] += wall
    total[1] += cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{name:22} {wall:7.1f} s wall {cpu:7.1f} s CPU   peak {peak:6.0f} MB", flush=True)
    stages.append([name, wall, cpu, peak])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("alignment", type=Path)
    parser.add_argument("--out", type=Path, help="folder for the files (default: a temporary one)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--moses", action="store_true", help="the limits of Moses' hierarchical extraction")
    parser.add_argument("--targets-per-source", type=int, default=20)
    parser.add_argument("--indicators", action="store_true", help="compile count indicators too")
    add_option(parser)
    options = parser.parse_args()

    with tempfile.TemporaryDirectory(dir=options.out) as name:
        folder = options.out or Path(name)
        files = (options.source, "text"), (options.target, "text"), (options.alignment, "pharaoh")
        rows = enumerate(read_parallel(*files, skip_bad=True), 1)
        pairs = stage("read", lambda: [Pair(number, *row) for number, row in rows])
        limits = MOSES if options.moses else HieroOptions()
        extraction = stage(
            "extract and count", lambda: extract("hiero", pairs, folder, limits, threads=options.threads)
        )
        scoring = ScoreOptions(targets_per_source=options.targets_per_source)
        table = folder / "rules.parquet"
        compiling = CompileOptions(indicators=("count_bin",) if options.indicators else ())
        engine = DuckDB(options.threads, folder=folder)
        rules, compiled = stage(
            "score and compile",
            lambda: make_tables(extraction, table, folder / "rules.table", scoring, compiling, engine),
        )
        print(f"{'together':22} {total[0]:7.1f} s wall {total[1]:7.1f} s CPU")
        for verify in (True, False):
            what = "open, checked" if verify else "open, trusted"
            stage(what, lambda verify=verify: open_table(folder / "rules.table", verify))  # type: ignore[misc]
        columns = [column("stage"), column("wall s", 1), column("CPU s", 1), column("peak, MB")]
        record(options.json, columns, stages)
        counts = extraction.counts
        print(f"{counts['pairs']:,} pairs, {counts['phrases']:,} initial phrases")
        print(f"{counts['flat'] + counts['gappy']:,} rules taken, {extraction.facts['rows']:,} different")
        size = sum(path.stat().st_size for path in extraction.files)
        print(f"{rules:,} rules kept; {compiled.left_out} too long for the compiled table")
        print(f"counts {size >> 20} MB, table {table.stat().st_size >> 20} MB, compiled {compiled.size >> 20} MB")


if __name__ == "__main__":
    main()
