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
from itertools import compress, islice
from pathlib import Path

from treeglot.rules import RULE_SETS, bitext, compile_table, extract_ghkm, rule_kinds, score
from treeglot.syntax import heads, read_parallel
from treeglot.syntax.constituents import to_dependencies
from treeglot.syntax.formats import read_forests, read_trees


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
    given = parser.parse_args()
    folder: Path = given.folder

    changes = {name: json.loads(value) for name, value in (item.split("=") for item in given.set)}
    files = (folder / "train.zh", "text"), (folder / "train.lc.en", "text"), (folder / "train.gdfa", "pharaoh")
    texts = list(islice(read_parallel(*files), given.pairs))
    least, most = given.words
    kept = [least <= len(source) <= most for source, _, _ in texts]
    pairs = bitext(compress(texts, kept))
    table = heads.load("english")
    for name in given.rules:
        options = dataclasses.replace(RULE_SETS[name], **changes)
        wall, cpu = time.perf_counter(), time.process_time()
        trees = list(compress(read_trees(folder / "train.en.tree.xz"), kept))
        source = read_trees(folder / "train.zh.tree.xz") if given.trees else read_forests(folder / "train.zh.forest.xz")
        with tempfile.TemporaryDirectory() as scratch:
            out = Path(scratch)
            extraction = extract_ghkm(
                pairs,
                compress(source, kept),
                out,
                options,
                dependencies=to_dependencies(trees, table),
                threads=given.threads,
            )
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"{name:12} {wall:7.1f} s wall {cpu:7.1f} s CPU   peak {peak:6.0f} MB")
            facts = json.loads((out / "extraction.json").read_text())
            print("  " + ", ".join(f"{key} {value:,}" for key, value in facts["counts"].items()))
            size = sum(path.stat().st_size for path in extraction.counts)
            kinds = rule_kinds(extraction)
            print(f"  different: {kinds.fragments:,} fragments, {kinds.phrases:,} phrases ({size >> 20} MB)")
            if given.table:
                wall, cpu = time.perf_counter(), time.process_time()
                score(extraction, out / "rules.parquet", threads=given.threads)
                done = compile_table(out / "rules.parquet", out / "rules.table")
                wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
                print(f"  scored and compiled: {wall:.1f} s wall {cpu:.1f} s CPU")
                print(f"  {done.rules:,} rules, {done.size >> 20} MB; {done.left_out} too long")


if __name__ == "__main__":
    main()
