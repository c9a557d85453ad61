"""Shows figures side by side: as text in columns, as an HTML table, and as a drawing of bars."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5a5a5a")  # told apart by all eyes
FONT = 'font-family="sans-serif" font-size="12"'
WIDTH, NAMES, ROW, GAP, TOP = 760, 220, 14, 8, 44


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Format rows as text in columns: the first column flush left, the others flush right.

    The first row is the heading.

    >>> print(columns([["kind", "a"], ["match", "17.0"]]))
    kind      a
    match  17.0
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]).rstrip()
        for row in rows
    )


def html_table(rows: Sequence[Sequence[str]]) -> str:
    """Format the rows as an HTML table, for notebooks.

    >>> html_table([["kind", "<a>"], ["match", "17.0"]]).count("&lt;a&gt;")
    1
    """
    lines = []
    for number, row in enumerate(rows):
        tag = "td" if number else "th"
        sides = ["left", *["right"] * (len(row) - 1)]
        cells = (
            f'<{tag} style="text-align: {side}">{escape(cell)}</{tag}>' for side, cell in zip(sides, row, strict=True)
        )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(lines)}</table>"


def bars(
    title: str,
    names: Sequence[str],
    systems: Sequence[str],
    values: Sequence[Sequence[float]],
    unit: str,
    digits: int = 1,
) -> str:
    """Draw bars in SVG: for each name, one bar per system with the length `values[name][system]`.

    >>> bars("Shares", ["glue", "match"], ["a", "b"], [[25, 18], [17, 30]], "%").count("<rect")
    7
    """
    longest = max((value for row in values for value in row), default=0) or 1
    height = TOP + len(names) * (ROW * len(systems) + GAP)
    room = WIDTH - NAMES - 70
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" {FONT}>',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="8" y="16" font-weight="bold">{escape(title)}</text>',
    ]
    for number, system in enumerate(systems):
        colour, x = COLOURS[number % len(COLOURS)], 8 + 180 * number
        parts.append(f'<rect x="{x}" y="24" width="10" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{x + 16}" y="33">{escape(system)}</text>')
    y = TOP
    for name, row in zip(names, values, strict=True):
        middle = y + ROW * len(systems) / 2 + 4
        parts.append(f'<text x="{NAMES - 8}" y="{middle:.0f}" text-anchor="end">{escape(name)}</text>')
        for number, value in enumerate(row):
            length = room * value / longest
            colour = COLOURS[number % len(COLOURS)]
            parts.append(f'<rect x="{NAMES}" y="{y}" width="{length:.1f}" height="{ROW - 2}" fill="{colour}"/>')
            shown = f"{value:,.{digits}f}" if isinstance(value, float) else f"{value:,}"
            parts.append(f'<text x="{NAMES + length + 6:.1f}" y="{y + ROW - 4}">{shown}{escape(unit)}</text>')
            y += ROW
        y += GAP
    return "\n".join([*parts, "</svg>"]) + "\n"
