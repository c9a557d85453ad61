"""`treeglot score`: scores translations with BLEU, chrF and TER, and tests them against a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import read_lines
from treeglot.cli.output import warn
from treeglot.cli.parameters import STREAMED, Fields, NewFile

if TYPE_CHECKING:
    from treeglot.evaluate.report import ReportOptions, SystemReport


def score(
    translation: Annotated[
        str, STREAMED, typer.Argument(help="The system's output, one sentence per line.", metavar="HYP")
    ],
    reference: Annotated[list[str], STREAMED, typer.Argument(help="Reference translations.", metavar="REF...")],
    system: Annotated[
        list[str] | None,
        STREAMED,
        typer.Option(help="Another system's output, scored beside it; may be given again."),
    ] = None,
    against: Annotated[
        str | None,
        STREAMED,
        typer.Option(help="A baseline's output: every other system is tested against it."),
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="bleu, chrf or ter; may be given again. All three if not given.")
    ] = None,
    by_length: Annotated[bool, typer.Option("--by-length", help="BLEU by the length of the reference, too.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    html: Annotated[NewFile, typer.Option(help="Write a page with the scores and plots of them by length.")] = None,
    options: Annotated[Any, Fields("treeglot.evaluate.report", "ReportOptions")] = None,
) -> None:
    """Score translations with sacreBLEU's BLEU, chrF and TER, and print the signatures.

    Two tests compare a system with a baseline: the sign test of Collins et al. (2005) and paired bootstrap resampling
    (Koehn 2004).
    """
    from treeglot.evaluate.page import length_rows, page, score_rows
    from treeglot.evaluate.report import score_systems
    from treeglot.evaluate.tokenisation import NONE
    from treeglot.syntax.draw.bars import columns

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
    options = options.suited(references)
    _warn_of_other_text(dict(zip(reference, references, strict=True)) | systems, options.tokenize)
    chosen: Any = metric or ["bleu", "chrf", "ter"]  # names are checked there
    reports = score_systems(systems, references, baseline=against, metrics=chosen, options=options)
    for report in reports:
        if report.empty:
            warn(f"{report.system}: {report.empty} of {len(references[0])} lines are empty")
    drawn = f"samples:{options.samples}|seed:{options.seed}"
    if html is not None:
        from treeglot.base.files import write_binary

        with write_binary(html) as stream:
            stream.write(page(reports, reference, drawn).encode())
    if json:
        print(_json(reports, reference, against, options))
        return
    print(columns(score_rows(reports)))
    for report in reports:
        for one in report.scores:
            if one.details:
                print(f"{report.system}: {one.name} {one.value:.2f} = {one.details}")
    if by_length:
        print("", columns(length_rows(reports)), sep="\n")
    print()
    for one in reports[0].scores:
        print(f"{one.name}  {one.signature}")
    print(f"bootstrap  {drawn}")
    words = "words of the files, unchanged" if options.tokenize == NONE else "by sacreBLEU"
    print(f"tokenisation  {options.tokenize}, {words}")


def _read(path: str) -> list[str]:
    lines = read_lines(path)
    if not lines:
        raise FormatError(path, 0, "is empty; expected one sentence per line")
    return lines


def _warn_of_other_text(texts: dict[str, Sequence[str]], tokenizer: str) -> None:
    """Warn of files that are not tokenised as the tokenizer expects."""
    from treeglot.evaluate.tokenisation import NONE, looks_raw, looks_tokenised

    for path, lines in texts.items():
        if tokenizer == NONE and looks_raw(lines):
            warn(f"{path} looks like text that is not tokenised; expected words apart, or --tokenize 13a")
        elif tokenizer != NONE and looks_tokenised(lines):
            warn(f"{path} looks tokenised; expected plain text for --tokenize {tokenizer}, or --tokenize none")


def _same_length(path: str, lines: Sequence[str], reference: str, expected: Sequence[str]) -> None:
    if len(lines) != len(expected):
        raise FormatError(path, 0, f"has {len(lines)} lines; expected {len(expected)}, as {reference} has")


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
