"""Steps: keys, what is made again and what is not, kills, changes, two runs at once."""

import errno
import importlib
import json
import os
import pickle
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from multiprocessing import Pipe
from pathlib import Path
from types import ModuleType
from typing import IO, cast

import pytest

from treeglot.base.errors import FormatError, TreeglotError, UsageError
from treeglot.base.files import write_binary
from treeglot.base.program import code_digest, program
from treeglot.experiment import Pipeline
from treeglot.experiment.making import Digests, Making, make
from treeglot.experiment.pipeline import Planned, Watcher, _share
from treeglot.experiment.step import Identity, Means, Output, Step, Task
from treeglot.experiment.workers import FAILED, MADE, ROUNDS, SAID, Workers
from treeglot.models.train import network_state, parts_folder
from treeglot.rules.engines import Engine


class Log(Watcher):
    def __init__(self) -> None:
        self.ran: list[str] = []

    def started(self, planned: Planned) -> None:
        self.ran.append(planned.step.name)


def double(task: Task) -> None:
    (task.out / "out").write_text(task.inputs["text"].read_text() * 2)


def steps(file: Path, letter: str = "a") -> list[Step]:
    def letters(task: Task) -> None:
        (task.out / "out").write_text(task.inputs["text"].read_text() + letter)

    return [
        Step("letters", letters, {"text": file}, {"letter": letter}),
        Step("twice", double, {"text": Output("letters", "out")}),
        Step("other", double, {"text": file}),
    ]


def run(pipeline: Pipeline) -> list[str]:
    log = Log()
    pipeline.run(watcher=log)
    return log.ran


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "in.txt"
    path.write_text("x")
    return path


def test_only_what_is_missing_runs(tmp_path: Path, file: Path) -> None:
    pipeline = Pipeline(steps(file), tmp_path / "work")
    assert run(pipeline) == ["letters", "twice", "other"]
    twice = pipeline.plan()[1]
    assert (twice.folder / "out").read_text() == "xaxa"
    assert run(pipeline) == []
    assert all(planned.done for planned in pipeline.plan())
    assert set(pipeline.timings()) == {planned.key for planned in pipeline.plan()}


@pytest.mark.parametrize("content", ["5", "[]", "{", "[" * 100_000, 5000 * "9", "\xff"])
def test_damaged_timings_are_passed_over(tmp_path: Path, file: Path, content: str) -> None:
    pipeline = Pipeline(steps(file), tmp_path / "work")
    (tmp_path / "work").mkdir()
    (tmp_path / "work/timings.json").write_text(content, encoding="latin-1")
    assert pipeline.timings() == {}
    assert run(pipeline) == ["letters", "twice", "other"]


def test_a_setting_or_a_file_that_changes_has_results_of_its_own(tmp_path: Path, file: Path) -> None:
    first = Pipeline(steps(file), tmp_path / "work")
    run(first)
    second = Pipeline(steps(file, "b"), tmp_path / "work")
    plan = second.plan()
    assert [planned.reason for planned in plan] == ['letter was "a"', "text changed", ""]
    assert run(second) == ["letters", "twice"]
    assert all(planned.done for planned in first.plan())  # the old results are there as they were
    file.write_text("y" * 9)
    assert run(second) == ["letters", "twice", "other"]
    file.write_text("x")
    assert run(second) == []  # the content counts, not the time
    before = file.stat()
    file.write_text("y")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))  # the same size and time, as `cp -p` may leave
    assert run(second) == ["letters", "twice", "other"]


