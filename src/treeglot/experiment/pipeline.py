"""Runs the steps of an experiment in a folder: creates missing results, and reuses existing ones."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from treeglot.base.errors import FormatError, TreeglotError
from treeglot.base.files import PathLike, read_json, remove_leftovers, write_binary
from treeglot.base.machine import PeakMemory
from treeglot.base.program import program
from treeglot.base.storage import find_uri, is_remote
from treeglot.experiment.step import FINISHED, Identity, Input, Means, Output, Step, Task, file_digest
from treeglot.models.train import network_state, parts_folder
from treeglot.rules.engines import Engine

PART = ".part"  # what the name of an unfinished step's folder ends in
LOCK = ".lock"
NEW = "it has not run yet"
TIMINGS = "timings.json"  # the cost of each step; a separate file, so all others are equal in every run


@dataclass(frozen=True)
class Planned:
    """A step with its key."""

    step: Step
    identity: Identity
    folder: Path
    done: bool
    reason: str  # why it has to run

    @property
    def key(self) -> str:
        """The step's key."""
        return self.identity.key


class Watcher:
    """Receives the events of a run. A display overrides the methods that it needs."""

    def planned(self, plan: Sequence[Planned]) -> None:
        """Called when the run begins."""

    def started(self, planned: Planned) -> None:
        """Called when a step begins."""

    def said(self, planned: Planned, line: str) -> None:
        """Called when a step reports its progress."""

    def finished(self, planned: Planned, seconds: float) -> None:
        """Called when a step has ended well."""


