"""Checks a card: its files must exist, and their content must match the card."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from treeglot.base.errors import FormatError, UsageError, shown
from treeglot.base.files import PathLike, read_json, read_lines
from treeglot.base.options import from_table
from treeglot.base.storage import above, is_file, is_remote, within
from treeglot.evaluate.report import ReportOptions, score_systems
from treeglot.experiment.card import VERSION, card_digest, model_files
from treeglot.experiment.step import Identity, file_digest

State: TypeAlias = Literal["matches", "differs", "absent"]
TOLERANCE = 1e-6  # of scores; sums in another order differ by rounding


@dataclass(frozen=True)
class Check:
    """The result of one check: what was checked, and whether it holds."""

    what: str
    state: State
    problem: str = ""

    def __str__(self) -> str:
        return f"{self.state:8} {self.what}{f': {self.problem}' if self.problem else ''}"


def verify_card(path: PathLike, data: Sequence[PathLike] = ()) -> Iterator[Check]:
    """Check a card: its digest, the keys of its steps, the digests of its files, and its scores.

    Files are looked up where the experiment ran, beside the folder of the card. Data files are also looked up by name
    in the folders of `data`. All of these can be URIs.
    """
    card, place = _read(path), shown(os.fspath(path))
    try:
        yield from _checks(card, above(path, 2), data)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, UsageError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(place, 0, f"is not a card: {error!r}; expected docs/card.schema.json") from None


def _read(path: PathLike) -> dict[str, Any]:
    card = read_json(path)
    version = card.get("card")
    if version != VERSION:
        found = "is not a card" if version is None else f"is a card of version {version!r}"
        raise FormatError(shown(os.fspath(path)), 0, f"{found}; expected one of version {VERSION}")
    return card


def _checks(card: Mapping[str, Any], work: PathLike, data: Sequence[PathLike]) -> Iterator[Check]:
    same = card.get("digest") == card_digest(card)
    yield Check("the card", "matches") if same else Check("the card", "differs", "it was edited after it was written")
    yield from _keys(card)
    found = {name: _find(work, name, data) for name in card["data"]}
    yield from (_file(f"data {name}", found[name], digest) for name, digest in card["data"].items())
    yield from (_file(f"model {name}", _place(work, name), digest) for name, digest in card["model"].items())
    added = set(model_files(work, card["system"]))
    for name in sorted(added - card["model"].keys()):
        yield Check(f"model {name}", "differs", "the card does not have this file")
    for one in card["weights"]:
        yield _file(f"weights {one['file']}", _place(work, one["file"]), one["digest"])
    for test, scores in card["scores"].items():
        references = [found[name] for name in scores["references"]]
        for one in scores["outputs"]:
            output = _place(work, one["file"])
            yield _file(f"output {one['file']}", output, one["digest"])
            yield _score(f"scores on {test} of {one['file']}", output, references, scores, one["scores"])


def _keys(card: Mapping[str, Any]) -> Iterator[Check]:
    """Check that each step's settings and inputs give its key, and that the card contains all earlier steps."""
    known = {step["key"] for step in card["steps"].values()}
    known |= set(card["data"].values())
    for name, step in card["steps"].items():
        identity = Identity(name, card["program"], step["settings"], step["inputs"])
        unknown = [given for given, digest in step["inputs"].items() if digest.split("/")[0] not in known]
        if identity.key != step["key"]:
            yield Check(f"step {name}", "differs", "its settings and inputs have another key")
        elif unknown:
            yield Check(f"step {name}", "differs", f"the card does not say where its {unknown[0]} comes from")
        else:
            yield Check(f"step {name}", "matches")


def _find(work: PathLike, name: str, data: Sequence[PathLike]) -> PathLike:
    """Find a data file, at its old place or by its name in one of the given folders."""
    places = [_place(work, name), *(within(folder, Path(name).name) for folder in data)]
    return next((path for path in places if is_file(path)), places[0])


def _place(work: PathLike, name: str) -> PathLike:
    """Find a file that a card names: in the folder of the experiment, beside it, or anywhere on this machine."""
    while is_remote(work) and name.startswith("../"):
        work, name = above(work, 1), name.removeprefix("../")
    return Path(name) if Path(name).is_absolute() else within(work, name)


def _file(what: str, path: PathLike, digest: str) -> Check:
    if not is_file(path):
        return Check(what, "absent")
    if file_digest(path) != digest:
        return Check(what, "differs", "its content is another one")
    return Check(what, "matches")


def _score(
    what: str, output: PathLike, references: Sequence[PathLike], made: Mapping[str, Any], wanted: Mapping[str, float]
) -> Check:
    missing = [path for path in (output, *references) if not is_file(path)]
    if missing:
        return Check(what, "absent", f"{shown(os.fspath(missing[0]))} is not there")
    options = replace(from_table(ReportOptions, made["options"]), samples=1)  # intervals are not looked at
    try:
        [found] = score_systems({"": read_lines(output)}, [read_lines(path) for path in references], options=options)
    except (FormatError, UsageError) as error:  # of a file that is not the one that was scored
        return Check(what, "differs", str(error).strip())
    now = {score.name: score for score in found.scores}
    for metric, value in wanted.items():
        if metric not in now:
            return Check(what, "differs", f"there is no metric {metric}")
        if abs(now[metric].value - value) > TOLERANCE:
            return Check(what, "differs", f"{metric} is {now[metric].value:.4f}; the card says {value:.4f}")
        if (signature := now[metric].signature) != made["signatures"][metric]:
            return Check(what, "differs", f"{metric} is made by {signature}, not by {made['signatures'][metric]}")
    return Check(what, "matches")
