"""The Spark engine: the bytes that DuckDB gives, also when an executor dies, and its errors."""

import os
import re
import socket
import stat
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from sharded import CASES, prepare

from treeglot import TreeglotError, UsageError, sample
from treeglot.cli import main
from treeglot.corpus import Corpus
from treeglot.models import train
from treeglot.models.kinds import find_kind
from treeglot.rules import spark as rules_spark
from treeglot.rules.engines import open_engine
from treeglot.rules.spark import Spark, check_java, check_master

FEW = {"spark.sql.shuffle.partitions": "2", "spark.task.maxFailures": "2"}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    sample.write_corpus(folder, 60)
    return folder


def files(folder: Path, *more: str) -> Corpus:
    known = {"source_trees": "train.zh.tree", "target_trees": "train.en.tree"}
    given = {name: folder / known[name] for name in more}
    text = {"source": folder / "train.zh", "target": folder / "train.en", "alignments": folder / "train.align"}
    return Corpus(**text, **given)


class Mortal(Spark):
    """An engine one of whose executors is killed in the middle of each map, unless it is spared."""

    spared = False

    def map(self, function, shared, items):
        if self.spared:
            return super().map(function, shared, items)
        trace = Path(shared.folder) / f"killed-{function.__name__}"

        def killing(shared, item):
            import os
            import signal
            from pathlib import Path

            if item.number == 1 and not trace.exists():
                trace.touch()
                daemon = os.getppid()
                executor = int(Path(f"/proc/{daemon}/stat").read_text().rpartition(")")[2].split()[1])
                os.kill(executor, signal.SIGKILL)
            return function(shared, item)

        found = super().map(killing, shared, items)
        assert trace.exists()
        return found


@pytest.fixture(scope="module")
def java() -> None:
    """Java is not a Python package: without it the test is passed over, but not in CI."""
    try:
        check_java()
    except UsageError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def cluster(java: None) -> Iterator[Mortal]:
    """One session for all tests: it takes seconds to start."""
    with Mortal("local-cluster[2,2,1024]", FEW) as engine:
        yield engine


