"""Chooses the head tables of a model by its languages."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

from treeglot.models.kind import Kind
from treeglot.text import TextPipeline
from treeglot.text.languages import Language

DEFAULT_HEADS = "first"


def with_heads(kind: Kind, options: Any, text: TextPipeline) -> Any:
    """Replace the default head tables among a kind's options by the tables of the languages."""
    defaults = kind.options()
    changed = {}
    for name, side in (("source_heads", text.source), ("target_heads", text.target)):
        default = getattr(defaults, name, None)
        if default is not None and getattr(options, name) == default:
            changed[name] = table_of(side.language, default)
    return dataclasses.replace(options, **changed)


def table_of(language: Language, default: str) -> str:
    """Return the head table of a language. If `default` is one of the language's tables, return `default`.

    >>> table_of(Language("zh", heads="chinese"), "chinese-particles")
    'chinese-particles'
    >>> table_of(Language("de", heads="german"), "chinese")
    'german'
    """
    if not language.heads:
        warnings.warn(
            f"there is no head table of the language {language.code}: the first child of a constituent is its head; "
            f"give a table to change that",
            stacklevel=4,
        )
        return DEFAULT_HEADS
    return default if default.startswith(language.heads) else language.heads