def test_a_killed_run_loses_nothing_and_gives_the_same_bytes(tmp_path: Path, file: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, time\n"
        "from pathlib import Path\n"
        "from treeglot.experiment import Pipeline\n"
        "from treeglot.experiment.step import Output, Step\n"
        "def slow(task):\n"
        "    with (task.out / 'out').open('w') as stream:\n"
        "        for n in range(20):\n"
        "            stream.write(task.inputs['text'].read_text() + str(n)); stream.flush(); time.sleep(0.01)\n"
        "given = Path(sys.argv[1])\n"
        "steps = []\n"
        "for n in range(4):\n"
        "    steps.append(Step(f's{n}', slow, {'text': given}))\n"
        "    given = Output(f's{n}', 'out')\n"
        "Pipeline(steps, sys.argv[2]).run()\n"
    )

    full, broken = tmp_path / "full", tmp_path / "broken"
    command = [sys.executable, str(program), str(file)]
    subprocess.run([*command, str(full)], check=True)
    made: dict[str, int] = {}
    for kill in range(6):
        process = subprocess.Popen([*command, str(broken)])
        time.sleep(0.25 + 0.13 * kill)
        process.send_signal(signal.SIGKILL)
        process.wait()
        now = {str(p): p.stat().st_mtime_ns for p in broken.glob("s*/out")}
        assert all(now[path] == stamp for path, stamp in made.items())  # what had finished did not run again
        made = now
    subprocess.run([*command, str(broken)], check=True)
    assert whole(broken) == whole(full)


def test_what_was_measured_is_kept_of_every_finished_step(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline = Pipeline(steps(file), tmp_path / "work")

    def ended(folder: Path) -> None:
        raise TreeglotError("killed")

    monkeypatch.setattr("treeglot.experiment.pipeline._sync", ended)  # when the first folder has its name
    with pytest.raises(TreeglotError, match="killed"):
        run(pipeline)
    first = pipeline.plan()[0]
    assert first.done
    assert first.key in pipeline.timings()


def test_a_step_that_resumes_finds_what_it_left(tmp_path: Path, file: Path) -> None:
    def half(task: Task) -> None:
        first = task.out / "first"
        if not first.exists():
            first.write_text("1")
            (task.out / ".first.part").write_text("half of it")
            (task.out / ".scratch").mkdir()
            (task.out / ".scratch" / ".more").touch()
            raise TreeglotError("killed")
        (task.out / "out").write_text(first.read_text() + "2")

    resuming = Pipeline([Step("half", half, {}, resumes=True)], tmp_path / "a")
    with pytest.raises(TreeglotError, match="killed"):
        resuming.run()
    assert resuming.plan()[0].reason == "an earlier run did not end it"
    resuming.run()
    assert (resuming.plan()[0].folder / "out").read_text() == "12"
    assert sorted(path.name for path in resuming.plan()[0].folder.iterdir()) == ["first", "out", "step.json"]

    plain = Pipeline([Step("half", half, {})], tmp_path / "b")
    for _ in range(2):
        with pytest.raises(TreeglotError, match="killed"):
            plain.run()
    assert not plain.plan()[0].done


@pytest.mark.parametrize("beside", [parts_folder, network_state])
def test_what_changed_steps_left_beside_their_folders_is_removed(
    tmp_path: Path, file: Path, beside: Callable[[Path], Path]
) -> None:
    seen: list[str] = []

    def counting(task: Task) -> None:
        counts = beside(task.out)
        seen.append("again" if counts.exists() else "new")
        counts.mkdir(exist_ok=True)
        raise TreeglotError("killed")

    def run_counting(letter: str) -> list[str]:
        with pytest.raises(TreeglotError, match="killed"):
            Pipeline([Step("count", counting, {}, {"letter": letter})], tmp_path / "work").run()
        return sorted(path.name for path in (tmp_path / "work").glob(f"*{beside(tmp_path).suffix}"))

    first = run_counting("a")
    assert len(first) == 1
    assert run_counting("a") == first
    second = run_counting("b")
    assert len(second) == 1
    assert second != first
    assert seen == ["new", "again", "new"]
    assert run(Pipeline(steps(file), tmp_path / "work")) == ["letters", "twice", "other"]
    assert not list((tmp_path / "work").glob(f"*{beside(tmp_path).suffix}"))


def test_the_state_of_a_network_is_not_removed_silently(tmp_path: Path, file: Path) -> None:
    def training(task: Task) -> None:
        network_state(task.out).mkdir()
        (network_state(task.out) / "1.state").touch()
        raise TreeglotError("killed")

    with pytest.raises(TreeglotError, match="killed"):
        Pipeline([Step("train", training, {})], tmp_path / "work").run()
    with pytest.warns(UserWarning, match=r"train.*: the state of a network in training, whose step has changed; it is"):
        run(Pipeline(steps(file), tmp_path / "work"))
    assert not list((tmp_path / "work").rglob("*.state"))


def test_bad_runs(tmp_path: Path, file: Path) -> None:
    gone = Pipeline(steps(tmp_path / "gone"), tmp_path / "work")
    with pytest.raises(FormatError, match="gone: is not there; step 'letters' wants it as text"):
        gone.run()
    device = Pipeline(steps(Path(os.devnull)), tmp_path / "work")
    with pytest.raises(FormatError, match="null: is a device or a pipe, not a file that stays; step 'letters' wants"):
        device.plan()
    with pytest.raises(ValueError, match="step 'twice' uses 'letters' as text, which is no step before it"):
        Pipeline(steps(file)[1:], tmp_path / "work")
    with pytest.raises(ValueError, match="there are two steps 'other'"):
        Pipeline([steps(file)[2]] * 2, tmp_path / "work")

    def touching(task: Task) -> None:
        file.write_text("changed")

    with pytest.raises(TreeglotError, match=r"in.txt changed while step 'touching' read it; run again"):
        Pipeline([Step("touching", touching, {"text": file})], tmp_path / "work").run()


def test_a_plan_of_a_folder_that_may_only_be_read(tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = Pipeline(steps(file), tmp_path / "work")
    run(pipeline)
    file.write_text("y" * 9)

    @contextmanager
    def refused(path: Path) -> Iterator[IO[bytes]]:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))
        yield

    monkeypatch.setattr("treeglot.experiment.pipeline.write_binary", refused)
    assert [planned.done for planned in pipeline.plan()] == [False, False, False]
    with pytest.raises(PermissionError):
        pipeline.run()


