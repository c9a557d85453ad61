"""A comparison of dependencies as text, as JSON and as a page with heat maps that needs nothing from the network."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from treeglot.evaluate.dependencies import Agreement, DependencyComparison
from treeglot.evaluate.page import STYLE
from treeglot.syntax.draw.page import DARK as DARK_PAGE

__all__ = ["as_json", "as_page", "as_text"]

WIDE, TALL, LEFT, TOP = 108, 36, 150, 40  # cells, and room for names
LIGHT, DARK = (0xF7, 0xFB, 0xFF), (0x08, 0x45, 0x94)

Columns = Mapping[str, Mapping[str, str]]
"""More columns of table 3, by heading and source: numbers of rules, BLEU."""


def agreement_rows(found: DependencyComparison) -> list[list[str]]:
    """Table 2: shares in per cent, the same roots above the diagonal, the same heads below it."""
    rows = [["roots \\ heads", *found.names]]
    for i, one in enumerate(found.names):
        row = [one]
        for j, other in enumerate(found.names):
            if i == j:
                row.append("–")
            else:
                both = found.between(one, other)
                row.append(f"{100 * (both.roots if i < j else both.heads):.1f}")
        rows.append(row)
    return rows


def source_rows(found: DependencyComparison, more: Columns) -> list[list[str]]:
    """Table 3: a row for each source."""
    head = ["source", "sentences", "unparsed", "illegal", "several roots", "cycles", "non-projective"]
    if found.accuracy:
        head += ["precision", "recall"]
    rows = [head + list(more)]
    for name in found.names:
        trees = found.trees[name]
        row = [name, *(f"{value:,}" for value in (trees.sentences, trees.unparsed, trees.illegal))]
        row += [f"{value:,}" for value in (trees.several_roots, trees.cycles, trees.nonprojective)]
        if found.accuracy:
            right = found.accuracy[name]
            row += [f"{100 * right.precision:.1f}", f"{100 * right.recall:.1f}"]
        rows.append(row + [column.get(name, "") for column in more.values()])
    return rows


def as_text(found: DependencyComparison, more: Columns | None = None) -> str:
    """Both tables, in columns.

    >>> from treeglot.evaluate.dependencies import compare_dependencies
    >>> from treeglot.syntax import Dependency
    >>> trees = [Dependency(["I", "see"], [1, -1])], [Dependency(["I", "see"], [-1, 0])]
    >>> print(as_text(compare_dependencies({"a": trees[0], "b": trees[1]})).splitlines()[1])
    roots \\ heads  a    b
    """
    parts = ["The same roots (above the diagonal) and heads (below), per cent", _aligned(agreement_rows(found)), ""]
    return "\n".join([*parts, "Trees", _aligned(source_rows(found, more or {}))])


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def as_json(found: DependencyComparison, more: Columns | None = None) -> str:
    """Everything, as JSON."""
    data: dict[str, Any] = {
        "names": list(found.names),
        "agreement": [{"pair": list(pair), **dataclasses.asdict(both)} for pair, both in found.agreement.items()],
        "trees": {name: dataclasses.asdict(trees) for name, trees in found.trees.items()},
    }
    if found.accuracy:
        data["accuracy"] = {
            name: {**dataclasses.asdict(right), "precision": right.precision, "recall": right.recall}
            for name, right in found.accuracy.items()
        }
    if more:
        data["more"] = {heading: dict(column) for heading, column in more.items()}
    return json.dumps(data, indent=1, ensure_ascii=False)


def as_page(found: DependencyComparison, more: Columns | None = None, title: str = "Dependencies compared") -> str:
    """A page with heat maps of table 2, and table 3."""
    tables = [_table(source_rows(found, more or {}))]
    parts = [
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/><title>{escape(title)}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>',
        f"<style>{STYLE}{DARK_PAGE}</style></head><body><h1>{escape(title)}</h1>",
        "<h2>Sentences with the same root, per cent</h2>",
        f'<div class="wide">{heat_map(found, "roots")}</div>',
        "<h2>Words with the same head, per cent</h2>",
        f'<div class="wide">{heat_map(found, "heads")}</div>',
        f'<h2>Trees</h2><div class="wide">{tables[0]}</div>',
    ]
    return "\n".join([*parts, "</body></html>", ""])


def heat_map(found: DependencyComparison, what: str) -> str:
    """One share for every pair as an SVG; the darkest cell is the greatest, the lightest the least."""
    names = found.names
    shares = [_share(both, what) for both in found.agreement.values()] or [1.0]
    low, high = min(shares), max(shares)
    width, height = LEFT + WIDE * len(names) + 8, TOP + TALL * len(names) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" style="max-width:{width}px"'
        f' font-family="sans-serif" font-size="12" role="img" aria-label="Shares of the same {what}">'
    ]
    for j, other in enumerate(names):
        x = LEFT + WIDE * j + WIDE / 2
        parts.append(f'<text x="{x:g}" y="{TOP - 10}" text-anchor="middle">{escape(_short(other, 17))}</text>')
    for i, one in enumerate(names):
        y = TOP + TALL * i
        parts.append(
            f'<text x="{LEFT - 10}" y="{y + TALL / 2 + 4:g}" text-anchor="end">{escape(_short(one, 20))}</text>'
        )
        for j, other in enumerate(names):
            x = LEFT + WIDE * j
            box = f'x="{x}" y="{y}" width="{WIDE - 2}" height="{TALL - 2}"'
            if i == j:
                parts.append(f'<rect {box} fill="#eaeef2"/>')
                continue
            share = _share(found.between(one, other), what)
            depth = (share - low) / (high - low) if high > low else 0.5
            label = f"{escape(one)} and {escape(other)}: {100 * share:.1f} %"
            parts.append(f'<rect {box} fill="{_colour(depth)}"><title>{label}</title></rect>')
            ink = "#ffffff" if depth > 0.5 else "#1b1f24"
            place = f'x="{x + WIDE / 2 - 1:g}" y="{y + TALL / 2 + 4:g}"'
            parts.append(f'<text {place} text-anchor="middle" fill="{ink}">{100 * share:.1f}</text>')
    return "\n".join([*parts, "</svg>"])


def _share(both: Agreement, what: str) -> float:
    return both.roots if what == "roots" else both.heads


def _short(name: str, room: int) -> str:
    return name if len(name) <= room else name[: room - 1] + "…"


def _colour(depth: float) -> str:
    return "#" + "".join(f"{round(a + (b - a) * depth):02x}" for a, b in zip(LIGHT, DARK, strict=True))


def _table(rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in rows[0])
    body = "\n".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows[1:])
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"
