"""Commands that are told to end, or killed: what they leave, and what the next one makes of it."""

from __future__ import annotations

import fcntl
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from treeglot import _core, sample
from treeglot.base.files import scratch_folder, write_binary
from treeglot.cli import main
from treeglot.experiment import Pipeline
from treeglot.experiment.step import Step, Task

# A command of the command line's own, which writes a file in a way that never ends.
PROGRAM = """
import hashlib, signal, sys, time
import treeglot.cli.app as app
from treeglot.base.files import scratch_folder, write_binary

def busy():
    if sys.argv[1] == "deaf":  # as the core is while it works
        hashlib.pbkdf2_hmac("sha256", b"", b"", 200_000_000)
    if sys.argv[1] == "holding":  # the interpreter, as an aligner's library does
        sum(range(10**12))
    time.sleep(60)

def command():
    with scratch_folder(".", "scratch") as folder, write_binary("out.txt") as stream:
        (folder / "more").write_text("x")
        stream.write(b"half")
        stream.flush()
        print("ready", flush=True)
        busy()

app._invoke = lambda arguments: command()
if sys.argv[1] != "listening":
    import treeglot.cli.ending as ending
    ending.GRACE = 0.2
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(app.run())
"""


def started(folder: Path, how: str, program: str = PROGRAM, **options: object) -> subprocess.Popen[str]:
    """Start a command that hears hang-ups, even if the tests run under nohup."""
    (folder / "program.py").write_text(program)
    options.setdefault("preexec_fn", lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
    process = subprocess.Popen(
        [sys.executable, "program.py", how],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,  # type: ignore[call-overload]
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != "program.py")


@pytest.mark.parametrize("how", ["listening", "deaf", "holding"])
@pytest.mark.parametrize(
    ("number", "code", "words"),
    [(signal.SIGTERM, 143, "terminated"), (signal.SIGHUP, 129, "terminated"), (signal.SIGINT, 130, "interrupted")],
)
def test_a_command_that_is_told_to_end_leaves_nothing(
    tmp_path: Path, how: str, number: signal.Signals, code: int, words: str
) -> None:
    (tmp_path / "out.txt").write_text("old")
    process = started(tmp_path, how)
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (code, f"{words}\n")
    assert names(tmp_path) == ["out.txt"]
    assert (tmp_path / "out.txt").read_text() == "old"


@pytest.mark.parametrize(("second", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 143), (signal.SIGUSR1, 7)])
def test_a_second_signal_ends_at_once_if_it_would_end_the_command(second: signal.Signals, code: int) -> None:
    """Others are none of its business. Without a second one the thread would wait for an hour."""
    wait = "time.sleep(0.2); os._exit(7)" if code == 7 else "time.sleep(60)"
    program = (
        "import os, time; from treeglot import _core; watch = _core.Ending({1: 'gone', 15: 'gone'}, 3600.0); "
        f"os.write(watch.descriptor, bytes([15, {int(second)}])); {wait}"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60).returncode == code


def test_a_step_that_does_not_hear_leaves_nothing_either(tmp_path: Path) -> None:
    program = PROGRAM.replace(
        "def command():\n",
        "def command():\n"
        "    from treeglot.experiment import Pipeline\n"
        "    from treeglot.experiment.step import Step\n"
        "    def work(task):\n"
        "        (task.out / 'half').touch()\n"
        "        print('ready', flush=True)\n"
        "        busy()\n"
        "    Pipeline([Step('one', work, {})], 'work').run()\n"
        "def other():\n",
    )
    process = started(tmp_path, "deaf", program)
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 143
    assert names(tmp_path / "work") == [".lock"]


@pytest.mark.parametrize(
    ("number", "code", "words"), [(signal.SIGTERM, 143, "terminated\n"), (signal.SIGINT, 130, "interrupted\n")]
)
def test_an_error_that_a_library_makes_of_it_is_none(
    tmp_path: Path, number: signal.Signals, code: int, words: str
) -> None:
    """As DuckDB does in a query: RuntimeError("Query interrupted")."""
    program = PROGRAM.replace(
        "    time.sleep(60)\n",
        "    try:\n        time.sleep(60)\n    except BaseException:\n"
        "        raise RuntimeError('Query interrupted') from None\n",
    )
    process = started(tmp_path, "listening", program)
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (code, words)
    assert names(tmp_path) == []


