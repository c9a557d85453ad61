"""A step of an experiment: its inputs, its settings, and its result.

The key of a step is the digest of everything that its result depends on. This includes the program's code, its
settings, its input files, and the keys of earlier steps. The result is a folder named after the key, which appears when
it is complete. So results of different settings never mix, and an existing result is reused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeAlias

from treeglot.base.files import CHUNK, PathLike, read_json
from treeglot.base.storage import is_remote, open_remote
from treeglot.rules.engines import Engine

DIGEST = 16  # bytes
FINISHED = "step.json"  # in a finished step's folder: what it was made of


def file_digest(path: PathLike) -> str:
    """Return the digest of a file's content, for keys."""
    digest = blake2b(digest_size=DIGEST)
    with open_remote(path) if is_remote(path) else Path(path).open("rb") as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


@dataclass(frozen=True)
class Output:
    """A file that another step produces. Without a name, it is the step's whole folder."""

    step: str
    name: str = ""


Input: TypeAlias = Path | Output


@dataclass(frozen=True)
class Means:
    """The resources that a run may use. They do not change results."""

    threads: int
    memory: int
    engine: Engine | None


@dataclass(frozen=True)
class Task:
    """What the function of a step receives: its inputs by name, and the folder to write to."""

    inputs: Mapping[str, Path]
    digests: Mapping[str, str]  # of the inputs: of a file its content's, of a step's result the step's key
    out: Path  # the folder to write to
    threads: int
    memory: int
    report: Callable[[str], None]
    measure: Callable[[str, float], None]  # notes how fast it was, beside the result
    engine: Engine | None = None  # where shards of the work are done, if not here


@dataclass(frozen=True)
class Step:
    """One step of an experiment. Steps are listed in an order in which each uses only earlier ones."""

    name: str
    run: Callable[[Task], None]
    inputs: Mapping[str, Input]
    settings: Mapping[str, Any] = field(default_factory=dict)  # as JSON has them; threads and memory change nothing
    resumes: bool = False  # whether `run` goes on with what an earlier one left in its folder


@dataclass(frozen=True)
class Identity:
    """Everything that the result of a step depends on."""

    step: str
    program: str  # its version and a digest of its code
    settings: Mapping[str, Any]
    inputs: Mapping[str, str]  # digests of files, keys of steps

    @property
    def key(self) -> str:
        """The key of the step, which is a digest of this identity."""
        return blake2b(self.to_json().encode(), digest_size=DIGEST).hexdigest()

    def to_json(self) -> str:
        """Return the text of the file `step.json`, which describes this identity."""
        return json.dumps(self.__dict__, indent=1, sort_keys=True, ensure_ascii=False) + "\n"

    @staticmethod
    def read(path: Path) -> Identity | None:
        """Read a file that `to_json` produced. The result is None if the file is missing or damaged."""
        try:
            found = Identity(**read_json(path))
        except (OSError, ValueError, TypeError):
            return None
        tables = (found.settings, found.inputs)
        return found if all(isinstance(table, dict) for table in tables) else None

    def differs_from(self, other: Identity) -> list[str]:
        """Describe in words how this identity differs from that of an earlier run."""
        out = [] if self.program == other.program else [f"{other.program} became {self.program}"]
        out += _differences(self.settings, other.settings)
        names = sorted({*self.inputs, *other.inputs})
        out += [f"{name} changed" for name in names if other.inputs.get(name) != self.inputs.get(name)]
        return out


def _differences(here: Mapping[str, Any], there: Mapping[str, Any], place: str = "") -> list[str]:
    """Describe the settings that have changed, including those in nested tables."""
    out = []
    for name in sorted({*here, *there}):
        now, before = here.get(name), there.get(name)
        if name not in there:
            out.append(f"{place}{name} was not set")
        elif isinstance(now, Mapping) and isinstance(before, Mapping):
            out += _differences(now, before, f"{place}{name}.")
        elif name not in here or now != before:
            out.append(f"{place}{name} was {json.dumps(before, ensure_ascii=False)}")
    return out
