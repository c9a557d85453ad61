"""Translates files, and texts with markup."""

from __future__ import annotations

from typing import Any

from treeglot.documents.files import FORMATS, UnreadableError, find_format
from treeglot.documents.html import translate_html
from treeglot.web.asking import refuse

SUFFIXES = tuple(FORMATS)


def translate_text_html(text: str, model: Any) -> str:
    """Translate a fragment of HTML, and keep its tags."""
    return translate_html(model, text)


def translate_named(suffix: str, content: bytes, model: Any) -> bytes:
    """Translate a file. The suffix of its name selects the format."""
    try:
        return find_format(f"file{suffix}")(model, content, 1)
    except UnicodeDecodeError as error:
        raise refuse(f"the file is no {error.encoding.upper()}: {error.reason} at byte {error.start}") from error
    except UnreadableError as error:
        raise refuse(f"the file cannot be read: line {error.line}: {error.problem}") from error
