"""`treeglot run`: runs an experiment from its recipe."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from treeglot.base.errors import UsageError
from treeglot.base.options import in_file
from treeglot.cli.output import say, shown_warnings
from treeglot.cli.parameters import HERE, MasterOption, Threads


def run(
    recipe: Annotated[
        Path, HERE, typer.Argument(help="A TOML file with corpus, tests and systems (docs/experiments.md).")
    ],
    work: Annotated[
        Path | None,
        HERE,
        typer.Option(help="The folder of results; default: beside the recipe, by its name."),
    ] = None,
    data: Annotated[
        list[Path] | None,
        HERE,
        typer.Option(
            help="The folder that the recipe's paths are relative to; of several the first that has the file. Default: "
            "the recipe's own."
        ),
    ] = None,
    seeds: Annotated[
        str, typer.Option(metavar="SEEDS", help="Seeds of tuning, by commas, instead of the recipe's: 1,2,3.")
    ] = "",
    systems: Annotated[
        str, typer.Option(metavar="NAMES", help="Only these systems, by commas, and the baseline.")
    ] = "",
    plan: Annotated[
        bool, typer.Option("--plan", help="Print the steps that would run, with reasons, and exit.")
    ] = False,
    threads: Threads = 1,
    jobs: Annotated[
        int, typer.Option(min=1, help="Steps that run at once, each in a process; they share threads and memory.")
    ] = 1,
    memory: Annotated[str, typer.Option(help="Approximate memory to use; the rest goes through the disk.")] = "2G",
    engine: Annotated[
        Literal["duckdb", "spark"],
        typer.Option(
            help="Where parses, n-grams, rules and k-best lists for tuning are made: here, or on a Spark cluster. The "
            "result is the same."
        ),
    ] = "duckdb",
    master: MasterOption = "",
) -> None:
    """Run an experiment: make the missing results, and write a report.

    If a run is interrupted, the same command continues it.
    """
    from treeglot.base.sizes import parse_size
    from treeglot.cli.board import watcher
    from treeglot.experiment import Pipeline, load_recipe, publish, steps_of
    from treeglot.experiment.card import publish_cards
    from treeglot.experiment.models import publish_models
    from treeglot.experiment.recipe import narrowed
    from treeglot.rules.engines import open_engine

    if jobs > 1 and engine != "duckdb":
        raise UsageError(f"--jobs is {jobs} with --engine {engine}; expected 1: a cluster runs one step at a time")
    names, numbers = [name for name in systems.split(",") if name], _numbers(seeds)
    try:
        loaded = load_recipe(recipe, data)
    except UsageError as error:
        raise in_file(recipe, error) from error
    loaded = narrowed(loaded, names, numbers)
    try:
        steps = steps_of(loaded)
    except UsageError as error:
        raise in_file(recipe, error) from error
    pipeline = Pipeline(steps, work or recipe.parent / recipe.stem)
    if plan:
        planned_steps = pipeline.plan()
        width = max(len(planned.step.name) for planned in planned_steps) + 2
        for planned in planned_steps:
            state = "done" if planned.done else "to do"
            print(f"{state:6}{planned.step.name:{width}}{planned.key[:12]}  {planned.reason}".rstrip())
        return
    with open_engine(engine, master, threads) as opened, watcher() as shown, shown_warnings():
        done = pipeline.run(threads=threads, memory=parse_size(memory), watcher=shown, engine=opened, jobs=jobs)
    models = publish_models(pipeline.folder, done, [system.name for system in loaded.system])
    report = publish(pipeline, done, threads)
    cards = publish_cards(pipeline, done, loaded, threads)
    print(report)
    say(f"models in {models[0].parent}: {', '.join(path.name for path in models)}")
    say(f"cards in {cards[0].parent}; treeglot verify checks them")
    say(f"{len(done)} steps done; {report.page}")


def _numbers(text: str) -> list[int]:
    """Parse numbers that are separated by commas."""
    parts = [part.strip() for part in text.split(",")] if text else []
    if not all(part.isascii() and part.isdigit() and len(part) < 20 for part in parts):
        raise UsageError(f"--seeds is {text!r}; expected numbers between commas, such as 1,2,3")
    return [int(part) for part in parts]
