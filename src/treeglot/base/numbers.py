"""Parses numbers in text files, as C does."""

from __future__ import annotations

import math
import re

LONGEST = 400  # characters: more than any number has that fits into a double
LARGEST = 3.4028234663852886e38  # of 32 bits, which the core has for weights and features
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def parse_number(text: str) -> float:
    """Parse a number as C does. Text that C would not accept, such as Python's 1_000, gives NaN.

    Text of more than 400 characters is not a number, because parsing it takes more than linear time.

    >>> [parse_number(text) for text in ("-0.5", "1e3", "1_000", "inf", "0" * 401)]
    [-0.5, 1000.0, nan, nan, nan]
    """
    return float(text) if len(text) <= LONGEST and _NUMBER.fullmatch(text) else math.nan
