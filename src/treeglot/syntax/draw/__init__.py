"""Draws trees, forests, dependencies and alignments: in characters, as SVG, as HTML.

A layout places shapes (`shapes`). `terminal` draws them with characters, and `svg` draws them as pictures. Layouts do
not know the syntax types (`values` does), so they can draw anything that has the shape of a tree.
"""

from treeglot.syntax.draw.page import page
from treeglot.syntax.draw.terminal import Screen
from treeglot.syntax.draw.values import to_html, to_svg, to_text

__all__ = ["Screen", "page", "to_html", "to_svg", "to_text"]
