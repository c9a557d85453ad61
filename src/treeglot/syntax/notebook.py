"""Lets notebooks display values as pictures and tables."""

from __future__ import annotations

from typing import Any

from treeglot._core import Alignment, Dependency, ParseForest, Tree


def attach() -> None:
    """Give types of the core the methods `_repr_html_` and `_repr_svg_`."""
    for kind in (Tree, ParseForest, Dependency, Alignment):
        kind._repr_html_ = _html  # type: ignore[union-attr]
        kind._repr_svg_ = _svg  # type: ignore[union-attr]


def _html(value: Any) -> str:
    from html import escape

    from treeglot.base.errors import TreeglotError
    from treeglot.syntax.draw.values import to_html

    try:
        return to_html(value)
    except TreeglotError as error:
        return f"<pre>{escape(repr(value))}\n{escape(str(error))}</pre>"


def _svg(value: Any) -> str | None:
    from treeglot.base.errors import TreeglotError
    from treeglot.syntax.draw.values import to_svg

    try:
        return to_svg(value)
    except TreeglotError:
        return None  # the HTML says why