def test_two_runs_at_once(tmp_path: Path, file: Path) -> None:
    inner: list[str] = []

    def nested(task: Task) -> None:
        with pytest.raises(TreeglotError, match=rf"another run is at work here \(process {os.getpid()}\)"):
            Pipeline(steps(file), tmp_path / "work").run()
        inner.append("refused")

    Pipeline([Step("nested", nested, {})], tmp_path / "work").run()
    assert inner == ["refused"]


def test_a_run_leaves_what_others_write_in_its_folder(tmp_path: Path, file: Path) -> None:
    pipeline = Pipeline(steps(file), tmp_path / "work")
    run(pipeline)
    with write_binary(tmp_path / "work" / "report.html") as stream:  # as a run that has just ended, or a plan
        stream.write(b"whole")
        assert run(pipeline) == []
    assert (tmp_path / "work" / "report.html").read_bytes() == b"whole"


def test_a_file_system_without_locks(tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(descriptor: IO[str], operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", flock)
    with pytest.raises(OSError, match=r"No locks available: .*work/.lock'"):
        Pipeline(steps(file), tmp_path / "work").run()


def test_a_file_that_changes_before_its_step(tmp_path: Path, file: Path) -> None:
    def touching(task: Task) -> None:
        file.write_text("changed")

    pipeline = Pipeline([Step("touching", touching, {}), *steps(file)], tmp_path / "work")
    with pytest.raises(TreeglotError, match=r"in.txt changed before step 'letters' read it; run again"):
        pipeline.run()
    assert [planned.done for planned in pipeline.plan()] == [True, False, False, False]
    assert run(pipeline) == ["letters", "twice", "other"]
    assert (pipeline.plan()[1].folder / "out").read_text() == "changeda"


def test_a_damaged_result_is_made_again(tmp_path: Path, file: Path) -> None:
    pipeline = Pipeline(steps(file), tmp_path / "work")
    run(pipeline)
    broken = pipeline.plan()[2].folder / "step.json"
    broken.write_text(json.dumps({"step": "other"}))
    assert run(pipeline) == ["other"]


def test_a_change_of_code_changes_the_keys(tmp_path: Path) -> None:
    """Commands apart: they show results and make none."""
    package = tmp_path / "package"
    core = package / "_core.abi3.so"
    for name in ("lm/train.py", "cli/train.py", "syntax/heads.txt"):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text("a")
    core.write_bytes(b"core")
    first = code_digest(package, core)
    (package / "cli/train.py").write_text("b")
    (package / "lm/train.pyc").write_text("b")
    assert code_digest(package, core) == first
    found = {first}
    for path in (package / "lm/train.py", package / "syntax/heads.txt", core):
        path.write_text("b")
        found.add(code_digest(package, core))
    assert len(found) == 4


def test_the_program_is_part_of_a_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [Step("one", lambda task: None, {})]
    (here,) = Pipeline(steps, tmp_path).plan()
    assert here.identity.program == program()
    monkeypatch.setattr("treeglot.experiment.pipeline.program", lambda: "treeglot 0 (other)")
    (other,) = Pipeline(steps, tmp_path).plan()
    assert other.key != here.key


def whole(folder: Path) -> dict[str, bytes]:
    """All files of a folder, except those that differ in every run."""
    skipped = {"timings.json", ".lock"}
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name not in skipped]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


TOGETHER = """
import os, subprocess, sys, tempfile, threading, time, warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from treeglot.base.errors import FormatError, TreeglotError
from treeglot.experiment.step import Output, Step

def letters(task):
    (task.out / "out").write_text(task.inputs["text"].read_text() + "a")
    task.report("some letters")
    task.measure("letters", 2)
    for _ in range(3):
        warnings.warn("few letters")
    print("printed", end="")

def meet(task):
    # Ends only beside another step: each waits for the file of the other.
    folder = task.out.parent
    (folder / f"met-{os.environ['MEETING']}-{task.out.name[1:4]}").touch()
    began = time.monotonic()
    while len(list(folder.glob(f"met-{os.environ['MEETING']}-*"))) < 2:
        assert time.monotonic() - began < 60, "nobody came"
        time.sleep(0.01)
    (task.out / "out").write_text(f"{task.inputs['text'].read_text()} {task.memory}")

def join(task):
    (task.out / "out").write_text("".join(path.read_text() for path in task.inputs.values()))

def after_slow(task):
    # Waits until the step `slow` has begun.
    began, file = time.monotonic(), task.out.parent / "waits-slo"
    while not (file.exists() and file.read_text()):
        assert time.monotonic() - began < 60, "nobody came"
        time.sleep(0.01)

def fail(task):
    after_slow(task)
    (task.out / "out").touch()
    raise FormatError("x.txt", 3, "is bad")

def crash(task):
    after_slow(task)
    raise KeyError("no such key")

def die(task):
    after_slow(task)
    os.kill(os.getpid(), 9)

def stop(task):
    after_slow(task)
    os.kill(os.getpid(), 14)

class Strange(TreeglotError):
    def __init__(self, what, why):
        super().__init__(f"{what}: {why}")

def refuse(task):
    after_slow(task)
    raise Strange("x.txt", "is strange")

def wait(task):
    (task.out / "out").touch()
    (task.out.parent / f"waits-{task.out.name[1:4]}").write_text(str(os.getpid()))
    time.sleep(60)

def fail_late(task):
    while not (task.out.parent / "waits").exists():
        time.sleep(0.01)
    raise FormatError("x.txt", 3, "is bad")

def run_program(task):
    with tempfile.TemporaryDirectory(dir=task.out.parent, prefix="temporary-"):
        child = subprocess.Popen(["sleep", "60"])
        (task.out.parent / "waits.new").write_text(str(child.pid))
        (task.out.parent / "waits.new").rename(task.out.parent / "waits")
        child.wait()
        time.sleep(60)

children = []  # warnings of lost ones are another matter

def program_stays(task):
    children.append(subprocess.Popen(["sleep", "60"]))
    (task.out.parent / "waits").write_text(str(children[-1].pid))

def die_of_program(task):
    program_stays(task)
    os.kill(os.getpid(), 9)

def fail_of_program(task):
    program_stays(task)
    raise FormatError("x.txt", 3, "is bad")

def linger(task):
    threading.Thread(target=time.sleep, args=[60]).start()
    program_stays(task)

def flags(task):
    flags = sys.flags
    found = flags.optimize, flags.dont_write_bytecode, flags.ignore_environment, flags.utf8_mode, flags.dev_mode
    (task.out / "out").write_text(" ".join(map(str, found)))

def resume(task):
    state = task.out / "out"
    with state.open("a") as stream:
        stream.write("once ")
    if state.read_text() == "once ":
        (task.out.parent / "waits").touch()
        time.sleep(60)

def talk(task):
    def say(number):
        for _ in range(20):
            task.report(str(number) * 50_000)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(say, range(4)))
"""


@pytest.fixture
def together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    (tmp_path / "together.py").write_text(TOGETHER)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("MEETING", "1")
    yield importlib.import_module("together")
    del sys.modules["together"]


class Said(Log):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.done: list[str] = []

    def said(self, planned: Planned, line: str) -> None:
        self.lines.append(f"{planned.step.name}: {line}")

    def finished(self, planned: Planned, seconds: float) -> None:
        self.done.append(planned.step.name)


def test_steps_run_together_with_the_same_bytes(
    tmp_path: Path, file: Path, together: ModuleType, capfd: pytest.CaptureFixture[str]
) -> None:
    steps = [
        Step("letters", together.letters, {"text": file}),
        Step("one", together.letters, {"text": Output("letters", "out")}),
        Step("two", together.letters, {"text": file}),
        Step("all", together.join, {"a": Output("one", "out"), "b": Output("two", "out")}),
    ]
    apart, beside = (Pipeline(steps, tmp_path / name) for name in ("apart", "beside"))
    with pytest.warns(UserWarning, match="few letters"):
        apart.run()
    said = Said()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("default")
        beside.run(jobs=2, threads=2, watcher=said)
    assert [str(warning.message) for warning in warned] == ["few letters"]  # three steps, each three times
    assert whole(beside.folder) == whole(apart.folder)
    assert (beside.plan()[3].folder / "out").read_text() == "xaaxa"
    assert sorted(said.lines) == ["letters: some letters", "one: some letters", "two: some letters"]
    assert said.ran[:2] == ["letters", "two"]
    assert said.done[-1] == "all"
    measured = beside.timings()[beside.plan()[0].key]
    assert {"letters", "wall", "cpu"} <= set(measured)
    assert capfd.readouterr().out == 6 * "printed"
    again = Said()
    beside.run(jobs=2, watcher=again)
    assert again.ran == []


def test_steps_run_at_the_same_time(tmp_path: Path, file: Path, together: ModuleType) -> None:
    steps = [Step(name, together.meet, {"text": file}) for name in ("one", "two")]
    pipeline = Pipeline(steps, tmp_path / "work")
    pipeline.run(jobs=2, memory=100)
    assert (pipeline.plan()[0].folder / "out").read_text() == "x 50"


@pytest.mark.parametrize(
    ("name", "error", "problem"),
    [
        ("fail", FormatError, r"^x.txt:3: is bad$"),
        ("crash", KeyError, "no such key"),
        (
            "die",
            TreeglotError,
            r"^step 'bad' ended without a result \(signal 9, perhaps for lack of memory\); run again$",
        ),
        ("stop", TreeglotError, r"^step 'bad' ended without a result \(signal 14\); run again$"),
        ("refuse", TreeglotError, "^x.txt: is strange$"),
    ],
)
def test_a_step_that_fails_beside_others(
    tmp_path: Path, together: ModuleType, name: str, error: type[Exception], problem: str
) -> None:
    work = tmp_path / "work"
    pipeline = Pipeline([Step("bad", getattr(together, name), {}), Step("slow", together.wait, {})], work)
    with pytest.raises(error, match=problem) as raised:
        pipeline.run(jobs=2)
    assert not running(int((work / "waits-slo").read_text()))
    assert not list(work.glob(".*.part"))
    if name == "crash":
        assert "in crash" in str(raised.value.__cause__)


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("sys.exit(3)", "exit code 3"),
        ("os.write(int(sys.argv[1]), bytes([0, 0, 1, 0]) + b'half of it')", "exit code 0"),
    ],
)
@pytest.mark.parametrize("size", [1, 1 << 22])
def test_a_worker_that_dies_too_soon(
    tmp_path: Path, together: ModuleType, monkeypatch: pytest.MonkeyPatch, program: str, code: str, size: int
) -> None:
    """Before it has read all that it gets, or amid a message."""
    monkeypatch.setattr("treeglot.experiment.workers.PROGRAM", f"import os, sys; {program}")
    pipeline = Pipeline([Step("bad", together.join, {}, {"long": size * "x"})], tmp_path / "work")
    with pytest.raises(TreeglotError, match=rf"^step 'bad' ended without a result \({code}\); run again$"):
        pipeline.run(jobs=2)


