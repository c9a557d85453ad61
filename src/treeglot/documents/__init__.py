"""Documents, translated in place: the text changes, and all else stays. Models have these functions as methods."""

from __future__ import annotations

from treeglot.documents.files import translate_file as translate_file
from treeglot.documents.html import translate_html as translate_html

__all__: list[str] = []
