"""Commands in shards on the machines of an engine; here they are one after the other on this one."""

import errno
import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from sharded import CASES, SENTENCES, prepare, remarks

from treeglot import TreeglotError
from treeglot.base.shards import in_shards, join, run_shard, shards_of
from treeglot.cli import main
from treeglot.rules.engines import DuckDB

pytestmark = pytest.mark.filterwarnings("ignore")  # too little text for the language model's discounts


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("machines")
    prepare(folder)
    return folder


class Elsewhere(DuckDB):
    """An engine whose work is pickled, as it must be to reach another machine, and whose tasks may fail."""

    at_once = 1
    fails = -1
    before: Callable[[], object] = staticmethod(lambda: None)
    tasks: list[int]

    def map(self, function, shared, items):  # type: ignore[no-untyped-def]
        type(self).tasks = []
        found = []
        self.before()
        for item in items:
            if item.number == self.fails:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "part")
            self.tasks.append(item.number)
            found.append(function(*pickle.loads(pickle.dumps((shared, item)))))
        return found

    def calls_at_once(self) -> int:
        return self.at_once


@pytest.fixture(autouse=True)
def engine(folder: Path, monkeypatch: pytest.MonkeyPatch) -> type[Elsewhere]:
    monkeypatch.setattr("treeglot.base.shards.RECORDS", 7)
    monkeypatch.setattr("treeglot.tune.elsewhere.SENTENCES", 7)
    monkeypatch.setattr("treeglot.lm.train.BLOCK", 100)
    chunks = [b"".join(list((folder / "train.en").open("rb"))[begin::3]) for begin in range(3)]
    monkeypatch.setattr("treeglot.lm.text.read_chunks", lambda path: iter(chunks))
    made = type("Engine", (Elsewhere,), {})
    monkeypatch.setattr("treeglot.rules.engines.open_engine", _opening(made))
    monkeypatch.chdir(folder)
    return made


def _opening(made):  # type: ignore[no-untyped-def]
    return lambda name, *given: nullcontext(made() if name == "spark" else None)


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("case", CASES)
def test_shards_give_the_bytes_and_the_remarks_of_one_run(
    case: str, tmp_path: Path, engine: type[Elsewhere], capsys: pytest.CaptureFixture[str]
) -> None:
    said = []
    for place, more in (("one", []), ("many", ["--engine", "spark"])):
        (tmp_path / place).mkdir()
        capsys.readouterr()
        assert main([*CASES[case], "--out", str(tmp_path / place / "out"), *more]) == 0
        said.append(remarks(capsys.readouterr().err))
    assert (tmp_path / "many" / "out").read_bytes() == (tmp_path / "one" / "out").read_bytes()
    assert len((tmp_path / "one" / "out").read_bytes()) > 100
    assert said[1] == said[0]
    assert names(tmp_path / "many") == ["out"]
    assert len(engine.tasks) == 3


def test_tasks_do_not_read_the_input(tmp_path: Path, engine: type[Elsewhere]) -> None:
    source = tmp_path / "text.zh"
    source.write_bytes(Path("good.zh").read_bytes())
    engine.before = staticmethod(source.unlink)
    given = ["translate", "model", str(source), "--out", str(tmp_path / "out"), "--engine", "spark"]
    assert main(given) == 0
    assert main([*CASES["translate"], "--out", str(tmp_path / "one")]) == 0
    assert (tmp_path / "out").read_bytes() == (tmp_path / "one").read_bytes()


def test_compressed_output_has_the_same_bytes(tmp_path: Path) -> None:
    for out, more in (("one.gz", []), ("many.gz", ["--engine", "spark"])):
        assert main([*CASES["translate"], "--out", str(tmp_path / out), *more]) == 0
    assert (tmp_path / "many.gz").read_bytes() == (tmp_path / "one.gz").read_bytes()


