"""Runs scoring and extraction on a cluster with Apache Spark. Only this file uses pyspark."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from treeglot.base.errors import TreeglotError, UsageError
from treeglot.base.shards import R, S, T
from treeglot.rules.columns import reading
from treeglot.rules.engines import Statement, unread

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

JAVA = 17  # the oldest that Spark 4 runs on
INSTALL_JAVA = "install Java 17 or newer (Debian: openjdk-17-jre-headless), or set JAVA_HOME"
INSTALL_PYSPARK = "install treeglot[spark]"
MASTERS = "local[N], spark://HOST:PORT, yarn or k8s://URL"
REACH = 10.0  # seconds to wait for a master


@dataclass
class Spark:
    """Runs queries and functions on a Spark cluster. All machines must see the files under the same paths.

    The session starts when it is first needed, and `close` ends it.
    """

    master: str = "local[1]"
    settings: Mapping[str, str] = field(default_factory=dict)
    _session: SparkSession | None = field(default=None, repr=False)

    def __enter__(self) -> Spark:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def session(self) -> SparkSession:
        """The Spark session. To start it, pyspark, Java and the master are needed."""
        if self._session is None:
            self.check()
            self._session = self._start()
        return self._session

    def check(self) -> None:
        """Raise an error if pyspark, Java or the master is missing. This check runs before the work begins."""
        check_pyspark()
        check_java()
        check_master(self.master)

    def close(self) -> None:
        """End the Spark session, if it has started."""
        if self._session is not None:
            self._session.stop()
            self._session = None

    def run(self, files: Mapping[str, Sequence[Path]], statements: Sequence[Statement]) -> Iterator[pa.RecordBatch]:
        """Run statements, and yield the rows of the last one.

        Each statement writes its rows to files, and later statements read them. So Spark can delete its earlier
        shuffles, which it would have to keep for a persisted frame. The rows of a statement are deleted when no later
        statement reads them.
        """
        import pyarrow.parquet as pq

        session = self.session
        first = next(path for paths in files.values() for path in paths)
        folder = first.resolve().parent / ".spark"
        shutil.rmtree(folder, ignore_errors=True)  # of a run that was killed
        alive = []
        try:
            with self._naming_errors("scoring the rules"):
                for name, paths in files.items():
                    session.read.parquet(*(_path(path) for path in paths)).createOrReplaceTempView(name)
                for i, statement in enumerate(statements):
                    rows = folder / statement.name
                    session.sql(statement.sql).write.parquet(f"file:{rows}", compression="zstd")
                    session.read.parquet(_path(rows)).createOrReplaceTempView(statement.name)
                    alive.append(statement.name)
                    for name in unread(alive[:-1], statements[i + 1 :]):
                        session.catalog.dropTempView(name)
                        shutil.rmtree(folder / name, ignore_errors=True)  # what is left goes at the end
                        alive.remove(name)
                    cast("Any", session.sparkContext._jvm).System.gc()  # Spark deletes shuffles that nothing refers to
            for path in sorted(folder.glob(f"{statements[-1].name}/part-*.parquet")):
                with reading(path), pq.ParquetFile(path) as file:
                    yield from file.iter_batches()
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def map(self, function: Callable[[S, T], R], shared: S, items: Sequence[T]) -> list[R]:
        """Return the values of `function(shared, item)` for each item, in order. Each item is a task."""
        session = self.session
        with self._naming_errors("running tasks"):
            given = session.sparkContext.broadcast((shared, list(items)))
            frame = session.range(0, len(items), 1, max(1, len(items)))  # one number in each partition
            rows = frame.mapInArrow(partial(_call, function, given), "item long, error string, value binary").collect()
            given.unpersist()
        found = {row["item"]: row for row in rows}
        for i in range(len(items)):
            if found[i]["error"]:
                raise TreeglotError(found[i]["error"])
        return [pickle.loads(found[i]["value"]) for i in range(len(items))]

    def calls_at_once(self) -> int:
        """Return the number of tasks that run at once in an executor: its cores divided by the cores of a task."""
        conf = self.session.sparkContext.getConf()
        cores = int(conf.get("spark.executor.cores", "0")) or self._executor_cores()
        return max(1, cores // int(conf.get("spark.task.cpus", "1")))

    def _executor_cores(self) -> int:
        """Find the number of cores of an executor if no setting gives it."""
        context = self.session.sparkContext
        if local := re.fullmatch(r"local(?:\[(\d+|\*)(?:,\d+)?\])?", self.master):
            return (os.cpu_count() or 1) if local[1] == "*" else int(local[1] or 1)
        if not self.master.startswith(("spark:", "local-cluster")):
            return 1  # Spark's default on YARN and Kubernetes
        with self._naming_errors("asking Spark for its executors"):
            self.session.range(1).count()  # waits for the first executor
            others = len(context._jsc.sc().statusTracker().getExecutorInfos()) - 1  # without the driver
        return -(-context.defaultParallelism // max(1, others))

    def _start(self) -> SparkSession:
        import pyspark
        from pyspark.sql import SparkSession

        import treeglot

        package = str(Path(treeglot.__file__).parent.parent)
        path = os.pathsep.join(dict.fromkeys([package, *filter(None, [os.environ.get("PYTHONPATH")])]))
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))  # for workers of local-cluster
        settings = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.executorEnv.PYTHONPATH": path,
            "spark.log.level": "ERROR",
            "spark.io.compression.codec": "zstd",  # smaller than Spark's lz4: disk is what runs out first
            **self.settings,
        }
        builder = SparkSession.builder.master(self.master).appName("treeglot")
        for name, value in settings.items():
            builder = builder.config(name, value)
        with self._naming_errors(f"starting Spark on {self.master}"):
            return builder.getOrCreate()

    @contextmanager
    def _naming_errors(self, what: str) -> Iterator[None]:
        """During a block, reduce errors of Spark to one line, because users cannot use the stack of the JVM."""
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        try:
            yield
        except (PySparkException, Py4JError, ConnectionError) as error:
            raise TreeglotError(f"{what}: {said(str(error), self.master)}") from error


def _call(function: Callable[[Any, Any], Any], given: Any, batches: Iterator[pa.RecordBatch]) -> Iterator[Any]:
    """Call the function on an executor, and yield its values.

    User errors are returned as values, because no retry fixes them.
    """
    import pyarrow as pa

    shared, items = given.value
    for batch in batches:
        for number in batch.column("id").to_pylist():
            error, value = "", b""
            try:
                value = pickle.dumps(function(shared, items[number]))
            except (TreeglotError, OSError) as problem:
                error = f"{problem} (on {socket.gethostname()})"
            yield pa.RecordBatch.from_pydict({"item": [number], "error": [error], "value": [value]})


def said(text: str, master: str) -> str:
    """Return the part of a message of Spark that names the problem.

    >>> said("x\\nModuleNotFoundError: No module named 'treeglot'\\nat y", "yarn")
    'the executors cannot import treeglot; install it on all machines of yarn'
    >>> said("[JAVA_GATEWAY_EXITED] Java gateway process exited before sending its port number.", "yarn")
    'Java ended at once; its own message is above'
    >>> said("x:\\nTraceback (most recent call last):\\n  File y\\nValueError: no\\n\\n\\tat org.z", "yarn")
    'ValueError: no'
    >>> said("Job aborted.\\nCaused by: java.io.IOException: No space left on device\\n", "yarn")
    'No space left on device, where the parts are or in spark.local.dir'
    """
    if missing := re.findall(r"No module named '([\w.]+)'", text):
        return f"the executors cannot import {missing[-1]}; install it on all machines of {master}"
    if "JAVA_GATEWAY_EXITED" in text:
        return "Java ended at once; its own message is above"
    python, _, _ = text.partition("\n\tat ")  # the traceback of an executor comes before that of the JVM
    if "Traceback (most recent call last)" in python:
        return [line for line in python.splitlines() if re.match(r"[\w.]+: ", line)][-1]
    causes = re.findall(r"Caused by: [\w.$]+: (.+)", text)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not re.match(r"\s*(at |:)", line)]
    found = causes[-1] if causes else next(iter(lines), "Spark ended without a word")
    if found.endswith("No space left on device"):
        found += ", where the parts are or in spark.local.dir"
    return re.sub(r"^([\w.$]+(Exception|Error): )+", "", found)


def check_pyspark() -> None:
    """Raise an error if pyspark or one of its dependencies is missing."""
    for name in ("pyspark", "pandas"):
        if find_spec(name) is None:
            raise UsageError(f"--engine spark: there is no {name}; {INSTALL_PYSPARK}")


def check_java() -> None:
    """Raise an error if Java is missing or too old."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if java is None or not Path(java).is_file():
        where = f"JAVA_HOME is {home}, which has no bin/java" if home else "there is no java on the PATH"
        raise UsageError(f"--engine spark: {where}; {INSTALL_JAVA}")
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    found = re.search(r'version "(?:1\.)?(\d+)', told.stderr + told.stdout)
    if told.returncode or found is None:
        raise UsageError(f"--engine spark: {java} -version does not say a version; {INSTALL_JAVA}")
    if int(found[1]) < JAVA:
        raise UsageError(f"--engine spark: {java} is Java {found[1]}; {INSTALL_JAVA}")


def check_master(master: str) -> None:
    """Refuse a master that is invalid, or a standalone master that does not answer. Spark would retry for minutes."""
    if not re.fullmatch(r"local(\[[\d*]+(,\d+)?\])?|local-cluster\[\d+,\d+,\d+\]|spark://.*|k8s://.+|yarn", master):
        raise UsageError(f"--master is {master!r}; expected {MASTERS}")
    if not master.startswith("spark://"):
        return
    problems = []
    for place in master.removeprefix("spark://").split(","):
        host, colon, port = place.rpartition(":")
        if not (host and colon and port.isdigit()):
            raise UsageError(f"--master is {master!r}; expected {MASTERS}")
        try:
            socket.create_connection((host, int(port)), REACH).close()
            return
        except OSError as error:
            problems.append(f"{place}: {error.strerror or error}")
    raise TreeglotError(f"the Spark master {master} cannot be reached ({'; '.join(problems)})")


def _path(path: Path) -> str:
    """Return a path in the form that Spark reads, with pattern characters escaped.

    URIs need no quoting, because Spark uses them unchanged.
    """
    return "file:" + re.sub(r"([\\{}\[\]*?])", r"\\\1", str(path.resolve()))