def test_a_step_that_a_worker_cannot_find(tmp_path: Path, together: ModuleType) -> None:
    def missing(task: Task) -> None: ...

    missing.__module__, missing.__qualname__ = "together", "missing"
    together.missing = missing
    with pytest.raises(AttributeError, match="missing"):
        Pipeline([Step("bad", missing, {})], tmp_path / "work").run(jobs=2)


def test_a_working_directory_hides_no_module(
    tmp_path: Path, together: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/json.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(tmp_path / "in")
    Pipeline([Step("all", together.join, {})], tmp_path / "work").run(jobs=2)


def test_threads_of_a_step_report_long_lines(tmp_path: Path, together: ModuleType) -> None:
    said = Said()
    Pipeline([Step("talk", together.talk, {})], tmp_path / "work").run(jobs=2, watcher=said)
    assert sorted(said.lines) == sorted(20 * [f"talk: {str(number) * 50_000}" for number in range(4)])


def test_a_step_that_is_ended_leaves_nothing(tmp_path: Path, together: ModuleType) -> None:
    """Neither its temporary files nor the programs that it runs."""
    work = tmp_path / "work"
    pipeline = Pipeline([Step("bad", together.fail_late, {}), Step("slow", together.run_program, {})], work)
    with pytest.raises(FormatError):
        pipeline.run(jobs=2)
    assert not list(work.glob("temporary-*"))
    until_it_ends(int((work / "waits").read_text()))


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("die_of_program", r"step 'one' ended without a result \(signal 9, perhaps for lack of memory\)"),
        ("fail_of_program", "x.txt:3: is bad"),
        ("linger", ""),
    ],
)
def test_no_program_of_a_worker_stays(tmp_path: Path, together: ModuleType, name: str, problem: str) -> None:
    """However the worker ends. A thread that still runs does not hold a step up, either."""
    work = tmp_path / "work"
    with pytest.raises(TreeglotError, match=problem) if problem else nullcontext():
        Pipeline([Step("one", getattr(together, name), {})], work).run(jobs=2)
    until_it_ends(int((work / "waits").read_text()))


