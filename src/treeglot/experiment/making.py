"""Makes the result of one step, in any process."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from treeglot.base.errors import FormatError, TreeglotError
from treeglot.base.files import write_binary
from treeglot.base.machine import PeakMemory
from treeglot.base.storage import find_uri, is_remote
from treeglot.experiment.step import FINISHED, Identity, Input, Means, Output, Step, Task, file_digest


@dataclass(frozen=True)
class Making:
    """All that is needed to make a step: its identity, the folder to write to, and the folders of earlier steps."""

    step: Step
    identity: Identity
    part: Path
    folders: Mapping[str, Path]
    means: Means
    digests: Digests  # those known so far


class Digests:
    """Computes digests of files. A file is read again only if its size or its times have changed."""

    def __init__(self) -> None:
        """Create the cache without any digest."""
        self.known: dict[tuple[Path, int, int, int], str] = {}

    def of(self, name: str, given: Input, keys: Mapping[str, str], step: Step) -> str:
        """Return the digest of an input for keys.

        For a file, it covers the content; for a step, it is the step's key.
        """
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


def make(making: Making, report: Callable[[str], None]) -> dict[str, float]:
    """Make the complete result of a step in its folder. Return what was measured."""
    step, identity, means = making.step, making.identity, making.means
    began, cpu, peak = time.monotonic(), time.process_time(), PeakMemory()
    inputs = {name: _place(given, making.folders) for name, given in step.inputs.items()}
    before = {
        path: _stamp(path) for given, path in zip(step.inputs.values(), inputs.values(), strict=True) if given == path
    }
    for name, path in inputs.items():  # the plan, and so the key, may be hours old
        if path in before and making.digests.of(name, path, {}, step) != identity.inputs[name]:
            raise TreeglotError(f"{path} changed before step {step.name!r} read it; run again")
    measures: dict[str, float] = {}
    note = measures.__setitem__
    step.run(Task(inputs, identity.inputs, making.part, means.threads, means.memory, report, note, means.engine))
    for path, stamp in before.items():
        if _stamp(path) != stamp:
            raise TreeglotError(f"{path} changed while step {step.name!r} read it; run again")
    with write_binary(making.part / FINISHED) as stream:
        stream.write(identity.to_json().encode())
    measures |= {
        "threads": means.threads,
        "wall": round(time.monotonic() - began, 3),
        "cpu": round(time.process_time() - cpu, 3),
    }
    if (memory := peak.bytes()) is not None:
        measures["peak_memory"] = memory
    return measures


def _place(given: Input, folders: Mapping[str, Path]) -> Path:
    return folders[given.step] / given.name if isinstance(given, Output) else given


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns
