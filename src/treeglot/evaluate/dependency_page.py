"""Formats a comparison of dependencies as text, as JSON, and as a self-contained page with heat maps."""

from __future__ import annotations

import dataclasses
import json
from html import escape
from typing import Any

from treeglot.evaluate.dependencies import DependencyComparison
from treeglot.evaluate.page import STYLE
from treeglot.syntax.draw.bars import columns, html_table
from treeglot.syntax.draw.page import document

__all__ = ["as_json", "as_page", "as_text"]

LIGHT, DARK = (0xF7, 0xFB, 0xFF), (0x08, 0x45, 0x94)


def agreement_rows(found: DependencyComparison) -> list[list[str]]:
    """Return the rows of table 2, in percent.

    Cells above the diagonal count equal roots, and those below equal heads.
    """
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


def source_rows(found: DependencyComparison) -> list[list[str]]:
    """Return the rows of table 3, with one row for each source."""
    head = ["source", "sentences", "unparsed", "illegal", "several roots", "cycles", "non-projective"]
    if found.accuracy:
        head += ["precision", "recall"]
    rows = [head]
    for name in found.names:
        trees = found.trees[name]
        row = [name, *(f"{value:,}" for value in (trees.sentences, trees.unparsed, trees.illegal))]
        row += [f"{value:,}" for value in (trees.several_roots, trees.cycles, trees.nonprojective)]
        if found.accuracy:
            right = found.accuracy[name]
            row += [f"{100 * right.precision:.1f}", f"{100 * right.recall:.1f}"]
        rows.append(row)
    return rows


def as_text(found: DependencyComparison) -> str:
    """Format both tables as text in columns.

    >>> from treeglot.evaluate.dependencies import compare_dependencies
    >>> from treeglot.syntax import Dependency
    >>> trees = [Dependency(["I", "see"], [1, -1])], [Dependency(["I", "see"], [-1, 0])]
    >>> print(as_text(compare_dependencies({"a": trees[0], "b": trees[1]})).splitlines()[1])
    roots \\ heads  a    b
    """
    parts = ["The same roots (above the diagonal) and heads (below), per cent", columns(agreement_rows(found)), ""]
    return "\n".join([*parts, "Trees", columns(source_rows(found))])


def as_json(found: DependencyComparison) -> str:
    """Return all figures of a comparison as JSON text."""
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
    return json.dumps(data, indent=1, ensure_ascii=False)


def as_page(found: DependencyComparison, title: str = "Dependencies compared") -> str:
    """Return a page with heat maps of table 2, and table 3."""
    parts = []
    for heading, what in (("Sentences with the same root", "roots"), ("Words with the same head", "heads")):
        parts.append(f'<h2>{heading}, per cent</h2><div class="wide">{heat_map(found, what)}</div>')
    parts.append(f'<h2>Trees</h2><div class="wide">{html_table(source_rows(found))}</div>')
    return document(title, parts, STYLE)


def heat_map(found: DependencyComparison, what: str) -> str:
    """Return a table with one share per pair. Darker cells have greater shares."""
    shares = {pair: float(getattr(both, what)) for pair, both in found.agreement.items()}
    low, high = min(shares.values(), default=1.0), max(shares.values(), default=1.0)

    def cell(one: str, other: str) -> str:
        if one == other:
            return "<td></td>"
        share = shares[(one, other) if (one, other) in shares else (other, one)]
        depth = (share - low) / (high - low) if high > low else 0.5
        colours = zip(LIGHT, DARK, strict=True)
        fill = "#" + "".join(f"{round(light + (dark - light) * depth):02x}" for light, dark in colours)
        ink = "#ffffff" if depth > 0.5 else "#1b1f24"
        return f'<td style="background: {fill}; color: {ink}">{100 * share:.1f}</td>'

    head = "".join(f"<th>{escape(name)}</th>" for name in found.names)
    rows = (
        f"<tr><th>{escape(one)}</th>{''.join(cell(one, other) for other in found.names)}</tr>" for one in found.names
    )
    return f"<table><tr><th></th>{head}</tr>{''.join(rows)}</table>"
