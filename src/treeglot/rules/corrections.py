"""Corrections: rules that are added, forbidden or reweighted on top of a compiled table (docs/corrections.md).

Weights can change, too: a line with the action `weigh` contains a step of the weights instead of a rule
(`treeglot.models.steps`).

Each line of `corrections.txt` is one correction. ` ||| ` separates its fields, and the last fields can be missing:

    action ||| [lhs] ||| source ||| target ||| alignment ||| features ||| author ||| date ||| group ||| labels ||| …

>>> line = "add ||| [X] ||| das Haus ||| the building ||| 0-0 1-1 ||| p_target_given_source=0.9 ||| Anna ||| 2026-11-16"
>>> correction = Correction.parse(line)
>>> correction.source, correction.target, correction.features
('das Haus', 'the building', (('p_target_given_source', 0.9),))
>>> str(correction) == line
True
>>> Correction.parse("forbid ||| [X] ||| das [X,1]").target is None  # whatever the target side
True
"""

from __future__ import annotations

import fcntl
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import PathLike, read_lines, write_binary
from treeglot.base.options import unknown
from treeglot.rules.table import PROBABILITIES

if TYPE_CHECKING:
    from treeglot._core import RuleTable

CORRECTIONS = "corrections.txt"  # in the folder of a model
Action: TypeAlias = Literal["add", "forbid", "reweight", "weigh"]

BAR = "|||"
ANY = "*"  # as a target side: all of them
FIELDS = (
    "action", "lhs", "source", "target", "alignment", "features", "author", "date", "group", "labels", "structure"
)  # fmt: skip
_BLANKS = re.compile(r"[ \t]+")
_ODD = re.compile(r"[\0-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]|^ | $|  ")  # what no field has
_BARS = re.compile(r"(?:^| )\|\|\|(?: |$)")


@dataclass(frozen=True)
class Correction:
    """One rule that is added, forbidden or reweighted.

    Sides, links, labels and structure are written as in a rule table. A target of None matches any target, and an empty
    left-hand side matches any label; an added rule must have both. `features` maps names to values; `p_…` and `lex_…`
    are probabilities. A `weigh` line has the key of the weights as its source, and relative changes of weights as its
    features. Corrections of one `group` belong together, and undoing removes all of them.
    """

    action: Action
    lhs: str
    source: str
    target: str | None
    alignment: str = ""
    features: tuple[tuple[str, float], ...] = ()
    author: str = ""
    date: str = ""  # ISO 8601: 2026-11-16, or with a time
    group: str = ""
    labels: str = ""
    structure: str = ""

    def __post_init__(self) -> None:
        """Refuse a correction whose fields do not fit together."""
        if self.action not in get_args(Action):
            raise UsageError(unknown("action", self.action, get_args(Action)))
        for name in ("lhs", "source", "target", "alignment", "author", "date", "group", "labels", "structure"):
            _check_text(name, getattr(self, name) or "")
        if not self.source:
            raise UsageError("there is no source side; expected words or variables")
        if self.action == "add" and self.target is None:
            raise UsageError("a rule is added without a target side; expected one, which may be empty")
        if self.action == "add" and not self.lhs:
            raise UsageError("a rule is added without a left-hand side; expected one such as [X]")
        if " " in self.lhs:
            raise UsageError(f"the left-hand side is {self.lhs!r}; expected a label")
        if self.action in ("reweight", "weigh") and not self.features:
            what = "a rule is reweighted" if self.action == "reweight" else "weights move"
            raise UsageError(f"{what} without features; expected some such as p_x=0.5")
        if self.action == "weigh" and (self.lhs or self.target is not None or self.alignment or self.labels):
            raise UsageError("a step of weights has a left-hand side, a target, links or labels; expected features")
        if self.action == "forbid" and (self.features or self.alignment or self.labels):
            raise UsageError("a forbidden rule has features, links or labels; expected its sides")
        seen: set[str] = set()
        for name, value in self.features:
            _check_feature(name, value, self.action)
            if name in seen:
                raise UsageError(f"feature {name!r} is given twice")
            seen.add(name)
        if self.date:
            try:
                datetime.fromisoformat(self.date)
            except ValueError as error:
                raise UsageError(f"{self.date!r} is not a date; expected one such as 2026-11-16") from error

    @staticmethod
    def parse(line: str) -> Correction:
        """Parse a line of `corrections.txt`. A bad line raises `UsageError`."""
        fields = _split(line)
        if not 3 <= len(fields) <= len(FIELDS):
            shown = f" {BAR} ".join(FIELDS[:4])
            raise UsageError(f"{len(fields)} fields; expected 3 to {len(FIELDS)}: {shown} and so on")
        given = dict(zip(FIELDS, fields, strict=False))
        lhs = given.pop("lhs")
        if lhs and not (len(lhs) > 2 and lhs.startswith("[") and lhs.endswith("]")):
            raise UsageError(f"the left-hand side is {lhs!r}; expected a label in brackets such as [X]")
        target = given.pop("target", ANY if given["action"] == "forbid" else None)
        features = tuple(_parse_feature(part) for part in given.pop("features", "").split(" ") if part)
        return Correction(
            action=given.pop("action"),  # type: ignore[arg-type]  # refused if it is none
            lhs=lhs[1:-1],
            source=given.pop("source"),
            target=None if target == ANY else target,
            features=features,
            **given,
        )

    def __str__(self) -> str:
        """Return the correction as a line of `corrections.txt`."""
        features = " ".join(f"{name}={value!r}" for name, value in self.features)
        lhs = f"[{self.lhs}]" if self.lhs else ""
        target = ANY if self.target is None else self.target
        notes = (self.author, self.date, self.group, self.labels, self.structure)
        fields = [self.action, lhs, self.source, target, self.alignment, features, *notes]
        while len(fields) > 4 and not fields[-1]:
            fields.pop()
        return fields[0] + "".join(f" {BAR} {field}" if field else f" {BAR}" for field in fields[1:])


