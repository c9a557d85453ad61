"""Spark against DuckDB: the same bytes? CPU seconds of both, for kinds of models on a corpus.

    python bench/spark.py SAMPLE --kinds hiero c2d t2t-fuzzy dep2str s2d --shard 500
    python bench/spark.py DATA/zh-en --names train.zh train.lc.en train.gdfa --shard 5000

SAMPLE is a folder that `treeglot sample` wrote. Each kind is trained three times: with DuckDB, with Spark, and with a
Spark whose executors die in the middle of each extraction. One session of Spark trains all kinds. CPU time is that of
all processes of the session, which a thread reads twice a second; what a process uses after its last reading is missed.
"""

import argparse
import os
import shutil
import signal
import threading
import time
import warnings
from contextlib import suppress
from functools import partial
from pathlib import Path

from record import add_option, column, record

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


ENGINES = {"Spark": Spark, "Spark, executors killed": Mortal}


def corpus_of(kind, folder, names):
    source, target, links = (folder / name for name in names)
    wanted = [need.split("|")[0] for need in find_kind(kind).files]
    parses = {name: folder / PARSES[name] for name in wanted if name in PARSES}
    return Corpus(source=source, target=target, alignments=links, **parses)


class SessionTime(threading.Thread):
    """The CPU seconds of all processes of this session, also of those that have ended."""

    def __init__(self):
        super().__init__(daemon=True)
        with suppress(PermissionError):  # it leads a group already, and so does its session serve
            os.setsid()
        self.session = os.getsid(0)
        self.seconds = {}

    def run(self):
        while True:
            self.read()
            time.sleep(0.5)

    def read(self):
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                cells = path.read_text().rpartition(")")[2].split()
                if int(cells[3]) == self.session:
                    key = path.parent.name, cells[19]  # a number may come again, with another start
                    self.seconds[key] = (int(cells[11]) + int(cells[12])) / os.sysconf("SC_CLK_TCK")
        return sum(self.seconds.values())


def measured(clock, work):
    """The CPU seconds and the seconds that work takes."""
    began = clock.read(), time.monotonic()
    work()
    return clock.read() - began[0], time.monotonic() - began[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kinds", nargs="+", default=["hiero"])
    parser.add_argument("--names", nargs=3, default=["train.zh", "train.en", "train.align"])
    parser.add_argument("--master", default="local-cluster[2,1,1024]")
    parser.add_argument("--shard", type=int, default=parts.PAIRS)
    parser.add_argument("--shuffle", default="4")
    parser.add_argument("--work", type=Path, default=Path("bench-spark"))
    add_option(parser)
    given = parser.parse_args()
    parts.PAIRS = given.shard
    warnings.simplefilter("ignore")
    clock, rows = SessionTime(), []
    clock.start()
    columns = [column("kind"), column("engine"), column("CPU s", 1), column("s", 1), column("same bytes")]
    corpora = {kind: corpus_of(kind, given.folder, given.names) for kind in given.kinds}
    for kind, corpus in corpora.items():
        rows.append([kind, "DuckDB", *measured(clock, partial(train, kind, corpus, given.work / kind, force=True)), ""])
    for name, engine in ENGINES.items():
        with engine(given.master, {"spark.sql.shuffle.partitions": given.shuffle}) as opened:
            rows.append(["(start)", name, *measured(clock, lambda opened=opened: opened.session), ""])
            for kind, corpus in corpora.items():
                there = given.work / f"{kind}-there"
                work = partial(train, kind, corpus, there, force=True, engine=opened, report=print)
                rows.append([kind, name, *measured(clock, work), _same(given.work / kind, there)])
                print(rows, flush=True)
                record(given.json, columns, rows)
                shutil.rmtree(there)
    shutil.rmtree(given.work)


def _same(here, there):
    files = ("rules.parquet", "rules.table")
    same = [file for file in files if (here / file).read_bytes() == (there / file).read_bytes()]
    assert same == list(files), same
    return " and ".join(same)


if __name__ == "__main__":
    main()