@pytest.mark.filterwarnings("ignore")  # too little text for the language model's discounts
def test_a_cluster_gives_the_bytes_of_one_machine_when_an_executor_dies(
    corpus: Path, tmp_path: Path, cluster: Mortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treeglot.rules.parts.PAIRS", 20)
    monkeypatch.setattr("treeglot.rules.table_shards.SHARD", 4000)
    assert cluster.calls_at_once() == 2
    options = find_kind("t2t-fuzzy").options(lm_order=2)
    given = files(corpus, "source_trees", "target_trees")
    train("t2t-fuzzy", given, tmp_path / "here", options)
    there = tmp_path / "ä {b}[c] %20" / "there"
    there.parent.mkdir()
    train("t2t-fuzzy", given, there, options, engine=cluster)
    for name in ("rules.parquet", "rules.table", "lm.bin"):
        assert (tmp_path / "here" / name).read_bytes() == (there / name).read_bytes(), name
    assert not list(tmp_path.glob(".*")) and not list(there.parent.glob(".*"))


@pytest.mark.filterwarnings("ignore")
def test_commands_on_a_cluster_give_the_bytes_of_one_machine(
    tmp_path: Path, cluster: Mortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treeglot.base.shards.RECORDS", 7)
    monkeypatch.setattr("treeglot.tune.elsewhere.SENTENCES", 7)
    monkeypatch.setattr("treeglot.lm.train.BLOCK", 1)
    monkeypatch.setattr(
        "treeglot.rules.engines.open_engine",
        lambda name, *given: nullcontext(cluster if name == "spark" else None),
    )
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    for case in ("translate", "align", "parse", "lm"):
        monkeypatch.setattr(cluster, "spared", case != "translate")
        for out, more in (("one", []), ("many", ["--engine", "spark"])):
            assert main([*CASES[case], "-q", "--out", f"{case}.{out}", *more]) == 0
        assert Path(f"{case}.many").read_bytes() == Path(f"{case}.one").read_bytes(), case
    given = ["tune", "model", "--dev", "good.zh", "--refs", "good.en", "--iterations", "1", "--kbest", "9", "--keep"]
    for run, more in (("one", []), ("many", ["--engine", "spark"])):
        assert main([*given, "-q", "--run", run, *more]) == 0
    one, many = ({path.name: path.read_bytes() for path in Path(run).iterdir()} for run in ("one", "many"))
    assert many == one


@pytest.mark.filterwarnings("ignore")  # Spark's own, of the future
def test_tasks_and_their_errors(cluster: Mortal) -> None:
    def partition(shared, item):
        from pyspark import TaskContext

        return TaskContext.get().partitionId()

    assert len(set(Spark.map(cluster, partition, None, range(9)))) == 9  # hashes would put two into one
    # What one executor cannot read, and a disk that is full there.
    with pytest.raises(TreeglotError, match=r"^\[Errno 2\] No such file or directory: '/none' \(on .+\)$"):
        Spark.map(cluster, lambda shared, item: Path("/none").read_bytes(), None, [1, 2])

    def full(shared, item):
        raise OSError(28, "No space left on device", "counts")

    with pytest.raises(TreeglotError, match=r"^\[Errno 28\] No space left on device: 'counts' \(on .+\)$"):
        Spark.map(cluster, full, None, [1])
    with pytest.raises(TreeglotError, match=r"^running tasks: ValueError: invalid literal for int\(\) .*: 'x'$"):
        Spark.map(cluster, lambda shared, item: int("x"), None, [1])


@pytest.mark.parametrize(
    ("master", "settings", "calls"),
    [
        ("local", {}, 1),
        ("local[3]", {}, 3),
        ("local[6,4]", {"spark.task.cpus": "2"}, 3),
        ("local[*]", {}, os.cpu_count()),
        ("yarn", {}, 1),
        ("yarn", {"spark.executor.cores": "5"}, 5),
        ("spark://a:7077", {"spark.executor.cores": "5", "spark.task.cpus": "2"}, 2),
        ("k8s://https://a", {"spark.executor.cores": "1", "spark.task.cpus": "2"}, 1),
    ],
)
def test_tasks_that_an_executor_runs_at_once(master: str, settings: dict[str, str], calls: int) -> None:
    context = SimpleNamespace(getConf=lambda: settings)
    assert Spark(master, _session=SimpleNamespace(sparkContext=context)).calls_at_once() == calls


def fake_java(folder: Path, text: str) -> None:
    (folder / "bin").mkdir()
    java = folder / "bin" / "java"
    java.write_text(f"#!/bin/sh\n{text}\n")
    java.chmod(java.stat().st_mode | stat.S_IXUSR)


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        (
            "echo 'openjdk version \"11.0.22\" 2024-01-16' >&2",
            r"bin/java is Java 11; install Java 17 or newer",
        ),
        ("echo 'java version \"1.8.0_392\"' >&2", "bin/java is Java 8; install Java 17"),
        ("echo no >&2; exit 1", "bin/java -version does not say a version; install Java 17"),
    ],
)
def test_an_old_java_is_named(script: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(tmp_path, script)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(UsageError, match=problem):
        check_java()


def test_a_missing_java_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(UsageError, match=r"JAVA_HOME is .*, which has no bin/java; install Java 17 or newer"):
        check_java()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="there is no java on the PATH; install Java 17 or newer"):
        check_java()


@pytest.mark.parametrize("missing", ["pyspark", "pandas"])
def test_missing_packages_are_named(
    missing: str, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    there = rules_spark.find_spec
    monkeypatch.setattr(rules_spark, "find_spec", lambda name: None if name == missing else there(name))
    arguments = [f"--{name}={path}" for name, path in files(corpus).given().items()]
    assert main(["train", "hiero", *arguments, "-o", str(tmp_path / "model"), "--engine", "spark"]) == 2
    assert f"--engine spark: there is no {missing}; install treeglot[spark]" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_master_that_does_not_answer_is_named_before_the_work(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake_java(tmp_path, "echo 'openjdk version \"21.0.1\"' >&2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = [f"--{name}={path}" for name, path in files(corpus).given().items()]
    arguments += ["-o", str(tmp_path / "model"), "--engine", "spark", "--master", f"spark://127.0.0.1:{port}"]
    assert main(["train", "hiero", *arguments]) == 1
    said = capsys.readouterr().err
    assert f"the Spark master spark://127.0.0.1:{port} cannot be reached (127.0.0.1:{port}: Connection refused)" in said
    assert [path.name for path in tmp_path.iterdir()] == ["bin"]


@pytest.mark.parametrize("master", ["spark://moon", "moon", "local[two]", "local-cluster[2,1]", "k8s://", "yarn2"])
def test_what_is_no_master_is_refused(master: str) -> None:
    with pytest.raises(
        UsageError, match=rf"--master is '{re.escape(master)}'; expected local\[N\], spark://HOST:PORT,"
    ):
        check_master(master)


@pytest.mark.parametrize(
    "master", ["local", "local[*]", "local[2,3]", "local-cluster[2,1,1024]", "yarn", "k8s://https://a"]
)
def test_masters_that_cannot_be_asked(master: str) -> None:
    check_master(master)


def test_masters_are_for_spark() -> None:
    with pytest.raises(UsageError, match="--master is for --engine spark"), open_engine("duckdb", "local[2]", 1):
        pass
