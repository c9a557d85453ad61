"""Writes the report of an experiment: a self-contained page, and a file with its figures.

The speed of each system is stored in a separate file beside the page, `timings.js`, which the page shows if it exists.
Everything else is byte-identical in each run.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import treeglot
from treeglot.base.files import parse_json, parse_value, read_json, read_lines, write_binary
from treeglot.base.options import load_options
from treeglot.evaluate import Bleu
from treeglot.experiment.comparable import unlike
from treeglot.experiment.pipeline import Pipeline, Planned
from treeglot.experiment.recipe import Recipe, System
from treeglot.experiment.results import REPORT, Report, load_report
from treeglot.experiment.step import Input, Output, Step, Task
from treeglot.models.folder import ModelFile
from treeglot.models.kinds import find_kind
from treeglot.rules.columns import reading
from treeglot.syntax.draw.page import DRAWN, SCRIPT, document

KEY = 12  # characters of a step's key that are shown
BLOCK = 10  # sentences whose drawings are compressed together
NAMES = ("report.html", REPORT)


def report_step(recipe: Recipe) -> Step:
    """Return the last step of an experiment, which makes the page and the figures."""
    inputs: dict[str, Input] = {}
    for system in recipe.system:
        inputs[f"model {system.name}"] = Output(f"train {system.name}")
        if recipe.tuner(system).method != "none":
            inputs[f"tuning {system.name}"] = Output(f"tune {system.name}")
        for test in recipe.test:
            inputs[f"output {system.name} {test}"] = Output(f"translate {system.name} {test}")
    for one in recipe.combination:
        for test in recipe.test:
            inputs[f"output {one.name} {test}"] = Output(f"combine {one.name} {test}", "output.txt")
    for name, test_set in recipe.test.items():
        inputs[f"scores {name}"] = Output(f"score {name}", "scores.json")
        inputs |= {f"reference {name} {n}": path for n, path in enumerate(test_set.references)}
    settings = {
        "title": recipe.title,
        "baseline": recipe.baseline or recipe.system[0].name,
        "lowercase": recipe.lowercase,
        "systems": [[system.name, system.kind] for system in recipe.system],
        "combinations": [[one.name, *one.systems] for one in recipe.combination],
        "tests": list(recipe.test),
        "seeds": list(recipe.seeds),
        "unlike": {system.name: unlike(recipe, system) for system in recipe.system},
    }
    return Step("report", partial(_report, recipe), inputs, settings)


def publish(pipeline: Pipeline, done: Sequence[Planned], threads: int) -> Report:
    """Copy the report of a finished run into its folder, and add the measurements."""
    plan = {planned.step.name: planned for planned in done}
    timings = pipeline.timings()
    for name in NAMES:
        with write_binary(pipeline.folder / name) as stream:
            stream.write((plan["report"].folder / name).read_bytes())
    measured = {name: timings[planned.key] for name, planned in plan.items() if planned.key in timings}
    text = json.dumps({"threads": threads, "steps": measured}, ensure_ascii=False, indent=1, sort_keys=True)
    with write_binary(pipeline.folder / "timings.js") as stream:
        stream.write(f"const TIMINGS = {text};\n".encode())
    return load_report(pipeline.folder)


def _report(recipe: Recipe, task: Task) -> None:
    data: dict[str, Any] = {
        "title": recipe.title or "Experiment",
        "baseline": recipe.baseline or recipe.system[0].name,
        "signature": f"treeglot {treeglot.__version__}",
        "seeds": list(recipe.seeds),
        "systems": [_system(recipe, system, task) for system in recipe.system],
        "combinations": [{"name": one.name, "systems": list(one.systems)} for one in recipe.combination],
        "tests": {name: _test(recipe, name, task) for name in recipe.test},
    }
    figures = data | {"tests": {name: {"scores": test["scores"]} for name, test in data["tests"].items()}}
    with write_binary(task.out / "report.json") as stream:
        stream.write((json.dumps(figures, ensure_ascii=False, indent=1) + "\n").encode())
    with write_binary(task.out / "report.html") as stream:
        stream.write(page(data).encode())


def page(data: dict[str, Any]) -> str:
    """Return a self-contained page that shows `data`."""
    here = files("treeglot.experiment")
    style, program = (here.joinpath(name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    # Inside <script> "</" would end the data too early, and after "<!--<script" nothing would.
    held = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    data_script = f"<script>const BLOCK = {BLOCK}, DATA = {held};</script>"
    scripts = f'<script src="timings.js"></script>\n<script>{SCRIPT}{program}</script>'
    return document(data["title"], ["<main></main>", data_script, scripts], DRAWN + style)


def _rules(model: Path) -> dict[str, int]:
    """Return the number of rules in the table. The result is empty if the model finds its rules on demand."""
    import duckdb

    table = model / "rules.parquet"
    if load_options(ModelFile, model / "model.toml").on_demand:
        return {}
    with reading(table), duckdb.connect() as connection:
        connection.execute("SELECT count(*), count(*) FILTER (variables = 0) FROM read_parquet(?)", [str(table)])
        rules, flat = connection.fetchone() or (0, 0)
    return {"rules": rules, "flat": flat, "hierarchical": rules - flat}


def _system(recipe: Recipe, system: System, task: Task) -> dict[str, Any]:
    from treeglot.decode.weights import read_weights
    from treeglot.tune.loop import read_log

    model, tuned = task.inputs[f"model {system.name}"], task.inputs.get(f"tuning {system.name}")
    tuning = read_log(tuned / "log.jsonl") if tuned is not None else []
    weights = read_weights(model / "weights.txt" if tuned is None else tuned / "best.weights")
    return {
        "name": system.name,
        "kind": system.kind,
        "summary": find_kind(system.kind).summary,
        "signature": _signature(recipe, system, task),
        "unlike": unlike(recipe, system),
        **_rules(model),
        "different": read_json(model / "extraction.json").get("different"),
        "features": sum(value != 0 for value in weights.values()),
        "dev": dev_score(tuning),
        "tuning": [
            {key: entry[key] for key in ("iteration", "score", "held_out") if key in entry}
            for entry in tuning
            if "mean_of" not in entry
        ],
    }


def dev_score(log: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the score of the tuned weights on dev.

    >>> dev_score([{"score": 20.0}, {"score": 23.0}, {"score": 22.5, "mean_of": 1}])
    22.5
    >>> dev_score([{"score": 20.0}, {"score": 23.0}, {"score": 19.5, "mean_of": 1}])
    23.0
    """
    iterations = [float(entry["score"]) for entry in log if "mean_of" not in entry]
    means = [float(entry["score"]) for entry in log if "mean_of" in entry]
    if means and means[-1] >= iterations[0]:
        return means[-1]
    return max(iterations, default=None)


