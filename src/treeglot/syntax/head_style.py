"""Defines where heads differ from the head table: the options of Johansson and Nugues (2007), and sets of them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_type_hints

from treeglot.base.errors import UsageError
from treeglot.base.options import Options, option, unknown

__all__ = ["STYLES", "HeadStyle", "head_style"]


@dataclass(frozen=True)
class HeadStyle(Options):
    """Options that select heads where grammars differ. The value `table` leaves the choice to the head table.

    Labels have the names of the Penn Treebank.
    """

    coordination: Literal["table", "chain", "conjunction"] = option(
        "table", "chain: each conjunct hangs from the conjunction before it; conjunction: all hang from the last one"
    )
    prepositions: Literal["table", "object"] = option("table", "object: prepositions hang from their objects")
    auxiliaries: Literal["table", "verb"] = option("table", "verb: auxiliaries and modals hang from the main verb")
    infinitives: Literal["table", "verb"] = option("table", "verb: `to` hangs from its verb")
    subordinators: Literal["table", "clause"] = option("table", "clause: `that`, `because` … hang from their clause")
    questions: Literal["table", "clause"] = option("table", "clause: question words and relative pronouns likewise")
    possessives: Literal["table", "noun"] = option("table", "noun: `'s` hangs from its noun")


STYLES = {
    "table": HeadStyle(),
    # The defaults of their converter, which CoNLL-2008 had: prepositions, auxiliaries, `to`, subordinators are heads.
    "johansson-nugues": HeadStyle(coordination="chain", questions="clause", possessives="noun"),
    # Content words are heads, as in Universal Dependencies.
    "content": HeadStyle("chain", "object", "verb", "verb", "clause", "clause", "noun"),
}
"""Styles by name."""


def head_style(text: str) -> HeadStyle:
    """Parse a style. It is a name, changes to the table, or both: `content,coordination=conjunction`.

    >>> head_style("johansson-nugues").coordination
    'chain'
    >>> head_style("prepositions=object") == HeadStyle(prepositions="object")
    True
    >>> head_style("prepositions=verb")
    Traceback (most recent call last):
    treeglot.base.errors.UsageError: prepositions is 'verb'; expected one of table, object
    """
    style = HeadStyle()
    known = [field.name for field in dataclasses.fields(HeadStyle)]
    hints = get_type_hints(HeadStyle)
    for part in text.split(","):
        name, equals, value = part.strip().partition("=")
        if not equals:
            if name not in STYLES:
                raise UsageError(unknown("style of heads", name, STYLES))
            style = STYLES[name]
            continue
        if name not in known:
            raise UsageError(unknown("option of a style of heads", name, known))
        if value not in (allowed := get_args(hints[name])):
            raise UsageError(f"{name} is {value!r}; expected one of {', '.join(allowed)}")
        changed: dict[str, Any] = {name: value}
        style = dataclasses.replace(style, **changed)
    return style
