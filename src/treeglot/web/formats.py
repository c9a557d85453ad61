"""Texts with markup, and files."""

from __future__ import annotations

from typing import Any

from starlette.exceptions import HTTPException

FORMATS = (".txt",)


def translate_html(model: Any, text: str) -> str:
    """The translation of a piece of HTML; tags stay."""
    raise HTTPException(400, "html format is not supported")


def translate_named(model: Any, suffix: str, content: bytes) -> bytes:
    """The translation of a file, whose format its suffix says."""
    try:
        lines = content.decode().split("\n")
    except UnicodeDecodeError as error:
        raise HTTPException(400, f"the file is not UTF-8: {error.reason} at byte {error.start}") from error
    return "\n".join(each.text for each in model.translate_batch(lines)).encode()
