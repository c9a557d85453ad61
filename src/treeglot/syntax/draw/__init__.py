"""Drawings of trees, forests, dependencies and alignments: in characters, as SVG, as HTML.

A layout places shapes once (`shapes`); `terminal` draws them with characters and `svg` as pictures. The layouts do not
know the syntax types (`values` does), so anything with the shape of a tree can be drawn.
"""

from treeglot.syntax.draw.page import page
from treeglot.syntax.draw.terminal import Screen
from treeglot.syntax.draw.values import to_html, to_svg, to_text

__all__ = ["Screen", "page", "to_html", "to_svg", "to_text"]
