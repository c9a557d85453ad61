"""Numbers in text files."""

from __future__ import annotations

import math
import re

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def parse_number(text: str) -> float:
    """The number that `text` is, as C would read it; not a number for anything else, such as Python's 1_000.

    >>> [parse_number(text) for text in ("-0.5", "1e3", "1_000", "inf")]
    [-0.5, 1000.0, nan, nan]
    """
    return float(text) if _NUMBER.fullmatch(text) else math.nan
