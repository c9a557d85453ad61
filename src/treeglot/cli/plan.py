"""`treeglot plan`: estimates the cost of training a model."""

from __future__ import annotations

from typing import Annotated

import typer


def plan(
    pairs: Annotated[str, typer.Option(help="Sentence pairs, such as 50000 or 10M.")],
    words: Annotated[str, typer.Option(help="Words of their target side, such as 250M.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON, with the sources.")] = False,
) -> None:
    """Estimate the time, memory and disk space of each step to a model, from measured rates.

    A range shows the smallest and the largest estimate, because several texts were measured. Times are for one thread.
    For corpora that are larger than the measured ones, the command extrapolates and says so in the last column.
    """
    import json
    from dataclasses import asdict

    from treeglot.cli.output import say, show, show_data
    from treeglot.experiment.plan import parse_count, rows
    from treeglot.experiment.plan import plan as estimate
    from treeglot.syntax.draw.bars import columns

    found = estimate(parse_count(pairs), parse_count(words))
    if as_json:
        for each in found:
            show_data(json.dumps(asdict(each), ensure_ascii=False))
        return
    show(columns(rows(found)))
    say("rates and their sources: treeglot plan --json; docs/cost.md explains them")
