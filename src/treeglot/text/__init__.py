"""Text processing for models: languages, sentences, words, case, spacing and numbers."""

from __future__ import annotations

from treeglot.text.pipeline import TextPipeline
from treeglot.text.side import TextSettings, TextSide

__all__ = [
    "TextPipeline",
    "TextSettings",
    "TextSide",
]