def _split(line: str) -> list[str]:
    """Split a line into fields. In a word that consists of three bars, a backslash precedes the bars."""
    fields: list[list[str]] = [[]]
    for token in _BLANKS.split(line.strip(" \t")):
        if token == BAR:
            fields.append([])
        else:
            fields[-1].append(token)
    return [" ".join(field) for field in fields]


def _check_text(name: str, value: str) -> None:
    if _ODD.search(value):
        raise UsageError(f"{name} is {value!r}; expected text with single blanks between its parts")
    if _BARS.search(value):
        raise UsageError(f"{name} has {BAR!r}, which stands between fields; expected a backslash before it")
    if name == "target" and value == ANY:
        raise UsageError(f"the target side is {ANY!r}, which stands for any; expected a backslash before it")


def _check_feature(name: str, value: float, action: Action) -> None:
    if not name or " " in name or _ODD.search(name):
        raise UsageError(f"a feature is called {name!r}; expected a name without blanks")
    if not math.isfinite(value) or abs(value) > 1e30:
        raise UsageError(f"feature {name!r} is {value}; expected a finite number")
    if action == "weigh":
        if abs(value) > 1:
            raise UsageError(f"the weight of {name!r} moves by {value}; expected a share of it, -1 to 1")
    elif name.startswith(PROBABILITIES) and not 1e-37 < value <= 1:
        raise UsageError(f"feature {name!r} is {value}; expected a probability above 0")


def _parse_feature(part: str) -> tuple[str, float]:
    name, equals, value = part.rpartition("=")
    try:
        if not equals or "_" in value:
            raise ValueError
        return name, float(value)
    except ValueError:
        raise UsageError(f"{part!r} is not a feature; expected NAME=NUMBER such as p_x=0.5") from None


