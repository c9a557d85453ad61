"""Parses amounts of memory, such as 2G."""

from __future__ import annotations

import re

from treeglot.base.errors import UsageError

_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def parse_size(size: str | int) -> int:
    """Parse an amount of memory: a number of bytes, or digits with K, M, G or T (powers of 1024).

    >>> parse_size("2G"), parse_size("1.5M"), parse_size(4096)
    (2147483648, 1572864, 4096)
    """
    if isinstance(size, int):
        return size
    found = re.fullmatch(r"([0-9]{1,18}(?:\.[0-9]{1,18})?) ?([KMGT]?)(?:i?B)?", size.strip(), re.IGNORECASE)
    if not found:
        raise UsageError(f"{size[:60]!r} is not an amount of memory; expected one such as 500M or 2G")
    return int(float(found[1]) * 1024 ** _UNITS[found[2].upper()])
