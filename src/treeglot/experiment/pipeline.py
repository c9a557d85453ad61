"""Runs the steps of an experiment in a folder: creates missing results, and reuses existing ones."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from treeglot.base.errors import FormatError, TreeglotError, UsageError
from treeglot.base.files import PathLike, read_json, remove_leftovers, write_binary
from treeglot.base.program import program
from treeglot.experiment.making import Digests, Making, make
from treeglot.experiment.step import FINISHED, Identity, Means, Output, Step
from treeglot.experiment.workers import Workers
from treeglot.models.train import network_state, parts_folder
from treeglot.rules.engines import Engine

PART = ".part"  # what the name of an unfinished step's folder ends in
LOCK = ".lock"
NEW = "it has not run yet"
TIMINGS = "timings.json"  # the cost of each step; a separate file, so all others are equal in every run


@dataclass(frozen=True)
class Planned:
    """A step with its key, and what will happen to it in a run."""

    step: Step
    identity: Identity
    folder: Path
    done: bool
    reason: str  # why it has to run

    @property
    def key(self) -> str:
        """The key of the step, which names its folder."""
        return self.identity.key


class Watcher:
    """Receives the events of a run. A display overrides the methods that it needs."""

    def planned(self, plan: Sequence[Planned]) -> None:
        """Called at the beginning of a run, with all steps."""

    def started(self, planned: Planned) -> None:
        """Called when a step begins to run."""

    def said(self, planned: Planned, line: str) -> None:
        """Called when a step reports its progress."""

    def finished(self, planned: Planned, seconds: float) -> None:
        """Called when a step has ended well."""


class Pipeline:
    """The steps of an experiment, and the folder that contains their results."""

    def __init__(self, steps: Sequence[Step], folder: PathLike) -> None:
        """Create a pipeline. Two steps with the same name, or a step that uses a later one, are refused."""
        self.steps = steps
        self.folder = Path(folder)
        self._is_locked = False  # by this
        self._digests = Digests()
        names: set[str] = set()
        for step in steps:
            for name, given in step.inputs.items():
                if isinstance(given, Output) and given.step not in names:
                    raise ValueError(f"step {step.name!r} uses {given.step!r} as {name}, which is no step before it")
            if step.name in names:
                raise ValueError(f"there are two steps {step.name!r}")
            names.add(step.name)

    def plan(self) -> list[Planned]:
        """Return what a run would do, step by step. A missing file is an error."""
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
        jobs: int = 1,
    ) -> list[Planned]:
        """Run the steps whose results are missing.

        The same steps and files produce the same bytes, even after interruptions.

        `jobs` is the number of steps that can run at once. Above 1, each runs in its own process, and they share
        threads and memory. These processes import the functions of the steps. So each function must be in a module that
        can be imported, and `__main__` is not such a module. With an `engine`, its machines parse, count n-grams,
        extract and score rules, and decode for tuning.
        """
        if jobs < 1:
            raise UsageError(f"jobs is {jobs}; expected at least 1")
        if jobs > 1 and engine is not None:
            raise UsageError(f"jobs is {jobs} with an engine; expected 1, because an engine runs one step at a time")
        watcher = watcher or Watcher()
        with self.locked() as lock:
            plan = self.plan()
            self._clean(plan)
            watcher.planned(plan)
            folders = {planned.step.name: planned.folder for planned in plan}
            if jobs > 1:
                self._run_together(plan, folders, Means(threads, memory, None), jobs, watcher, lock)
            else:
                for planned in plan:
                    if not planned.done:
                        self._run(planned, folders, Means(threads, memory, engine), watcher)
        return plan

    def _run(self, planned: Planned, folders: Mapping[str, Path], means: Means, watcher: Watcher) -> None:
        """Run a step in this process."""
        began = time.monotonic()
        with self._folder(planned) as part:
            watcher.started(planned)
            making = Making(planned.step, planned.identity, part, folders, means, self._digests)
            measures = make(making, partial(watcher.said, planned))
            self._note(planned, measures)  # first, so that no finished step is without it
        self._finish(planned)
        watcher.finished(planned, time.monotonic() - began)

    def _run_together(
        self,
        plan: Sequence[Planned],
        folders: Mapping[str, Path],
        means: Means,
        jobs: int,
        watcher: Watcher,
        lock: IO[str],
    ) -> None:
        """Run steps in separate processes. Each starts as soon as its inputs exist and a process is free."""
        steps = {planned.step.name: planned for planned in plan}
        waiting = {name: planned for name, planned in steps.items() if not planned.done}
        began: dict[str, float] = {}
        used: dict[str, int] = {}  # threads of running steps
        with ExitStack() as opened, Workers(lock.fileno()) as workers:
            parts: dict[str, ExitStack] = {}
            while waiting or used:
                ready = [planned for planned in waiting.values() if not _sources(planned.step) & {*waiting, *used}]
                while ready and len(used) < jobs:
                    planned = ready.pop(0)
                    name = planned.step.name
                    del waiting[name]
                    later = len(waiting) - len(ready) if ready or used else 0  # may start while this one runs
                    free = means.threads - sum(used.values())
                    used[name] = _share(free, jobs - len(used), len(ready) + 1, later)
                    parts[name] = opened.enter_context(ExitStack())
                    part = parts[name].enter_context(self._folder(planned))
                    began[name] = time.monotonic()
                    watcher.started(planned)
                    own = {given: folders[given] for given in _sources(planned.step)}
                    share = Means(used[name], max(1, means.memory // jobs), None)
                    workers.start(Making(planned.step, planned.identity, part, own, share, self._digests))
                for name, measures in workers.messages(lambda name, line: watcher.said(steps[name], line)):
                    self._note(steps[name], measures)
                    parts.pop(name).close()
                    self._finish(steps[name])
                    del used[name]
                    watcher.finished(steps[name], time.monotonic() - began[name])

    @contextmanager
    def _folder(self, planned: Planned) -> Iterator[Path]:
        """Create the folder in which a step is made.

        If the step fails, the folder is kept only if the step can resume.
        """
        step, part = planned.step, self._part(planned)
        if not step.resumes:
            shutil.rmtree(part, ignore_errors=True)
        held = None
        try:
            part.mkdir(exist_ok=True)
            if not step.resumes:  # open files vanish with a process that a signal kills
                held = os.open(part, os.O_RDONLY | os.O_DIRECTORY)
            for unfinished in list(part.rglob(".*")):  # what was being written aside when a run was killed
                _remove(unfinished)
            yield part
        except BaseException:
            if not step.resumes:  # nobody goes on with it, and a disk may be full
                shutil.rmtree(part, ignore_errors=True)
            raise
        finally:
            if held is not None:
                os.close(held)

    def _finish(self, planned: Planned) -> None:
        """Rename the complete folder of a step to its final name."""
        shutil.rmtree(planned.folder, ignore_errors=True)  # a damaged one, without its step.json
        self._part(planned).rename(planned.folder)
        _sync(self.folder)

    def timings(self) -> dict[str, dict[str, float]]:
        """Return measurements by step key: threads, wall and CPU time in seconds, and the step's own figures."""
        try:
            return read_json(self.folder / TIMINGS)
        except (OSError, FormatError):  # nothing depends on them
            return {}

    def _note(self, planned: Planned, measures: Mapping[str, float]) -> None:
        timings = self.timings() | {planned.key: dict(measures)}
        with write_binary(self.folder / TIMINGS) as stream:
            stream.write(json.dumps(timings, indent=1, sort_keys=True).encode())

    def _part(self, planned: Planned) -> Path:
        return self.folder / f".{planned.folder.name}{PART}"

    def _clean(self, plan: Sequence[Planned]) -> None:
        """Remove what killed runs left behind, except results that a step of this plan can continue."""
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
    def locked(self) -> Iterator[IO[str]]:
        """Create and lock the folder for this process, and yield the lock. Refuse a folder that another run uses."""
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
                yield lock
            finally:
                self._is_locked = False


def _sources(step: Step) -> set[str]:
    """Return the names of the steps whose results a step uses."""
    return {given.step for given in step.inputs.values() if isinstance(given, Output)}


def _share(free: int, places: int, ready: int, later: int) -> int:
    """Return the threads of the next step, of those that are free.

    The steps that are ready share them. Each place that a later step may take keeps one thread.
    """
    starting = min(ready, places)
    return max(1, (free - min(places - starting, later)) // starting)


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
