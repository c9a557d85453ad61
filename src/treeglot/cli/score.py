"""`treeglot score`: BLEU, chrF and TER of translations, with signatures, and tests against a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import read_lines
from treeglot.cli.output import warn
from treeglot.cli.parameters import FILE

if TYPE_CHECKING:
    from treeglot.evaluate.report import Difference, ReportOptions, SystemReport


def score(
    translation: Annotated[str, typer.Argument(help="The system's output, a sentence a line.", metavar="HYP")],
    reference: Annotated[list[str], typer.Argument(help="Reference translations.", metavar="REF...")],
    system: Annotated[
        list[str] | None, typer.Option(help="Another system's output, scored beside it; may be given again.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(help="A baseline's output: every other system is tested against it.")
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="bleu, chrf or ter; may be given again. All three if not given.")
    ] = None,
    by_length: Annotated[bool, typer.Option("--by-length", help="BLEU by the length of the reference, too.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    html: Annotated[
        Path | None, typer.Option(help="Write a page with the scores and plots of them by length."), FILE
    ] = None,
    lowercase: Annotated[
        bool, typer.Option("--lowercase", help="Compare without regard to case (TER always does).")
    ] = False,
    length: Annotated[
        Literal["closest", "shortest"],
        typer.Option(help="Whose length BLEU's brevity penalty takes: the closest reference's or the shortest one's."),
    ] = "closest",
    tokenize: Annotated[
        str, typer.Option(help="sacreBLEU's tokenizer for BLEU (13a, intl, zh, …); none takes words as they are.")
    ] = "none",
    samples: Annotated[int, typer.Option(help="Samples of the bootstrap, for intervals and the paired test.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 1,
) -> None:
    """Score translations: BLEU, chrF and TER as sacreBLEU has them, with its signatures.

    A system can be tested against a baseline: by the sign test of Collins et al. (2005) and by paired bootstrap
    resampling (Koehn 2004).
    """
    from treeglot.evaluate.report import ReportOptions, score_systems

    options = ReportOptions(lowercase, length, tokenize, samples, seed)
    references = [_read(path) for path in reference]
    for path, lines in zip(reference[1:], references[1:], strict=True):
        _same_length(path, lines, reference[0], references[0])
    systems: dict[str, Sequence[str]] = {}
    if against is not None and {translation, *(system or [])} == {against}:
        raise UsageError(f"--against is {against}, which is the only system: there is nothing to compare")
    for path in [*([against] if against is not None else []), translation, *(system or [])]:
        if path in systems and path != against:
            raise UsageError(f"{path} is given twice")
        lines = _read(path)
        _same_length(path, lines, reference[0], references[0])
        systems[path] = lines
    chosen: Any = metric or ["bleu", "chrf", "ter"]  # names are checked there
    reports = score_systems(systems, references, baseline=against, metrics=chosen, options=options)
    for report in reports:
        if report.empty:
            warn(f"{report.system}: {report.empty} of {len(references[0])} lines are empty")
    drawn = f"samples:{options.samples}|seed:{options.seed}"
    if html is not None:
        from treeglot.base.files import write_binary
        from treeglot.evaluate.page import page

        with write_binary(html) as stream:
            stream.write(page(reports, reference, drawn).encode())
    if json:
        print(_json(reports, reference, against, options))
        return
    print(_table(reports, against))
    if by_length:
        print("", _length_table(reports), sep="\n")
    print()
    for one in reports[0].scores:
        print(f"{one.name}  {one.signature}")
    print(f"bootstrap  {drawn}")


def _read(path: str) -> list[str]:
    lines = read_lines(path)
    if not lines:
        raise FormatError(path, 0, "is empty; expected a sentence a line")
    return lines


def _same_length(path: str, lines: Sequence[str], reference: str, expected: Sequence[str]) -> None:
    if len(lines) != len(expected):
        raise FormatError(path, 0, f"has {len(lines)} lines; expected {len(expected)}, as {reference} has")


def _table(reports: Sequence[SystemReport], against: str | None) -> str:
    level = reports[0].scores[0].interval.level
    rows = [["system", "metric", "score", f"{100 * level:.0f} % interval", "length"]]
    if against is not None:
        rows[0] += ["difference", "sign test", "bootstrap"]
    for report in reports:
        length = "" if report.ratio is None else f"{report.ratio:.3f}"
        for number, one in enumerate(report.scores):
            row = [report.system if number == 0 else "", one.name, f"{one.value:.2f}"]
            row += [f"{one.interval.low:.2f} to {one.interval.high:.2f}", length if number == 0 else ""]
            if against is not None:
                row += _compared(one.against) if one.against else ["", "", ""]
            rows.append(row)
    text = _aligned(rows)
    for report in reports:
        for one in report.scores:
            if one.details:
                text += f"\n{report.system}: {one.name} {one.value:.2f} = {one.details}"
    return text


def _compared(found: Difference) -> list[str]:
    from treeglot.evaluate.page import shown

    test, drawn = found.sign_test, found.bootstrap
    return [
        f"{found.difference:+.2f}",
        f"p {shown(test.p)}, {test.better} better, {test.worse} worse",
        f"p {shown(drawn.p, 1 / drawn.samples)}",
    ]


def _length_table(reports: Sequence[SystemReport]) -> str:
    from treeglot.evaluate.page import words_of

    rows = [["words", "sentences", *(f"BLEU of {report.system}" for report in reports)]]
    for bins in zip(*(report.by_length for report in reports), strict=True):
        one = bins[0]
        rows.append([words_of(one), str(one.sentences), *(f"{other.bleu:.2f}" for other in bins)])
    return _aligned(rows)


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def _json(
    reports: Sequence[SystemReport], reference: Sequence[str], against: str | None, options: ReportOptions
) -> str:
    import dataclasses
    import json

    table = {
        "references": list(reference),
        "baseline": against,
        "options": dataclasses.asdict(options),
        "systems": [report.as_object() for report in reports],
    }
    return json.dumps(table, ensure_ascii=False, indent=2)