@pytest.mark.parametrize("refusal", [PermissionError, ProcessLookupError])
def test_an_error_is_not_hidden_by_workers_that_have_ended(
    tmp_path: Path, together: ModuleType, monkeypatch: pytest.MonkeyPatch, refusal: type[OSError]
) -> None:
    """Some systems refuse to signal them. The slow worker ends with its pipe."""

    def refuse(group: int, number: int) -> None:
        raise refusal

    monkeypatch.setattr("os.killpg", refuse)
    with pytest.raises(FormatError, match="is bad"):
        Pipeline([Step("bad", together.fail, {}), Step("slow", together.wait, {})], tmp_path / "work").run(jobs=2)


def test_workers_have_the_options_of_the_interpreter(tmp_path: Path, together: ModuleType) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "import together\n"
        "from treeglot.experiment import Pipeline\n"
        "from treeglot.experiment.step import Step\n"
        "for jobs in (1, 2):\n"
        "    pipeline = Pipeline([Step('flags', together.flags, {})], f'{sys.argv[1]}/{jobs}')\n"
        "    pipeline.run(jobs=jobs)\n"
        "    print((pipeline.plan()[0].folder / 'out').read_text())\n"
    )
    command = [sys.executable, "-OO", "-B", "-X", "utf8", str(program), str(tmp_path)]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert found == 2 * "2 1 0 1 False\n"


