"""`treeglot rules`: searches and corrects the rules of a model."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treeglot.base.errors import FormatError, UsageError
from treeglot.cli.parameters import ChangedModel

if TYPE_CHECKING:
    from treeglot.rules.corrections import Action, Correction

RULE = "[LHS] ||| SOURCE ||| TARGET ||| ALIGNMENT ||| FEATURES"


def rules(
    model: ChangedModel,
    source: Annotated[str, typer.Option(help="Words and variables in a row of the source side: das [X,1].")] = "",
    target: Annotated[str, typer.Option(help="The same of the target side.")] = "",
    whole: Annotated[bool, typer.Option("--whole", help="The sides must be exactly the given ones.")] = False,
    most: Annotated[int, typer.Option(help="Rules shown, the most frequent first.", min=0)] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object a line.")] = False,
    add: Annotated[
        list[str] | None,
        typer.Option(help=f"A rule to add, {RULE}; the end may be missing, and [X] is the default.", metavar="RULE"),
    ] = None,
    forbid: Annotated[
        list[str] | None,
        typer.Option(
            help="Rules to forbid, in the same form; without a target, all rules of the source side.", metavar="RULE"
        ),
    ] = None,
    reweight: Annotated[
        list[str] | None, typer.Option(help="Rules that get the given features.", metavar="RULE")
    ] = None,
    author: Annotated[str | None, typer.Option(help="Who corrects; by default the user's name.")] = None,
    group: Annotated[str, typer.Option(help="A name for these corrections together.")] = "",
) -> None:
    """Search a model's rules by source side, target side or both. Add, forbid or reweight rules.

    The output has one line per rule, with its left-hand side, both sides, links, counts and probabilities. Write words
    in the form that the rules have. Corrections are appended to corrections.txt in the model's folder.
    """
    given: list[tuple[Action, str]] = [("add", rule) for rule in add or ()]
    given += [("forbid", rule) for rule in forbid or ()]
    given += [("reweight", rule) for rule in reweight or ()]
    if not given:
        return search(model, source, target, whole, most, as_json)
    if source or target or whole or as_json:
        raise UsageError("rules are searched or corrected; expected one of both")
    correct(model, given, author, group)


def search(model: Path, source: str, target: str, whole: bool, most: int, as_json: bool) -> None:
    """List the rules that contain some words, and then the corrections that contain them."""
    from treeglot.base.options import load_options
    from treeglot.cli.output import say, show, show_data
    from treeglot.models.folder import ModelFile
    from treeglot.rules.corrections import CORRECTIONS, Corrections
    from treeglot.rules.find import find_rules

    if (model / "model.toml").is_file():
        load_options(ModelFile, model / "model.toml").need_table(model, "searches of rules")
    table = model / "rules.parquet"
    if not table.is_file():
        raise UsageError(f"{model} has no rules.parquet, which training writes beside the compiled table")
    total, found = find_rules(table, source, target, whole=whole, most=most)
    for rule in found:
        show_data(json.dumps(asdict(rule), ensure_ascii=False)) if as_json else show(str(rule))
    path = model / CORRECTIONS
    held = Corrections.read(path) if path.is_file() else Corrections(())
    shown = 0
    for line, each in zip(held.lines, held, strict=True):
        if _has(each.source, source, whole) and (each.target is None or _has(each.target, target, whole)):
            row = json.dumps({"line": line, **asdict(each)}, ensure_ascii=False)
            show_data(row) if as_json else show(f"{path}:{line}: {each}")
            shown += 1
    say(f"{total:,} rules, {len(found):,} of them shown" + (f"; {shown:,} corrections" if shown else ""))


def _has(side: str, given: str, whole: bool) -> bool:
    words = " ".join(given.split())
    return not words or (side == words if whole else f" {words} " in f" {side} ")


def correct(model: Path, given: list[tuple[Action, str]], author: str | None, group: str) -> None:
    """Test corrections on a model, and then append them to its file of corrections."""
    from treeglot.base.files import read_lines
    from treeglot.cli.output import say, shown_warnings, warn
    from treeglot.models import load
    from treeglot.models.corrections import CorrectionWarning
    from treeglot.rules.corrections import CORRECTIONS, Corrections, append

    path = model / CORRECTIONS
    more = tuple(read_rule(action, rule, author, group) for action, rule in given)
    with shown_warnings():
        import warnings

        warnings.simplefilter("ignore", CorrectionWarning)  # of those that are there
        loaded = load(model)
        held = loaded.corrections or Corrections(())
        last = len(read_lines(path)) if path.is_file() else 0
        lines = (*held.lines, *range(last + 1, last + 1 + len(more)))
        both = Corrections((*held, *more), str(path), lines)
        try:
            _, odd = loaded.try_corrections(both, len(held))
        except FormatError as error:
            raise UsageError(f"{more[error.line - last - 1]}: {error.problem}") from error
    for problem in odd:
        warn(problem)
    append(path, more)
    say(f"{path}: {len(both):,} corrections apply")


def read_rule(action: Action, rule: str, author: str | None, group: str) -> Correction:
    """Parse the correction of a rule that is given on the command line."""
    import getpass
    from datetime import datetime, timezone

    from treeglot.rules.corrections import Correction

    first = rule.partition("|||")[0].strip()
    if not re.fullmatch(r"\[\S+\]", first) or re.fullmatch(r"\[\S+,[0-9]+\]", first):
        rule = f"{'[X]' if action == 'add' else ''} ||| {rule}"
    made = Correction.parse(f"{action} ||| {rule}")
    today = datetime.now(timezone.utc).date().isoformat()
    who = author if author is not None else made.author or getpass.getuser()
    return replace(made, author=who, date=made.date or today, group=group or made.group)
