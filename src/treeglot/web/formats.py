"""Texts with markup, and files."""

from __future__ import annotations

from typing import Any

from starlette.exceptions import HTTPException

from treeglot.documents.html import translate_html

FORMATS = (".txt", ".html", ".htm")


def translate_text_html(text: str, model: Any) -> str:
    """The translation of a piece of HTML; tags stay."""
    return translate_html(model, text)


def translate_named(suffix: str, content: bytes, model: Any) -> bytes:
    """The translation of a file, whose format its suffix says."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise HTTPException(400, f"the file is not UTF-8: {error.reason} at byte {error.start}") from error
    if suffix != ".txt":
        return translate_html(model, text).encode()
    return "\n".join(each.text for each in model.translate_batch(text.split("\n"))).encode()