def test_a_step_that_resumes_goes_on(tmp_path: Path, together: ModuleType) -> None:
    work = tmp_path / "work"
    slow = Step("slow", together.resume, {}, resumes=True)
    with pytest.raises(FormatError):
        Pipeline([Step("bad", together.fail_late, {}), slow], work).run(jobs=2)
    Pipeline([slow], work).run(jobs=2)
    assert (Pipeline([slow], work).plan()[0].folder / "out").read_text() == "once once "


def test_a_watcher_that_fails(tmp_path: Path, file: Path, together: ModuleType) -> None:
    class Bad(Watcher):
        def said(self, planned: Planned, line: str) -> None:
            raise RuntimeError(f"cannot show {line!r}")

    steps = [Step("letters", together.letters, {"text": file}), Step("slow", together.wait, {})]
    with pytest.raises(RuntimeError, match="cannot show 'some letters'"):
        Pipeline(steps, tmp_path / "work").run(jobs=2, watcher=Bad())
    assert not list((tmp_path / "work").glob(".*.part"))
    Pipeline([], tmp_path / "work").run()  # nobody holds the lock


def test_an_error_comes_after_what_others_have_sent() -> None:
    """A finished step is kept, and another error is a warning."""
    said: list[str] = []
    sent = {
        "bad": [(FAILED, ValueError("is bad"), "there")],
        "good": [(SAID, "one"), (SAID, "two"), (MADE, {"wall": 1.0})],
        "worse": [(SAID, "three"), (FAILED, KeyError("key"), "there")],
        "slow": [(SAID, "four")],
    }
    with Workers(0) as workers:
        ends = []
        for name, messages in sent.items():
            ours, theirs = Pipe()
            ends.append(theirs)
            workers.running[name] = subprocess.Popen([sys.executable, "-c", ""]), ours
            for message in messages:
                theirs.send(message)
        found = workers.messages(lambda name, line: said.append(f"{name}: {line}"))
        assert next(found) == ("good", {"wall": 1.0})
        with (
            pytest.warns(UserWarning, match="^step 'worse' failed, too: KeyError: 'key'$"),
            pytest.raises(ValueError, match="is bad"),
        ):
            next(found)
        assert sorted(said) == ["good: one", "good: two", "slow: four", "worse: three"]
        assert list(workers.running) == ["slow"]
        for end in ends:
            end.close()


