"""Checks whether two systems can be compared: tuner, smoothing and additional features must be equal.

If a system differs in one of these, its gain may come from this difference instead of its rules.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from treeglot.base.options import resolved
from treeglot.experiment.recipe import Recipe, System
from treeglot.models.kinds import find_kind
from treeglot.tune import METHODS


def conditions(recipe: Recipe, system: System) -> dict[str, Any]:
    """Return what affects the scores of a system besides its model, by name."""
    tune = recipe.tuner(system)
    chosen = resolved(find_kind(system.kind).options, system.options)
    table = chosen.get("compile", {})
    tuner: dict[str, Any] = {}
    if tune.method != "none":
        loop = dataclasses.asdict(tune)
        tuner = {name: value for name, value in loop.items() if name not in ("method", "seed", "options")}
        own = resolved(METHODS[tune.method], tune.options)  # may have the names of the loop's
        tuner |= {f"options.{name}": value for name, value in own.items()}
    return {
        "tuner": tune.method,
        "options of the tuner": tuner,
        "smoothing": chosen.get("score", {}).get("smoothing"),
        "indicators": sorted(table.get("indicators", ())),
        "shapes": table.get("shapes"),
        "word pairs": table.get("word_pairs"),
        "words without links": table.get("unlinked"),
        "words of context features": chosen.get("context_words"),
        "neural model": bool(chosen.get("neural")),
        "lexical network": bool(chosen.get("neural_lexical")),
        "classes of the language model": chosen.get("class_lm", {}).get("classes"),
    }


def unlike(recipe: Recipe, system: System) -> list[str]:
    """Describe how a system's conditions differ from those of the baseline. The result is empty if they are equal."""
    baseline = next(one for one in recipe.system if one.name == (recipe.baseline or recipe.system[0].name))
    here, there = conditions(recipe, system), conditions(recipe, baseline)
    if here["tuner"] != there["tuner"]:  # its options differ of necessity
        del here["options of the tuner"]
    return [f"{name}: {_differing(value, there[name])}" for name, value in here.items() if value != there[name]]


def _differing(value: Any, other: Any) -> str:
    if isinstance(value, dict):  # of options, only those that differ
        names = [name for name in {**value, **other} if value.get(name) != other.get(name)]
        return ", ".join(f"{name} {_differing(value.get(name), other.get(name))}" for name in names)
    return f"{_shown(value)}, not {_shown(other)}"


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value)
