"""From parsed, aligned text to a rule table: time and memory, and how many rules of which kind.

python bench/extract_ghkm.py FOLDER [--rules c2s c2d] [--threads 2] [--pairs N] [--words 20 40] [--set prune=3.0 ...]

FOLDER has train.zh, train.lc.en, train.gdfa, train.zh.forest.xz and train.en.tree.xz. CPU time is that of all threads.
"""

import argparse
import dataclasses
import json
import resource
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from record import add_option, column, record

from treeglot.corpus import Corpus, Needs
from treeglot.corpus.pairs import Pair
from treeglot.rules import extract
from treeglot.rules.engines import DuckDB
from treeglot.rules.ghkm import RULE_SETS, rule_kinds
from treeglot.rules.score import make_tables
from treeglot.rules.sql import ScoreOptions
from treeglot.rules.table import CompileOptions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rules", nargs="*", default=["c2s", "c2d"], choices=RULE_SETS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pairs", type=int, help="the first of them alone")
    parser.add_argument("--words", type=int, nargs=2, default=(0, 1000), help="least and most source words of a pair")
    parser.add_argument("--trees", action="store_true", help="the one-best trees in place of the forests")
    parser.add_argument("--table", action="store_true", help="score and compile too")
    parser.add_argument("--set", nargs="*", default=[], help="options of the extraction, NAME=VALUE")
    add_option(parser)
    given = parser.parse_args()
    rows = []
    folder: Path = given.folder

    changes = {name: json.loads(value) for name, value in (item.split("=") for item in given.set)}
    corpus = Corpus(
        source=folder / "train.zh",
        target=folder / "train.lc.en",
        alignments=folder / "train.gdfa",
        source_forests=folder / ("train.zh.tree.xz" if given.trees else "train.zh.forest.xz"),
        target_trees=folder / "train.en.tree.xz",
    )
    least, most = given.words

    def pairs() -> Iterator[Pair]:
        read = corpus.pairs(Needs(source="forest", target="dependency", skip_bad=True))
        return (pair for pair in islice(read, given.pairs) if least <= len(pair.source) <= most)

    for name in given.rules:
        options = dataclasses.replace(RULE_SETS[name], **changes)
        wall, cpu = time.perf_counter(), time.process_time()
        with tempfile.TemporaryDirectory() as scratch:
            out = Path(scratch)
            extraction = extract("ghkm", pairs(), out, options, threads=given.threads)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"{name:12} {wall:7.1f} s wall {cpu:7.1f} s CPU   peak {peak:6.0f} MB")
            print("  " + ", ".join(f"{key} {value:,}" for key, value in extraction.counts.items()))
            size = sum(path.stat().st_size for path in extraction.files)
            kinds = rule_kinds(extraction)
            print(f"  different: {kinds.fragments:,} fragments, {kinds.phrases:,} phrases ({size >> 20} MB)")
            counts = extraction.counts
            taken = [counts["minimal"] + counts["composed"], counts["phrases"], counts["phrases_well_formed"]]
            rows.append([f"`{name}`", cpu, *taken, kinds.fragments, kinds.phrases])
            if given.table:
                wall, cpu = time.perf_counter(), time.process_time()
                tables, engine = (out / "rules.parquet", out / "rules.table"), DuckDB(given.threads, folder=out)
                _, done = make_tables(extraction, *tables, ScoreOptions(), CompileOptions(), engine)
                wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
                print(f"  scored and compiled: {wall:.1f} s wall {cpu:.1f} s CPU")
                print(f"  {done.rules:,} rules, {done.size >> 20} MB; {done.left_out} too long")
    whole = ("rules taken", "phrases taken", "of them well-formed", "different rules", "different phrases")
    record(given.json, [column("rule set"), column("CPU s", 1), *map(column, whole)], rows)


if __name__ == "__main__":
    main()