def test_an_error_does_not_wait_for_the_last_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker may send more than anyone reads."""
    said: list[str] = []
    with Workers(0) as workers:
        (one, bad), (two, endless) = Pipe(), Pipe()
        for name, ours in (("bad", one), ("endless", two)):
            workers.running[name] = subprocess.Popen([sys.executable, "-c", ""]), ours
        endless.send((SAID, "again"))
        bad.send((FAILED, ValueError("is bad"), "there"))

        def answer(name: str, line: str) -> None:
            said.append(line)
            assert len(said) < 2 * ROUNDS
            endless.send((SAID, line))

        with pytest.raises(ValueError, match="is bad"):
            next(workers.messages(answer))
        assert len(said) == ROUNDS + 1
        for end in (bad, endless):
            end.close()


@pytest.mark.parametrize(
    ("free", "places", "ready", "later", "share"),
    [
        (8, 2, 1, 0, 8),  # nothing else can start
        (8, 2, 2, 5, 4),
        (8, 2, 1, 5, 7),  # one thread for the other place
        (3, 3, 2, 5, 1),
        (3, 3, 2, 0, 1),
        (2, 2, 1, 0, 2),
        (0, 1, 1, 0, 1),
        (1, 4, 4, 4, 1),
    ],
)
def test_the_share_of_threads(free: int, places: int, ready: int, later: int, share: int) -> None:
    assert _share(free, places, ready, later) == share


def test_a_known_digest_is_not_computed_again(tmp_path: Path, file: Path, together: ModuleType) -> None:
    digests = Digests()
    step = Step("join", together.join, {"text": file})
    digests.of("text", file, {}, step)
    (known,) = digests.known
    digests.known[known] = "as before"
    identity = Identity("join", "", {}, {"text": "as before"})
    (tmp_path / "part").mkdir()
    making = pickle.loads(pickle.dumps(Making(step, identity, tmp_path / "part", {}, Means(1, 1, None), digests)))
    assert "wall" in make(making, print)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_the_run(tmp_path: Path, together: ModuleType, number: signal.Signals) -> None:
    work = tmp_path / "work"
    program = tmp_path / "program.py"
    program.write_text(
        "import signal, sys, together\n"
        "from treeglot.experiment import Pipeline\n"
        "from treeglot.experiment.step import Step\n"
        # A shell starts background jobs with interrupts ignored, and children inherit this.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "Pipeline([Step(name, together.wait, {}) for name in ('one', 'two')], sys.argv[1]).run(jobs=2)\n"
    )
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, str(program), str(work)],
        env=os.environ | {"PYTHONPATH": path},
        stderr=subprocess.PIPE,
        text=True,
    )
    files = [work / "waits-one", work / "waits-two"]
    deadline = time.monotonic() + 60
    while not all(path.exists() and path.read_text() for path in files):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    numbers = [int(path.read_text()) for path in files]
    process.send_signal(number)
    _, said = process.communicate()
    while any(running(number) for number in numbers):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    if number == signal.SIGINT:
        assert said.count("Traceback") == 1  # of the run, none of a worker
        assert not list(work.glob(".*.part"))
    pipeline = Pipeline([Step("other", together.join, {})], work)
    pipeline.run(jobs=2)  # the lock is free, and what was left is removed
    assert not list(work.glob(".*.part"))


def until_it_ends(number: int) -> None:
    deadline = time.monotonic() + 30
    while running(number):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def running(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{number}/stat")
    return not status.exists() or status.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def test_a_worker_keeps_the_lock(tmp_path: Path, together: ModuleType) -> None:
    work = tmp_path / "work"
    work.mkdir()
    pipeline = Pipeline([Step("slow", together.wait, {})], work)
    with pipeline.locked() as lock, Workers(lock.fileno()) as workers:
        (planned,) = pipeline.plan()
        (work / ".slow.part").mkdir()
        workers.start(Making(planned.step, planned.identity, work / ".slow.part", {}, Means(1, 1, None), Digests()))
        deadline = time.monotonic() + 60
        while not (work / "waits-slo").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        lock.close()
        with pytest.raises(TreeglotError, match="another run is at work here"):
            Pipeline([], work).run()
    Pipeline([], work).run()


def test_no_jobs_beside_an_engine(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="jobs is 0; expected at least 1"):
        Pipeline([], tmp_path / "work").run(jobs=0)
    with pytest.raises(UsageError, match="jobs is 2 with an engine; expected 1"):
        Pipeline([], tmp_path / "work").run(jobs=2, engine=cast("Engine", object()))