@dataclass(frozen=True)
class Corrections:
    """Corrections in the order in which they apply. Later corrections see the effect of earlier ones.

    `file` and `lines` name the origin of each correction, for errors and reports.
    """

    corrections: tuple[Correction, ...]
    file: str = CORRECTIONS
    lines: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """If the corrections have no line numbers, number them from 1."""
        if not self.lines:
            object.__setattr__(self, "lines", tuple(range(1, len(self.corrections) + 1)))

    @staticmethod
    def read(path: PathLike) -> Corrections:
        """Read a file with one correction per line. Empty lines and lines that begin with `#` are comments."""
        numbered = [(number, each) for number, _, each in _read(path) if each is not None]
        return Corrections(tuple(each for _, each in numbered), os.fspath(path), tuple(n for n, _ in numbered))

    @staticmethod
    def of(given: Iterable[Correction] | PathLike) -> Corrections:
        """Return the given corrections, or read those of a file."""
        if isinstance(given, Corrections):
            return given
        return Corrections.read(given) if isinstance(given, str | os.PathLike) else Corrections(tuple(given))

    def write(self, path: PathLike) -> None:
        """Write these corrections to a file, which then contains nothing else. The write is atomic and durable."""
        with changing(path):
            _write(path, [str(each) for each in self.corrections])

    def apply(self, table: RuleTable) -> tuple[RuleTable, list[int]]:
        """Apply the corrections to a table. Return the new table, and how many rules each correction affected.

        Corrections that were applied to the table before have no effect in the new table. Nothing is copied, and both
        tables remain usable.
        """
        numbered = zip(self.lines, self.corrections, strict=True)
        rows = [_row(line, each) for line, each in numbered if each.action != "weigh"]
        made, changed = table.corrected(self.file, rows)
        counts = iter(changed)
        return made, [0 if each.action == "weigh" else next(counts) for each in self.corrections]

    @cached_property
    def of_rules(self) -> tuple[Correction, ...]:
        """The corrections that concern rules, without steps of the weights."""
        return tuple(each for each in self.corrections if each.action != "weigh")

    def of_group(self, group: str) -> Corrections:
        """Return the corrections of one group."""
        return self._chosen(lambda each: each.group == group)

    def without_group(self, group: str) -> Corrections:
        """Return the corrections of all other groups."""
        return self._chosen(lambda each: each.group != group)

    @property
    def groups(self) -> tuple[str, ...]:
        """The names of the groups, in the order of their first corrections."""
        return tuple(dict.fromkeys(each.group for each in self.corrections if each.group))

    @property
    def digest(self) -> str:
        """A digest of everything that affects translations, so without authors, dates and groups."""
        made = blake2b(digest_size=8)
        for each in self.corrections:
            fields = (each.action, each.lhs, each.source, each.target, each.alignment, each.features, each.labels)
            made.update(repr((*fields, each.structure)).encode())
        return made.hexdigest()

    def _chosen(self, test: Callable[[Correction], bool]) -> Corrections:
        chosen = [place for place, each in enumerate(self.corrections) if test(each)]
        lines = tuple(self.lines[place] for place in chosen)
        return Corrections(tuple(self.corrections[place] for place in chosen), self.file, lines)

    def __len__(self) -> int:
        return len(self.corrections)

    def __iter__(self) -> Iterator[Correction]:
        return iter(self.corrections)


def _row(line: int, each: Correction) -> Any:
    """Convert a correction to a row for the core. Its values have the form of those in compiled tables."""
    features = [(name, math.log(v) if name.startswith(PROBABILITIES) else v) for name, v in each.features]
    notes = (each.alignment, each.labels, each.structure)
    return line, each.action, each.lhs, each.source, each.target, *notes, features


def append(path: PathLike, more: Iterable[Correction]) -> None:
    """Append corrections to a file, atomically and durably. If there is no such file, create it.

    Comments stay. When this returns, neither `kill -9` nor a power failure can lose them. Other processes that change
    the file wait.
    """
    added = "".join(f"{each}\n" for each in more).encode()
    with changing(path):
        old = Path(path).read_bytes() if Path(path).exists() else b""
        ended = b"" if not old or old.endswith(b"\n") else b"\n"
        with write_binary(path) as stream:
            stream.write(old + ended + added)


def remove_group(path: PathLike, group: str) -> Corrections:
    """Remove the corrections of a group from a file, atomically and durably, and return them. Comments stay."""
    with changing(path):
        lines = list(_read(path))
        removed = [(number, each) for number, _, each in lines if each is not None and each.group == group]
        if removed:
            _write(path, [line for _, line, each in lines if each is None or each.group != group])
    return Corrections(tuple(each for _, each in removed), os.fspath(path), tuple(number for number, _ in removed))


@contextmanager
def changing(path: PathLike) -> Iterator[None]:
    """During a block, lock the folder against other processes that change its corrections or indexes.

    On file systems without locks, nothing is locked.
    """
    descriptor = os.open(Path(path).resolve().parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
        os.fsync(descriptor)  # the new name of the file
    finally:
        os.close(descriptor)


def _read(path: PathLike) -> Iterator[tuple[int, str, Correction | None]]:
    """Yield the number and text of each line, with its correction, or with None for a comment."""
    for number, line in enumerate(read_lines(path), start=1):
        try:
            comment = not line.strip() or line.startswith("#")
            yield number, line, None if comment else Correction.parse(line)
        except UsageError as error:
            raise FormatError(os.fspath(path), number, str(error)) from error


def _write(path: PathLike, lines: Iterable[str]) -> None:
    with write_binary(path) as stream:
        stream.writelines(line.encode() + b"\n" for line in lines)
