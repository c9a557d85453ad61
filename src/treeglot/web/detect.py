"""Detects the language of a text, among the languages that are served. bench/detect.py compares libraries."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from treeglot.web.languages import normal

MOST = 5000  # characters that are looked at


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def detect(text: str, languages: Iterable[str]) -> list[tuple[str, float]]:
    """Rank some languages for a text, with the most likely first. Each has a confidence in percent.

    >>> detect("Das ist ein kleines Haus am Meer.", ["en", "de", "zh-Hant"])[0][0]
    'de'
    """
    codes = list(dict.fromkeys(languages))
    shares = {code: 100.0 * float(share) for code, share in _identifier().rank(text[:MOST])} if text.strip() else {}
    found = [(code, round(shares.get(normal(code).partition("-")[0], 0.0), 1)) for code in codes]
    return sorted(found, key=lambda each: -each[1])
