"""Compares the words of parses with those of texts. Treebanks escape brackets, and texts may be in lower case."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

from treeglot.base.later import Later

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = Later("numpy")

# What a treebank writes for brackets, in lower case: words are compared so.
ESCAPES = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}"}


def difference(parsed: Sequence[str], words: Sequence[str], text: str) -> str:
    """Describe how the words of a parse differ from those of `text`, ignoring case and escaped brackets.

    >>> difference(["The", "-LRB-", "old"], ["the", "(", "new"], "dev.en")
    "word 3 is 'old'; in dev.en it is 'new'"
    >>> difference(["The", "-LRB-", "old"], ["the", "(", "Old"], "dev.en")
    ''
    """
    if parsed == words:
        return ""
    if len(parsed) != len(words):
        return f"it has {len(parsed)} words; its sentence in {text} has {len(words)}"
    for place, (word, wanted) in enumerate(zip(parsed, words, strict=True), 1):
        if word != wanted and _plain(word) != _plain(wanted):
            return f"word {place} is {word!r}; in {text} it is {wanted!r}"
    return ""


def _plain(word: str) -> str:
    lower = word.lower()
    return ESCAPES.get(lower, lower)


def punctuation(words: Sequence[str]) -> npt.NDArray[np.uint8]:
    """Return which words are punctuation, including the quotes and brackets of treebanks.

    >>> punctuation(["a", "。", "...", "'s", "``", "-LRB-"])
    array([0, 1, 1, 0, 1, 1], dtype=uint8)
    """

    def is_mark(c: str) -> bool:
        return c == "`" or unicodedata.category(c).startswith("P")

    flags = [word.lower() in ESCAPES or all(map(is_mark, word)) for word in words]
    return np.array(flags, dtype=np.uint8)