@pytest.mark.parametrize("more", [[], ["--hopes", "3", "--method", "mira"]])
def test_tuning_in_shards_leaves_the_files_of_one_run(
    more: list[str], tmp_path: Path, engine: type[Elsewhere], capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["tune", "model", "--dev", "good.zh", "--refs", "good.en", "--iterations", "2", "--kbest", "9", "--keep"]
    said = []
    for place, where in (("one", []), ("many", ["--engine", "spark"])):
        capsys.readouterr()
        assert main([*given, *more, "--run", str(tmp_path / place), *where]) == 0
        said.append(capsys.readouterr().err.replace(str(tmp_path / place), "run"))
    one, many = ({path.name: path.read_bytes() for path in (tmp_path / place).iterdir()} for place in ("one", "many"))
    assert many == one
    assert "02.kbest" in one
    assert said[1] == said[0]
    assert len(engine.tasks) == 3


def test_bad_records_are_named_by_their_place_in_the_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for out, more in (("one", []), ("many", ["--engine", "spark"])):
        capsys.readouterr()
        assert main(["translate", "model", "bad.zh", "--markup", "--out", str(tmp_path / out), *more]) == 1
        said.append(remarks(capsys.readouterr().err))
    assert [line[:18] for line in said[0]] == ["warning: bad.zh:13", "error: 1 of 20 inp"]
    assert said[1] == said[0]
    assert (tmp_path / "many").read_bytes() == (tmp_path / "one").read_bytes()


def test_a_failed_task_keeps_the_finished_parts(
    tmp_path: Path, engine: type[Elsewhere], capsys: pytest.CaptureFixture[str]
) -> None:
    given = [*CASES["translate"], "--out", str(tmp_path / "out"), "--engine", "spark"]
    engine.fails = 2
    assert main(given) == 1
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "2 parts are finished; the same command continues with them",
        "error: part: No space left on device",
    ]
    assert names(tmp_path) == [".out.parts"]
    engine.fails = -1
    made = []
    work = run_shard

    def counted(shared, item):  # type: ignore[no-untyped-def]
        before = (shared.folder / f"{item.number:06}.json").exists()
        made.append((item.number, before))
        return work(shared, item)

    engine.map = lambda self, function, shared, items: [counted(shared, item) for item in items]  # type: ignore[method-assign]
    assert main(given) == 0
    assert made == [(2, False)]
    assert "2 of 3 parts are from an earlier run" in capsys.readouterr().err
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out").read_bytes().count(b"\n") == SENTENCES


class Echo:
    """Writes the records as they are; it says which were before them, and with how many threads."""

    def __init__(self, name: str = "") -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Echo({self.name})"

    def open(self) -> None:
        return None

    def run(self, opened, records, first, threads, part):  # type: ignore[no-untyped-def]
        part.write_bytes(b"".join(records))
        return {"first": first, "threads": threads}