class Pipeline:
    """The steps of an experiment and the folder of their results."""

    def __init__(self, steps: Sequence[Step], folder: PathLike) -> None:
        """Refuse steps with the same name, and a step that uses a later step."""
        self.steps = steps
        self.folder = Path(folder)
        self._is_locked = False  # by this
        self._digests = _Digests()
        names: set[str] = set()
        for step in steps:
            for name, given in step.inputs.items():
                if isinstance(given, Output) and given.step not in names:
                    raise ValueError(f"step {step.name!r} uses {given.step!r} as {name}, which is no step before it")
            if step.name in names:
                raise ValueError(f"there are two steps {step.name!r}")
            names.add(step.name)

    def plan(self) -> list[Planned]:
        """Return the plan of a run, step by step. A missing file is an error."""
        keys: dict[str, str] = {}
        out = []
        for step in self.steps:
            inputs = {name: self._digests.of(name, given, keys, step) for name, given in step.inputs.items()}
            settings: dict[str, Any] = json.loads(json.dumps(dict(step.settings)))
            identity = Identity(step.name, program(), settings, inputs)
            keys[step.name] = identity.key
            folder = self.folder / f"{_slug(step.name)}.{identity.key[:12]}"
            done = Identity.read(folder / FINISHED) == identity
            out.append(Planned(step, identity, folder, done, "" if done else self._reason(step, identity)))
        return out

    def _reason(self, step: Step, identity: Identity) -> str:
        if (self.folder / f".{_slug(step.name)}.{identity.key[:12]}{PART}").exists():
            return "it is running" if self._at_work() else "an earlier run did not end it"
        there = [
            found for path in self.folder.glob(f"{_slug(step.name)}.*/{FINISHED}") if (found := Identity.read(path))
        ]
        if not there:
            return NEW
        return min((identity.differs_from(other) for other in there), key=len)[0]

    def run(
        self,
        *,
        threads: int = 1,
        memory: int = 2 << 30,
        watcher: Watcher | None = None,
        engine: Engine | None = None,
    ) -> list[Planned]:
        """Run the missing steps. The same steps and files produce the same bytes, also after interruptions.

        With an `engine`, its machines parse, count n-grams, extract and score rules, and decode for tuning.
        """
        watcher = watcher or Watcher()
        means = Means(threads, memory, engine)
        with self.locked():
            plan = self.plan()
            self._clean(plan)
            watcher.planned(plan)
            folders = {planned.step.name: planned.folder for planned in plan}
            for planned in plan:
                if not planned.done:
                    self._run(planned, folders, means, watcher)
        return plan

    def _run(self, planned: Planned, folders: Mapping[str, Path], means: Means, watcher: Watcher) -> None:
        step, part = planned.step, self._part(planned)
        if not step.resumes:
            shutil.rmtree(part, ignore_errors=True)
        began = time.monotonic()
        held = None
        try:
            part.mkdir(exist_ok=True)
            if not step.resumes:  # open files vanish with a process that a signal kills
                held = os.open(part, os.O_RDONLY | os.O_DIRECTORY)
            for unfinished in list(part.rglob(".*")):  # what was being written aside when a run was killed
                _remove(unfinished)
            watcher.started(planned)
            self._make(planned, part, folders, means, partial(watcher.said, planned))
        except BaseException:
            if not step.resumes:  # nobody goes on with it, and a disk may be full
                shutil.rmtree(part, ignore_errors=True)
            raise
        finally:
            if held is not None:
                os.close(held)
        shutil.rmtree(planned.folder, ignore_errors=True)  # a damaged one, without its step.json
        part.rename(planned.folder)
        _sync(self.folder)
        watcher.finished(planned, time.monotonic() - began)

    def _make(
        self,
        planned: Planned,
        part: Path,
        folders: Mapping[str, Path],
        means: Means,
        report: Callable[[str], None],
    ) -> None:
        """Make the complete result of a step in the folder `part`."""
        step = planned.step
        began, cpu, peak = time.monotonic(), time.process_time(), PeakMemory()
        inputs = {name: _place(given, folders) for name, given in step.inputs.items()}
        before = {
            path: _stamp(path)
            for given, path in zip(step.inputs.values(), inputs.values(), strict=True)
            if given == path
        }
        for name, path in inputs.items():  # the plan, and so the key, may be hours old
            if path in before and self._digests.of(name, path, {}, step) != planned.identity.inputs[name]:
                raise TreeglotError(f"{path} changed before step {step.name!r} read it; run again")
        measures: dict[str, float] = {}
        note = measures.__setitem__
        digests = planned.identity.inputs
        step.run(Task(inputs, digests, part, means.threads, means.memory, report, note, means.engine))
        for path, stamp in before.items():
            if _stamp(path) != stamp:
                raise TreeglotError(f"{path} changed while step {step.name!r} read it; run again")
        with write_binary(part / FINISHED) as stream:
            stream.write(planned.identity.to_json().encode())
        measures |= {
            "wall": round(time.monotonic() - began, 3),
            "cpu": round(time.process_time() - cpu, 3),
        }
        if (memory := peak.bytes()) is not None:
            measures["peak_memory"] = memory
        self._note(planned, measures)  # first, so that no finished step is without it

    def timings(self) -> dict[str, dict[str, float]]:
        """Return the measurements of each step by key: wall time and CPU time in seconds, and figures of the step."""
        try:
            return read_json(self.folder / TIMINGS)
        except (OSError, FormatError):  # nothing depends on them
            return {}

    def _note(self, planned: Planned, measures: dict[str, float]) -> None:
        timings = self.timings() | {planned.key: measures}
        with write_binary(self.folder / TIMINGS) as stream:
            stream.write(json.dumps(timings, indent=1, sort_keys=True).encode())

    def _part(self, planned: Planned) -> Path:
        return self.folder / f".{planned.folder.name}{PART}"

    def _clean(self, plan: Sequence[Planned]) -> None:
        """Remove leftovers of killed runs, except those that a step of this plan continues."""
        unfinished = [planned for planned in plan if not planned.done]
        kept = {self._part(planned) for planned in unfinished if planned.step.resumes}
        for beside in (parts_folder, network_state):  # rules that an engine counted, and networks in training
            wanted = {beside(self._part(planned)).name for planned in unfinished}
            for path in self.folder.glob(beside(Path(f".*{PART}")).name):
                if path.name not in wanted:
                    if any(path.rglob("*.state")):
                        problem = f"{path}: the state of a network in training, whose step has changed; it is removed"
                        warnings.warn(problem, stacklevel=4)
                    _remove(path)
        for path in self.folder.glob(f".*{PART}"):
            if not path.is_dir():  # somebody who looks at the plan, or whose run has just ended, may be writing it
                remove_leftovers(self.folder / path.name[1:].rsplit(".", 2)[0])
            elif path not in kept:
                _remove(path)

    def _at_work(self) -> bool:
        """Return whether another run has locked the folder."""
        if self._is_locked:
            return False
        try:
            with (self.folder / LOCK).open() as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:  # there is no lock
            pass
        return False

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Create and lock the folder for this process. Refuse a folder that another run uses."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise FormatError(str(self.folder), 0, "is not a folder; expected the folder of results") from error
        with (self.folder / LOCK).open("a+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.seek(0)
                who = lock.read().strip()
                raise TreeglotError(
                    f"{self.folder}: another run is at work here{f' (process {who})' if who else ''}"
                ) from None
            except OSError as error:  # some network file systems have no locks
                raise OSError(error.errno, error.strerror, lock.name) from error
            lock.truncate(0)
            lock.write(str(os.getpid()))
            lock.flush()
            self._is_locked = True
            try:
                yield
            finally:
                self._is_locked = False


class _Digests:
    """Digests of files. A file whose size and times have not changed is read only once."""

    def __init__(self) -> None:
        self.known: dict[tuple[Path, int, int, int], str] = {}

    def of(self, name: str, given: Input, keys: Mapping[str, str], step: Step) -> str:
        if isinstance(given, Output):
            return f"{keys[given.step]}/{given.name}"
        if is_remote(given):
            problem = "is a URI; expected a file of this machine, because a step is named by what its files hold"
            raise FormatError(str(find_uri(given)), 0, problem)
        if not given.is_file():
            there = "is a folder, not a file" if given.is_dir() else "is a device or a pipe, not a file that stays"
            found = there if given.exists() else "is not there"
            raise FormatError(str(given), 0, f"{found}; step {step.name!r} wants it as {name}")
        # The third time changes with any change, even if the modification time was reset.
        stamp = (given.resolve(), *_stamp(given), given.stat().st_ctime_ns)
        if stamp not in self.known:
            self.known[stamp] = file_digest(given)
        return self.known[stamp]


def _place(given: Input, folders: Mapping[str, Path]) -> Path:
    return folders[given.step] / given.name if isinstance(given, Output) else given


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _slug(name: str) -> str:
    return name.replace(" ", "-")


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
