"""`treeglot rules`: the rules of a model that have some words."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from treeglot.base.errors import UsageError


def rules(
    model: Annotated[Path, typer.Argument(help="The model's folder.")],
    source: Annotated[str, typer.Option(help="Words and variables in a row of the source side: das [X,1].")] = "",
    target: Annotated[str, typer.Option(help="The same of the target side.")] = "",
    whole: Annotated[bool, typer.Option("--whole", help="Each side is what is given, and no more.")] = False,
    most: Annotated[int, typer.Option(help="Rules shown, the most frequent first.", min=0)] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object a line.")] = False,
) -> None:
    """Search a model's rules by their source side, their target side or both.

    A line has the left-hand side, both sides, the links, counts and probabilities. Words are those that rules have.
    """
    from treeglot.cli.output import say
    from treeglot.rules.find import find_rules

    table = model / "rules.parquet"
    if not table.is_file():
        raise UsageError(f"{model} has no rules.parquet, which training writes beside the compiled table")
    total, found = find_rules(table, source, target, whole=whole, most=most)
    for rule in found:
        print(json.dumps(asdict(rule), ensure_ascii=False) if as_json else rule)
    say(f"{total:,} rules, {len(found):,} of them shown")