def test_a_signal_that_is_ignored_stays_so(tmp_path: Path) -> None:
    """As by nohup."""
    process = started(tmp_path, "listening", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    process.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 143


def open_files() -> int:
    """Where the system tells."""
    return len(list(Path("/proc/self/fd").glob("*")))


def test_afterwards_all_is_as_before() -> None:
    main(["--version"])
    signals = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    state = [signal.getsignal(number) for number in signals], threading.active_count(), open_files()
    assert main(["--version"]) == 0
    handlers = [signal.getsignal(number) for number in signals]
    assert (handlers, threading.active_count(), open_files()) == state


def test_what_a_killed_process_left_goes_with_the_next_run(tmp_path: Path) -> None:
    process = started(tmp_path, "listening")
    process.kill()
    process.communicate()
    left = names(tmp_path)
    assert len(left) == 2
    assert left[0].startswith(".out.txt.")
    assert left[1].startswith(".scratch.")
    with write_binary(tmp_path / "other.txt"), write_binary(tmp_path / "out"):
        assert set(left) <= set(names(tmp_path))  # leftovers of other files are none of theirs
    with write_binary(tmp_path / "out.txt") as stream:
        stream.write(b"new")
    with scratch_folder(tmp_path, "scratch"):
        assert left[1] not in names(tmp_path)
    assert names(tmp_path) == ["other.txt", "out", "out.txt"]


def test_the_core_writes_in_the_same_way(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    (tmp_path / ".a.bin.Ab3_x9.part").write_text("left")
    (tmp_path / ".a.bin.more.Ab3_x9.part").write_text("of another file")
    _core.write_sections(str(path), "kind", 1, {"x": b"y"})
    assert names(tmp_path) == [".a.bin.more.Ab3_x9.part", "a.bin"]


def test_what_somebody_writes_stays(tmp_path: Path) -> None:
    """Two writers of one name: the last to end wins, and neither takes the other's file away."""
    path = tmp_path / "a.txt"
    with write_binary(path) as one:
        with (
            write_binary(path) as other,
            scratch_folder(tmp_path, "s") as first,
            scratch_folder(tmp_path, "s") as second,
        ):
            assert first.is_dir()
            assert second.is_dir()
            assert len(names(tmp_path)) == 4
            other.write(b"other")
        assert path.read_bytes() == b"other"
        one.write(b"one")
    assert path.read_bytes() == b"one"
    assert names(tmp_path) == ["a.txt"]


def test_many_writers_of_one_name(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    problems: list[BaseException] = []

    def write() -> None:
        try:
            for _ in range(100):
                with write_binary(path) as stream:
                    stream.write(b"all of it")
                with scratch_folder(tmp_path, "s") as folder:
                    (folder / "x").touch()
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert names(tmp_path) == ["a.txt"]
    assert path.read_bytes() == b"all of it"


def test_a_step_that_fails_leaves_nothing_unless_it_resumes(tmp_path: Path) -> None:
    def half(task: Task) -> None:
        (task.out / "half").touch()
        raise KeyboardInterrupt

    for resumes in (False, True):
        with pytest.raises(KeyboardInterrupt):
            Pipeline([Step("half", half, {}, resumes=resumes)], tmp_path).run()
        assert len(list(tmp_path.glob(".half.*.part"))) == resumes


def test_a_run_that_is_told_to_end_goes_on(tmp_path: Path) -> None:
    """A whole experiment, told to end when its first model is being trained."""
    sample.write_corpus(tmp_path, 60)
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        '[corpus]\nsource = "train.zh"\ntarget = "train.en"\nalignments = "train.align"\n'
        '[dev]\nsource = "dev.zh"\nreferences = ["dev.en"]\n[test.t]\nsource = "test.zh"\nreferences = ["test.en"]\n'
        '[tune]\nmethod = "none"\n[[system]]\nname = "hiero"\nkind = "hiero"\n'
    )
    command = [sys.executable, "-m", "treeglot", "run", str(recipe)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("train hiero"):
            process.terminate()
            break
    _, said = process.communicate(timeout=60)
    assert process.returncode == 143
    assert said.splitlines()[-1] == "terminated"
    work = recipe.with_suffix("")
    assert list(work.glob(".*.part")) == []
    with (work / ".lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0
    assert re.search(r"7 steps, [3-6] of them done before", done.stderr)
