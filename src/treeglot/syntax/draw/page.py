"""Puts drawings on self-contained HTML pages."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from treeglot.syntax.draw.shapes import printable

STYLE = """
body { margin: 1.5rem auto; max-width: 120rem; padding: 0 1.5rem; color: #1b1f24; background: #fff; line-height: 1.5;
  font-family: 'Noto Sans', 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', 'Helvetica Neue', Arial, sans-serif; }
h1 { font-size: 1.4rem; } h2 { font-size: 1rem; color: #57606a; margin: 2rem 0 .5rem; font-weight: 600; }
"""

# A dark page where the reader prefers one. Drawings carry their colours, so all is inverted, and hues are turned back.
DARK = """
@media (prefers-color-scheme: dark) {
  html { background: #121212; } body { background: #fff; filter: invert(.93) hue-rotate(180deg); }
}
"""

# What drawings and the tables beside them look like, on any page.
DRAWN = """
.drawing { overflow-x: auto; border: 1px solid #d8dee4; border-radius: 6px; } .drawing svg { display: block; }
.edge path { stroke: #b8c0c8; stroke-width: 1; } .edge circle { fill: #b8c0c8; }
.edge.strong path { stroke: #b3261e; stroke-width: 2; } .edge.strong circle { fill: #b3261e; }
text[data-node] { fill: #1f4e79; font-weight: 400; } text[data-node].strong { fill: #b3261e; font-weight: 600; }
text.several { text-decoration: underline dotted; cursor: pointer; }
.edge:hover path { stroke-width: 3.5; } .edge:hover circle { r: 5; }
table.forest { border-collapse: collapse; margin: 1rem 0; font-size: .85rem; }
table.forest th, table.forest td { text-align: left; padding: .1rem .8rem .1rem 0; border-bottom: 1px solid #eaeef2; }
table.forest td:nth-child(2) { text-align: right; font-variant-numeric: tabular-nums; color: #6b2f7a; }
table.rules { border-collapse: collapse; margin: 1rem 0; font-size: .9rem; }
table.rules td { padding: .15rem .8rem .15rem 0; border-bottom: 1px solid #eaeef2; vertical-align: top; }
table.rules td:first-child { text-align: right; font-variant-numeric: tabular-nums; }
.part { cursor: default; } .lit, tr.lit td { background: #fff3c4; } .lit text { stroke: #ffe98a; stroke-width: 7;
  paint-order: stroke; }
.lit path { stroke-width: 4; } p.output { font-size: 1.1rem; } summary { color: #57606a; cursor: pointer; }
table.forest tr.best { color: #b3261e; font-weight: 600; }
"""


# Parts of a section with the same number light up together under the mouse. In a picture of a forest, a click on a node
# shows the next way to build it, and highlights the resulting tree.
SCRIPT = """
for (const kind of ["mouseover", "mouseout"]) document.addEventListener(kind, event => {
  const part = event.target.closest("[data-part]");
  if (!part) return;
  for (const other of part.closest("section").querySelectorAll(`[data-part="${part.dataset.part}"]`))
    other.classList.toggle("lit", kind === "mouseover");
});
document.addEventListener("click", event => {
  const label = event.target.closest("text.several");
  if (!label) return;
  const svg = label.closest("svg"), edges = [...svg.querySelectorAll("g.edge")];
  const tails = edge => edge.dataset.tails.split(" "), strong = edge => edge.classList.contains("strong");
  const below = new Set(edges.filter(strong).flatMap(tails));
  const open = edges.filter(edge => strong(edge) && !below.has(edge.dataset.head)).map(edge => edge.dataset.head);
  const chosen = svg.chosen ||= new Map(edges.filter(strong).map(edge => [edge.dataset.head, edge]));
  for (const edge of edges) if (!chosen.has(edge.dataset.head)) chosen.set(edge.dataset.head, edge);
  const ways = edges.filter(edge => edge.dataset.head === label.dataset.node);
  chosen.set(label.dataset.node, ways[(ways.indexOf(chosen.get(label.dataset.node)) + 1) % ways.length]);
  const on = new Set();
  for (let node; (node = open.pop()) !== undefined;) {
    on.add(node);
    if (chosen.has(node)) { on.add(chosen.get(node)); open.push(...tails(chosen.get(node))); }
  }
  for (const edge of edges) edge.classList.toggle("strong", on.has(edge));
  for (const text of svg.querySelectorAll("text[data-node]"))
    text.classList.toggle("strong", on.has(text.dataset.node));
});
"""


def page(title: str, sections: Iterable[tuple[str, str]]) -> str:
    """Return a whole page. Each section has a heading and a piece of HTML.

    >>> page("a < b", [("tree 1", "<p>…</p>")]).count("a &lt; b")
    2
    """
    parts = [f"<section><h2>{escape(printable(name))}</h2>\n{body}</section>" for name, body in sections]
    script = [f"<script>{SCRIPT}</script>"] if any("data-part" in part or "data-node" in part for part in parts) else []
    return document(title, [*parts, *script], DRAWN)


def document(title: str, parts: Iterable[str], style: str = "") -> str:
    """Return a page with one heading, and pieces of HTML below it.

    >>> print(document("a < b", ["<p>…</p>"]).splitlines()[-2:])
    ['<p>…</p>', '</body></html>']
    """
    heading = escape(printable(title))
    head = [
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/><title>{heading}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>',
        f"<style>{STYLE}{style}{DARK}</style></head><body><h1>{heading}</h1>",
    ]
    return "\n".join([*head, *parts, "</body></html>", ""])
