"""The report on systems as a page: HTML that needs nothing from the network."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape

from treeglot.evaluate.report import LengthBin, Score, SystemReport
from treeglot.syntax.draw.page import DARK

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5a5a5a")  # told apart by all eyes
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 760, 280, 48, 12, 48
STYLE = """
body { margin: 1.5rem auto; max-width: 60rem; padding: 0 1.5rem; color: #1b1f24; background: #fff; line-height: 1.5;
  font-family: 'Noto Sans', 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', 'Helvetica Neue', Arial, sans-serif; }
h1 { font-size: 1.4rem; } h2 { font-size: 1rem; color: #57606a; margin: 2rem 0 .5rem; font-weight: 600; }
.wide { overflow-x: auto; } svg { display: block; width: 100%; height: auto; max-width: 760px; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .2rem 1.2rem .2rem 0; border-bottom: 1px solid #eaeef2; white-space: nowrap; }
tr.first td { border-top: 1px solid #8c959f; } .key { margin-right: 1.2rem; white-space: nowrap; }
.key i { display: inline-block; width: .8rem; height: .8rem; margin-right: .4rem; }
footer { margin: 2rem 0; color: #57606a; font-size: .8rem; overflow-wrap: anywhere; }
"""


def page(reports: Sequence[SystemReport], references: Sequence[str], bootstrap: str = "") -> str:
    """A page with the scores, the tests, and BLEU and length by the length of the reference.

    `references` are their names, `bootstrap` says how its samples were drawn.

    >>> from treeglot.evaluate.report import score_systems
    >>> html = page(score_systems({"a < b": ["a b c d"]}, [["a b c d"]], metrics=["bleu"]), ["reference"])
    >>> html.count("<rect"), "a &lt; b" in html
    (2, True)
    """
    names = ", ".join(report.system for report in reports)
    keys = "".join(
        f'<span class="key"><i style="background:{_colour(number)}"></i>{escape(report.system)}</span>'
        for number, report in enumerate(reports)
    )
    signatures = [f"{one.name} {one.signature}" for one in reports[0].scores]
    if bootstrap:
        signatures.append(f"bootstrap {bootstrap}")
    parts = [
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/><title>Scores of {escape(names)}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>',
        f"<style>{STYLE}{DARK}</style></head><body><h1>Scores of {escape(names)}</h1>",
        f"<p>Against {escape(', '.join(references))}</p>",
        f'<div class="wide">{_scores(reports)}</div>',
        "<h2>BLEU by length of the reference</h2>",
        f"<p>{keys}</p>",
        _bars(reports, "BLEU", lambda one: one.bleu, "{:.1f}"),
        "<h2>Words of the output per word of the reference</h2>",
        f"<p>{keys}</p>",
        _bars(reports, "length", lambda one: one.ratio, "{:.2f}", mark=1.0),
        f'<h2>The same in figures</h2><div class="wide">{_lengths(reports)}</div>',
        f"<footer>{'<br/>'.join(map(escape, signatures))}</footer>",
    ]
    return "\n".join([*parts, "</body></html>", ""])


def words_of(one: LengthBin) -> str:
    """The lengths in a bin, in words."""
    return f"{one.shortest} and more" if one.longest is None else f"{one.shortest} to {one.longest}"


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _table(head: Sequence[str], rows: Sequence[tuple[bool, Sequence[str]]]) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = ""
    for first, row in rows:
        cells = "".join(f"<td>{escape(cell)}</td>" for cell in row)
        body += f'<tr class="first">{cells}</tr>\n' if first else f"<tr>{cells}</tr>\n"
    return f"<table><thead><tr>{top}</tr></thead>\n<tbody>{body}</tbody></table>"


def scores_table(reports: Sequence[SystemReport]) -> str:
    """The scores and tests as a table in HTML, with their signatures below."""
    signatures = "<br/>".join(escape(f"{one.name} {one.signature}") for one in reports[0].scores)
    return f"{_scores(reports)}<small>{signatures}</small>"


def _scores(reports: Sequence[SystemReport]) -> str:
    compared = any(one.against for report in reports for one in report.scores)
    level = reports[0].scores[0].interval.level
    head = ["system", "metric", "score", f"{100 * level:.0f} % interval", "length"]
    rows: list[tuple[bool, list[str]]] = []
    for report in reports:
        for number, one in enumerate(report.scores):
            length = "" if number or report.ratio is None else f"{report.ratio:.3f}"
            row = ["" if number else report.system, one.name, f"{one.value:.2f}"]
            row += [f"{one.interval.low:.2f} to {one.interval.high:.2f}", length]
            rows.append((number == 0, row + _compared(one) if compared else row))
    return _table([*head, "difference", "sign test", "bootstrap"] if compared else head, rows)


def _compared(one: Score) -> list[str]:
    if one.against is None:
        return ["", "", ""]
    test, drawn = one.against.sign_test, one.against.bootstrap
    counts = f"p {shown(test.p)}, {test.better} better, {test.worse} worse"
    return [f"{one.against.difference:+.2f}", counts, f"p {shown(drawn.p, 1 / drawn.samples)}"]


def shown(p: float, least: float = 0.001) -> str:
    """A probability; one below `least`, what a test can tell from 0, as such.

    >>> shown(0.0412), shown(0.0)
    ('0.041', '< 0.001')
    """
    return f"< {least:.3g}" if p < least else f"{p:.3f}"


def _lengths(reports: Sequence[SystemReport]) -> str:
    head = ["words", "sentences"]
    for report in reports:
        head += [f"BLEU of {report.system}", "length"]
    rows = []
    for bins in zip(*(report.by_length for report in reports), strict=True):
        row = [words_of(bins[0]), str(bins[0].sentences)]
        for one in bins:
            row += [f"{one.bleu:.2f}", "" if one.ratio is None else f"{one.ratio:.3f}"]
        rows.append((False, row))
    return _table(head, rows)


def _bars(
    reports: Sequence[SystemReport],
    what: str,
    value: Callable[[LengthBin], float | None],
    form: str,
    mark: float | None = None,
) -> str:
    """A group of bars for each bin, a bar for each system; a line at `mark`."""
    bins = list(zip(*(report.by_length for report in reports), strict=True))
    values = [found for group in bins for one in group if (found := value(one)) is not None]
    step = _step(max([*values, mark or 0.0]) or 1.0)
    ticks = math.ceil(max([*values, mark or 0.0, step]) / step)
    right, bottom = WIDTH - 8, HEIGHT - BOTTOM

    def y(amount: float) -> float:
        return bottom - amount * (bottom - TOP) / (ticks * step)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif"'
        f' font-size="12" role="img" aria-label="{what} by length of the reference">'
    ]
    for tick in range(ticks + 1):
        parts.append(f'<path d="M{LEFT} {y(tick * step):.1f}H{right}" stroke="#dddddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y(tick * step) + 4:.1f}" text-anchor="end">{tick * step:g}</text>')
    room = (right - LEFT) / len(bins)
    width = min(0.8 * room / len(reports), 48.0)
    for place, group in enumerate(bins):
        middle = LEFT + (place + 0.5) * room
        for number, one in enumerate(group):
            found = value(one)
            if found is None:
                continue
            x = middle + (number - len(group) / 2) * width
            title = f"{reports[number].system}, {words_of(one)} words: {form.format(found)}"
            parts.append(
                f'<rect x="{x:.1f}" y="{y(found):.1f}" width="{max(width - 2, 1):.1f}" height="{bottom - y(found):.1f}"'
                f' fill="{_colour(number)}"><title>{escape(title)}</title></rect>'
            )
            if width >= 30 and bottom - y(found) >= 18:
                label = form.format(found)
                parts.append(
                    f'<text x="{x + width / 2 - 1:.1f}" y="{y(found) + 14:.1f}" text-anchor="middle" fill="white">'
                    f"{label}</text>"
                )
        first = group[0]
        parts.append(f'<text x="{middle:.1f}" y="{bottom + 18}" text-anchor="middle">{words_of(first)} words</text>')
        parts.append(
            f'<text x="{middle:.1f}" y="{bottom + 34}" text-anchor="middle" fill="#57606a">'
            f"{first.sentences:,} sentence{'s' if first.sentences != 1 else ''}</text>"
        )
    if mark is not None:
        parts.append(f'<path d="M{LEFT} {y(mark):.1f}H{right}" stroke="#1b1f24" stroke-dasharray="4 3"/>')
    return "\n".join([*parts, "</svg>"])


def _step(highest: float) -> float:
    """A round distance between ticks, such that there are two to six."""
    size = 10.0 ** math.floor(math.log10(highest / 2))
    return next(size * factor for factor in (1, 2, 5, 10) if highest / (size * factor) <= 6)
