"""Chooses sacreBLEU's tokenizer for a text. A text that is already tokenised needs none."""

from __future__ import annotations

import importlib.util
import unicodedata
from collections.abc import Sequence

AUTO, NONE = "auto", "none"
_MARKS = frozenset(".,;:?!…。，；：？！、।؟")
_LOOKED_AT = 5_000  # lines


def looks_raw(lines: Sequence[str]) -> bool:
    """Return whether punctuation is attached to words, as in raw text.

    >>> looks_raw(["Well, it rains."]), looks_raw(["well , it rains ."]), looks_raw(["it rains"])
    (True, False, False)
    """
    clinging, apart = _marks(lines)
    return clinging > apart


def looks_tokenised(lines: Sequence[str]) -> bool:
    """Return whether punctuation marks are separate words.

    >>> looks_tokenised(["Well, it rains."]), looks_tokenised(["well , it rains ."]), looks_tokenised(["it rains"])
    (False, True, False)
    """
    clinging, apart = _marks(lines)
    return apart > clinging


def _marks(lines: Sequence[str]) -> tuple[int, int]:
    """Count the punctuation marks that are attached to words, and those that stand alone."""
    ends = [word for line in lines[:_LOOKED_AT] for word in line.split() if word[-1] in _MARKS]
    return sum(len(word) > 1 and word[0] not in _MARKS for word in ends), sum(len(word) == 1 for word in ends)


def suitable_tokenizer(lines: Sequence[str]) -> str:
    """Choose sacreBLEU's tokenizer: the default of the language for raw text, `none` for tokenised text.

    >>> suitable_tokenizer(["She's here."]), suitable_tokenizer(["她在这里。"]), suitable_tokenizer(["she 's here ."])
    ('13a', 'zh', 'none')
    """
    if not looks_raw(lines):
        return NONE
    names = [unicodedata.name(letter, "") for line in lines[:_LOOKED_AT] for letter in line if letter.isalpha()]
    if 20 * sum(name.startswith(("HIRAGANA", "KATAKANA")) for name in names) > len(names):
        return "ja-mecab" if importlib.util.find_spec("MeCab") else "char"
    if 2 * sum(name.startswith("CJK") for name in names) > len(names):
        return "zh"
    return "13a"
