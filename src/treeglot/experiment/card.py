"""Cards: one file per system of an experiment, which records how the system was made and what it scored.

A card contains the identities of all steps behind the system, so its keys can be computed again. It also contains the
digests of the data, of the model's files, of the tuned weights and of the outputs. `treeglot verify` checks all of
them. `docs/card.schema.json` describes the format.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from hashlib import blake2b
from pathlib import Path
from typing import Any

from treeglot.base.errors import FormatError
from treeglot.base.files import PathLike, parse_value, read_json, write_binary
from treeglot.base.machine import machine
from treeglot.base.storage import FILES, files_in, within
from treeglot.decode.weights import read_weights
from treeglot.experiment.models import MODELS
from treeglot.experiment.pipeline import Pipeline, Planned
from treeglot.experiment.recipe import Recipe, System
from treeglot.experiment.step import DIGEST, Output, file_digest
from treeglot.models.kinds import find_kind

CARDS = "cards"
VERSION = 1


def publish_cards(pipeline: Pipeline, done: Sequence[Planned], recipe: Recipe, threads: int) -> list[Path]:
    """Write `WORK/cards/SYSTEM.json` for each system of a finished run whose models are published.

    An existing card of the same steps and data is kept, because its files were digested when they were new.
    """
    plan = {planned.step.name: planned for planned in done}
    measured = {"machine": machine(), "threads": threads, "date": datetime.now(timezone.utc).date().isoformat()}
    timings = pipeline.timings()
    folder = pipeline.folder / CARDS
    folder.mkdir(exist_ok=True)
    out = []
    for system in recipe.system:
        path = folder / f"{system.name}.json"
        out.append(path)
        made_of = _made_of(pipeline.folder, plan, recipe, system)
        scoring = {test: plan[f"score {test}"].identity.settings["options"] for test in recipe.test}
        if _is_current(path, made_of, scoring):
            continue
        card = made_of | _results(pipeline.folder, plan, recipe, system)
        steps = {name: timings[plan[name].key] for name in card["steps"] if plan[name].key in timings}
        card["measured"] = measured | {"steps": steps}
        card["digest"] = card_digest(card)
        with write_binary(path) as stream:
            stream.write((json.dumps(card, ensure_ascii=False, indent=1) + "\n").encode())
    return out


def _is_current(path: Path, made_of: Mapping[str, Any], scoring: Mapping[str, Any]) -> bool:
    """Return whether the folder already has a complete card of the same steps and scores."""
    try:
        card = read_json(path)
    except (OSError, FormatError):
        return False
    if card.get("digest") != card_digest(card) or any(card.get(name) != made_of[name] for name in made_of):
        return False
    try:
        return {test: one["options"] for test, one in card["scores"].items()} == scoring
    except (AttributeError, LookupError, TypeError):  # scores of another kind of card
        return False


def model_files(work: PathLike, system: str) -> list[str]:
    """Return the files of a system's model, by their paths in the folder of the experiment.

    Hidden files are left out.
    """
    model = f"{MODELS}/{system}"
    names = [name for name in files_in(within(work, model)) if name != FILES]
    return [f"{model}/{name}" for name in names if not name.rpartition("/")[2].startswith(".")]


def card_digest(card: Mapping[str, Any]) -> str:
    """Return the digest of a card's content, without the digest itself.

    >>> card_digest({"a": 1, "digest": "old"}) == card_digest({"a": 1})
    True
    """
    content = {name: value for name, value in card.items() if name != "digest"}
    text = json.dumps(content, ensure_ascii=False, sort_keys=True)
    return blake2b(text.encode(), digest_size=DIGEST).hexdigest()


def _made_of(work: Path, plan: Mapping[str, Planned], recipe: Recipe, system: System) -> dict[str, Any]:
    """Describe what a system is made of, without reading its large files."""
    ends = [f"train {system.name}", *(step for steps in _translations(recipe, system).values() for step in steps)]
    behind = _behind(plan, ends)
    return {
        "card": VERSION,
        "system": system.name,
        "kind": system.kind,
        "summary": find_kind(system.kind).summary,
        "title": recipe.title,
        "program": plan[ends[0]].identity.program,
        "steps": {name: _step(plan[name]) for name in behind},
        "data": _data(work, [plan[name] for name in behind]) | _references(work, recipe),
    }


def _results(work: Path, plan: Mapping[str, Planned], recipe: Recipe, system: System) -> dict[str, Any]:
    """Return the files of a system, its tuned weights and its scores."""
    model = work / MODELS / system.name
    tunings = [f"tune {system.name}{ending}" for ending in recipe.tunings(system)]
    tuned = [plan[name].folder / "best.weights" for name in tunings if name in plan]
    return {
        "model": {name: file_digest(work / name) for name in model_files(work, system.name)},
        "weights": [_weights(work, path) for path in tuned or [model / "weights.txt"]],
        "scores": {
            test: _scores(work, plan, recipe, system.name, test, [plan[step] for step in steps])
            for test, steps in _translations(recipe, system).items()
        },
    }


def _translations(recipe: Recipe, system: System) -> dict[str, list[str]]:
    """Return the steps that translate each test set, one step for each tuning."""
    endings = recipe.tunings(system)
    return {test: [f"translate {system.name} {test}{ending}" for ending in endings] for test in recipe.test}


def _behind(plan: Mapping[str, Planned], ends: Iterable[str]) -> list[str]:
    """Return the given steps and all steps that they depend on, in the order of the plan."""
    found: set[str] = set()
    waiting = list(ends)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [given.step for given in plan[name].step.inputs.values() if isinstance(given, Output)]
    return [name for name in plan if name in found]


def _step(planned: Planned) -> dict[str, Any]:
    identity = planned.identity
    return {"key": planned.key, "settings": identity.settings, "inputs": identity.inputs}


def _data(work: Path, steps: Iterable[Planned]) -> dict[str, str]:
    """Return the digests of the files that the steps read, by path."""
    return {
        _data_name(work, given): planned.identity.inputs[name]
        for planned in steps
        for name, given in planned.step.inputs.items()
        if not isinstance(given, Output)
    }


def _references(work: Path, recipe: Recipe) -> dict[str, str]:
    """Return the digests of the references, which the steps of a system do not read."""
    return {_data_name(work, path): file_digest(path) for test in recipe.test.values() for path in test.references}


def _weights(work: Path, path: Path) -> dict[str, Any]:
    values = {name: value for name, value in read_weights(path).items() if value}
    return {"file": _name(work, path), "digest": file_digest(path), "values": values}


def _scores(
    work: Path, plan: Mapping[str, Planned], recipe: Recipe, system: str, test: str, outputs: Sequence[Planned]
) -> dict[str, Any]:
    step = plan[f"score {test}"]
    path = step.folder / "scores.json"
    found = next(one for one in parse_value(path.read_bytes(), str(path)) if one["system"] == system)
    first = found["scores"]
    # Both have the metrics in the same order; chrF2 is called chrF where there are several tunings.
    several = [one["scores"] for one in found["tunings"].values()] if "tunings" in found else []
    by_metric = dict(zip(first, several or [[one["score"]] for one in first.values()], strict=True))
    return {
        "references": [_data_name(work, path) for path in recipe.test[test].references],
        "options": step.identity.settings["options"],
        "signatures": {metric: one["signature"] for metric, one in first.items()},
        "outputs": [
            {
                "file": _name(work, planned.folder / "output.txt"),
                "digest": file_digest(planned.folder / "output.txt"),
                "scores": {metric: scores[place] for metric, scores in by_metric.items()},
            }
            for place, planned in enumerate(outputs)
        ],
    }


def _name(work: Path, path: Path) -> str:
    return path.relative_to(work).as_posix()


def _data_name(work: Path, path: Path) -> str:
    """Return a path relative to the folder of the experiment, so that both can be moved together."""
    return Path(os.path.relpath(path.resolve(), work.resolve())).as_posix()