def _signature(recipe: Recipe, system: System, task: Task) -> str:
    """Return a line that identifies how a system was made. Its keys stand for all settings and data."""

    def key(name: str) -> str:
        return task.digests[f"{name} {system.name}"][:KEY]

    tune = recipe.tuner(system)
    seeds = ",".join(map(str, recipe.seeds or (tune.seed,)))
    weights = "none" if tune.method == "none" else f"{tune.method}|seed:{seeds}|tuning:{key('tuning')}"
    return f"kind:{system.kind}|model:{key('model')}|tuned:{weights}|version:{treeglot.__version__}"


def _test(recipe: Recipe, test: str, task: Task) -> dict[str, Any]:
    outputs, judged = {}, {}
    sources: list[str] = []
    drawn: list[list[str]] = []  # by system
    number = len(recipe.test[test].references)
    references = [read_lines(task.inputs[f"reference {test} {n}"]) for n in range(number)]
    bleu = Bleu(lowercase=recipe.lowercase, smooth="add-one")
    prepared = bleu.prepare(references)
    for system in recipe.system:
        folder = task.inputs[f"output {system.name} {test}"]
        output, drawings = folder / "output.jsonl", folder / "drawn.jsonl"
        entries = [parse_json(line, str(output), n, source=str, text=str) for n, line in _numbered(output)]
        drawn.append([parse_value(line, str(drawings), n) for n, line in _numbered(drawings)])
        sources = sources or [entry["source"] for entry in entries]
        outputs[system.name] = [entry["text"] for entry in entries]
    outputs |= {one.name: read_lines(task.inputs[f"output {one.name} {test}"]) for one in recipe.combination}
    for name, texts in outputs.items():
        judged[name] = bleu.scores(prepared.statistics(texts)).round(1).tolist()
    return {
        "sources": sources,
        "references": references,
        "outputs": outputs,
        "judged": judged,
        "drawn": packed(list(zip(*drawn, strict=True))),
        "scores": parse_value(task.inputs[f"scores {test}"].read_bytes(), str(task.inputs[f"scores {test}"])),
    }


def _numbered(path: Path) -> Iterator[tuple[int, str]]:
    return enumerate(read_lines(path), start=1)


def packed(drawings: Sequence[Sequence[str]]) -> list[str]:
    """Return the drawings of all systems for each sentence, compressed for the page.

    The drawings are many and similar, so blocks of sentences are compressed. The page unpacks them on demand.
    """
    blocks = (drawings[begin : begin + BLOCK] for begin in range(0, len(drawings), BLOCK))
    return [base64.b64encode(zlib.compress(json.dumps(block).encode(), 9)).decode() for block in blocks]
