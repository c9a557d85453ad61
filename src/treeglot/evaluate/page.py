"""Formats the report on several systems: as tables, and as a self-contained HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from treeglot.evaluate.report import LengthBin, Score, SystemReport
from treeglot.syntax.draw.bars import bars, html_table
from treeglot.syntax.draw.page import document

STYLE = """
body { max-width: 60rem; } .wide { overflow-x: auto; } svg { display: block; width: 100%; max-width: 760px; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid #eaeef2; white-space: nowrap; }
footer { margin: 2rem 0; color: #57606a; font-size: .8rem; overflow-wrap: anywhere; }
"""


def page(reports: Sequence[SystemReport], references: Sequence[str], bootstrap: str = "") -> str:
    """Return a page with the scores, the tests, and BLEU and length by the length of the reference.

    `references` are the names of the references. `bootstrap` describes how the bootstrap samples were drawn.

    >>> from treeglot.evaluate.report import score_systems
    >>> html = page(score_systems({"a < b": ["a b c d"]}, [["a b c d"]], metrics=["bleu"]), ["reference"])
    >>> html.count("<svg"), "a &lt; b" in html
    (2, True)
    """
    systems = [report.system for report in reports]
    bins = list(zip(*(report.by_length for report in reports), strict=True))
    words = [f"{words_of(group[0])} words" for group in bins]
    signatures = [f"{one.name} {one.signature}" for one in reports[0].scores]
    if bootstrap:
        signatures.append(f"bootstrap {bootstrap}")
    title = "Words of the output per word of the reference"
    parts = [
        f"<p>Against {escape(', '.join(references))}</p>",
        f'<div class="wide">{html_table(score_rows(reports))}</div>',
        bars("BLEU by length of the reference", words, systems, [[one.bleu for one in group] for group in bins], ""),
        bars(title, words, systems, [[one.ratio or 0.0 for one in group] for group in bins], "", digits=3),
        f'<h2>The same in figures</h2><div class="wide">{html_table(length_rows(reports))}</div>',
        f"<footer>{'<br/>'.join(map(escape, signatures))}</footer>",
    ]
    return document(f"Scores of {', '.join(systems)}", parts, STYLE)


def words_of(one: LengthBin) -> str:
    """Describe the range of lengths in a bin, in words."""
    return f"{one.shortest} and more" if one.longest is None else f"{one.shortest} to {one.longest}"


def scores_table(reports: Sequence[SystemReport]) -> str:
    """Return the scores and tests as a table in HTML, with their signatures below."""
    signatures = "<br/>".join(escape(f"{one.name} {one.signature}") for one in reports[0].scores)
    return f"{html_table(score_rows(reports))}<small>{signatures}</small>"


def score_rows(reports: Sequence[SystemReport]) -> list[list[str]]:
    """Return the rows of a table with the scores and, if there are any, the tests. The first row is the heading."""
    compared = any(one.against for report in reports for one in report.scores)
    level = reports[0].scores[0].interval.level
    rows = [["system", "metric", "score", f"{100 * level:.0f} % interval", "length"]]
    if compared:
        rows[0] += ["difference", "sign test", "bootstrap"]
    for report in reports:
        for number, one in enumerate(report.scores):
            length = "" if number or report.ratio is None else f"{report.ratio:.3f}"
            row = ["" if number else report.system, one.name, f"{one.value:.2f}"]
            row += [f"{one.interval.low:.2f} to {one.interval.high:.2f}", length]
            rows.append(row + _compared(one) if compared else row)
    return rows


def _compared(one: Score) -> list[str]:
    if one.against is None:
        return ["", "", ""]
    test, drawn = one.against.sign_test, one.against.bootstrap
    counts = f"p {shown(test.p)}, {test.better} better, {test.worse} worse"
    return [f"{one.against.difference:+.2f}", counts, f"p {shown(drawn.p)}"]


def length_rows(reports: Sequence[SystemReport]) -> list[list[str]]:
    """Return the rows of a table with BLEU and lengths by reference length. The first row is the heading."""
    rows = [["words", "sentences"]]
    for report in reports:
        rows[0] += [f"BLEU of {report.system}", "length"]
    for bins in zip(*(report.by_length for report in reports), strict=True):
        row = [words_of(bins[0]), f"{bins[0].sentences:,}"]
        for one in bins:
            row += [f"{one.bleu:.2f}", "" if one.ratio is None else f"{one.ratio:.3f}"]
        rows.append(row)
    return rows


def shown(p: float, least: float = 0.001) -> str:
    """Format a p-value. Below `least`, the smallest value that the test can show, it is printed as `<` and `least`.

    >>> shown(0.0412), shown(0.0)
    ('0.041', '< 0.001')
    """
    return f"< {least:.3g}" if p < least else f"{p:.3f}"