def test_tasks_of_a_machine_share_its_threads(tmp_path: Path) -> None:
    machines = Elsewhere()
    machines.__class__ = type("Four", (Elsewhere,), {"at_once": 4})
    for threads, each in ((8, 2), (3, 1)):
        with in_shards(Echo(), [([b"a"], 5), ([b"b"], 1)], tmp_path / "out", machines, threads=threads) as parts:
            assert [part.facts for part in parts] == [
                {"first": 0, "threads": each},
                {"first": 5, "threads": each},
            ]
            join(parts, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"ab"


def test_parts_of_another_job_or_of_other_records_are_made_again(tmp_path: Path) -> None:
    def run(job: Echo, records: list[bytes], key: str = "", fails: int = 3) -> tuple[bytes, list[str]]:
        said: list[str] = []
        machines = Elsewhere()
        machines.__class__ = type("Failing", (Elsewhere,), {"fails": fails})
        try:
            with in_shards(
                job, shards_of(records, 1), tmp_path / "out", machines, key=key, report=said.append
            ) as parts:
                return b"".join(part.path.read_bytes() for part in parts), said
        except OSError:
            return b"", said

    def stops() -> None:
        assert run(Echo(), [b"a", b"b", b"c", b"d"])[0] == b""

    again = "3 of 4 parts are from an earlier run"
    stops()
    assert run(Echo(), [b"a", b"b", b"c", b"d"], fails=-1) == (b"abcd", [again])
    assert not list(tmp_path.iterdir())
    stops()
    assert run(Echo("other"), [b"a", b"b", b"c", b"d"], fails=-1) == (b"abcd", [])
    stops()
    assert run(Echo(), [b"a", b"b", b"c", b"d"], "other model", fails=-1) == (b"abcd", [])
    stops()
    assert run(Echo(), [b"a", b"x", b"c"], fails=-1) == (b"axc", ["2 of 3 parts are from an earlier run"])
    stops()
    (tmp_path / ".out.parts" / "000001.part").write_bytes(b"damaged")
    assert run(Echo(), [b"a", b"b", b"c", b"d"], fails=-1) == (b"abcd", ["2 of 4 parts are from an earlier run"])


def test_what_one_machine_does_not_see_is_named(tmp_path: Path) -> None:
    class Blind(Elsewhere):
        def map(self, function, shared, items):  # type: ignore[no-untyped-def]
            self.change(shared, items[0])
            made = super().map(function, shared, items)
            self.change_parts(shared)
            return made

        def change(self, shared, item) -> None:  # type: ignore[no-untyped-def]
            pass

        def change_parts(self, shared) -> None:  # type: ignore[no-untyped-def]
            pass

    def run(**changes: object) -> None:
        machines = Elsewhere()
        machines.__class__ = type("Changed", (Blind,), changes)
        with in_shards(Echo(), [([b"a"], 1)], tmp_path / "out", machines):
            pass

    unseen = r"No such file or directory; expected a folder that all machines see under the same path"
    with pytest.raises(TreeglotError, match=rf"000000.shard: {unseen}"):
        run(change=lambda self, shared, item: item.file(shared.folder).unlink())
    with pytest.raises(TreeglotError, match=r"000000.shard: is not what was written; expected the same file"):
        run(change=lambda self, shared, item: item.file(shared.folder).write_bytes(b""))
    with pytest.raises(TreeglotError, match=rf"000000.part: {unseen}"):
        run(change_parts=lambda self, shared: (shared.folder / "000000.part").unlink())
    with pytest.raises(TreeglotError, match=r"000000.part: is not what a task wrote; expected the same file"):
        run(change_parts=lambda self, shared: (shared.folder / "000000.part").write_bytes(b"b"))


def test_a_bad_record_leaves_nothing_but_finished_parts(tmp_path: Path) -> None:
    def bad() -> Iterator[tuple[list[bytes], int]]:
        yield [b"a"], 1
        raise TreeglotError("text:2: is bad")

    def run(shards: Iterable[tuple[list[bytes], int]], fails: int = -1) -> None:
        machines = Elsewhere()
        machines.__class__ = type("Failing", (Elsewhere,), {"fails": fails})
        with in_shards(Echo(), shards, tmp_path / "out", machines):
            pass

    with pytest.raises(TreeglotError, match="text:2: is bad"):
        run(bad())
    assert not list(tmp_path.iterdir())
    with pytest.raises(OSError, match="No space left"):
        run([([b"a"], 1), ([b"b"], 1)], fails=1)
    with pytest.raises(TreeglotError, match="text:2: is bad"):
        run(bad())
    assert sorted(names(tmp_path / ".out.parts")) == ["000000.json", "000000.part", "000000.shard", "000001.shard"]


def test_finished_parts_alone_need_no_machines(tmp_path: Path) -> None:
    class Never(Elsewhere):
        def calls_at_once(self) -> int:
            raise AssertionError

    shards = [([b"a"], 1), ([b"b"], 1)]
    with pytest.raises(KeyError), in_shards(Echo(), shards, tmp_path / "out", Elsewhere()):
        raise KeyError
    with in_shards(Echo(), shards, tmp_path / "out", Never()) as parts:
        join(parts, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"ab"


def test_only_one_run_writes_an_output(tmp_path: Path) -> None:
    with (
        in_shards(Echo(), [], tmp_path / "out", Elsewhere()),
        pytest.raises(TreeglotError, match=r"another run writes .*out; expected one at a time"),
        in_shards(Echo(), [], tmp_path / "out", Elsewhere()),
    ):
        pass


def test_an_input_without_lines(tmp_path: Path) -> None:
    (tmp_path / "none.zh").write_text("")
    given = ["translate", "model", str(tmp_path / "none.zh"), "--out", str(tmp_path / "out")]
    assert main([*given, "--engine", "spark"]) == 0
    assert (tmp_path / "out").read_bytes() == b""


@pytest.mark.parametrize(
    ("case", "more", "problem"),
    [
        ("translate", ["--html", "page"], "--html is not for --engine spark, which writes one file in shards"),
        ("translate", ["--resume"], "--resume is not for --engine spark"),
        ("translate", ["--document"], "--document is not for --engine spark"),
        ("translate", ["--out", "-"], "--engine spark keeps parts beside the output; expected --out FILE, not -"),
        ("align", ["--lexicon", "words"], "--lexicon is not for --engine spark"),
        ("align", ["--update"], "--update is not for --engine spark"),
        ("parse", ["--report", "table"], "--report is not for --engine spark"),
    ],
)
def test_what_shards_cannot_do(
    case: str, more: list[str], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*CASES[case], "--out", str(tmp_path / "out"), *more, "--engine", "spark"]) == 2
    assert problem in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_alignment_in_shards_needs_an_aligner(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["align", "good.zh", "good.en", "--out", str(tmp_path / "out"), "--engine", "spark"]) == 2
    assert "--engine spark aligns with a saved aligner; expected --model" in capsys.readouterr().err
