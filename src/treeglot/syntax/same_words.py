"""Whether a parse is of a sentence: treebanks write brackets in their own way, and texts may be in lower case."""

from __future__ import annotations

from collections.abc import Sequence

# What a treebank writes for brackets, in lower case: words are compared so.
ESCAPES = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}"}


def difference(parsed: Sequence[str], words: Sequence[str], text: str) -> str:
    """How the words of a parse are not those that `text` has, case and escaped brackets aside; empty if they are.

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
