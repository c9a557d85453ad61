"""Spark against DuckDB: the same bytes? CPU seconds of both, for kinds of models on a corpus.

    python bench/spark.py SAMPLE --kinds hiero c2d t2t-fuzzy dep2str s2d --kill
    python bench/spark.py DATA/zh-en --kinds hiero --names train.zh train.lc.en train.align

SAMPLE is a folder that `treeglot sample` wrote. With --kill an executor dies in the middle of each extraction.
"""

import argparse
import os
import resource
import shutil
import signal
import time
import warnings
from pathlib import Path

from treeglot.corpus import Corpus
from treeglot.models import train
from treeglot.models.kinds import find_kind
from treeglot.rules import parts
from treeglot.rules.spark import Spark

PARSES = {
    "source_trees": "train.zh.tree",
    "target_trees": "train.en.tree",
    "source_forests": "train.zh.forest.jsonl",
    "source_dependencies": "train.zh.conllu",
    "target_dependencies": "train.en.conllu",
}


class Mortal(Spark):
    """An engine one of whose executors is killed in the middle of each map."""

    def map(self, function, shared, items):
        trace = Path(shared.folder) / f"killed-{function.__name__}"

        def killing(shared, item):
            if item.number == 1 and not trace.exists():
                trace.touch()
                daemon = os.getppid()
                os.kill(int(Path(f"/proc/{daemon}/stat").read_text().rpartition(")")[2].split()[1]), signal.SIGKILL)
            return function(shared, item)

        found = super().map(killing, shared, items)
        assert trace.exists() or len(items) < 2
        return found


def corpus_of(kind, folder, names):
    source, target, links = (folder / name for name in names)
    wanted = [need.split("|")[0] for need in find_kind(kind).files]
    parses = {name: folder / PARSES[name] for name in wanted if name in PARSES}
    return Corpus(source=source, target=target, alignments=links, **parses)


def cpu():
    own = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(each.ru_utime + each.ru_stime for each in own)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kinds", nargs="+", default=["hiero"])
    parser.add_argument("--names", nargs=3, default=["train.zh", "train.en", "train.align"])
    parser.add_argument("--master", default="local-cluster[2,1,2048]")
    parser.add_argument("--shard", type=int, default=parts.PAIRS)
    parser.add_argument("--shuffle", default="4")
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--work", type=Path, default=Path("bench-spark"))
    given = parser.parse_args()
    parts.PAIRS = given.shard
    warnings.simplefilter("ignore")
    settings = {"spark.sql.shuffle.partitions": given.shuffle, "spark.executor.memory": "1g"}
    with (Mortal if given.kill else Spark)(given.master, settings) as engine:
        for kind in given.kinds:
            corpus = corpus_of(kind, given.folder, given.names)
            here, there = given.work / f"{kind}-here", given.work / f"{kind}-there"
            began = cpu(), time.monotonic()
            train(kind, corpus, here, force=True)
            middle = cpu(), time.monotonic()
            train(kind, corpus, there, force=True, engine=engine, report=print)
            end = cpu(), time.monotonic()
            same = [
                name
                for name in ("rules.parquet", "rules.table")
                if (here / name).read_bytes() == (there / name).read_bytes()
            ]
            print(
                f"{kind}: same bytes of {' and '.join(same) or 'nothing'}; "
                f"DuckDB {middle[0] - began[0]:.1f} CPU s, {middle[1] - began[1]:.0f} s; "
                f"Spark {end[1] - middle[1]:.0f} s",
                flush=True,
            )
            assert len(same) == 2
            shutil.rmtree(here)
            shutil.rmtree(there)


if __name__ == "__main__":
    main()
