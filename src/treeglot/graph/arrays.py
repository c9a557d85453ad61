"""What the functions of this folder take as arrays: the right type passes without a copy, the rest is converted."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Ids: TypeAlias = npt.NDArray[np.uint32]
Symbols: TypeAlias = npt.NDArray[np.int32]


def floats(values: npt.ArrayLike) -> Floats:
    """A contiguous array of float64; `values` itself if it is one.

    >>> floats([1, 2])
    array([1., 2.])
    """
    return np.ascontiguousarray(values, dtype=np.float64)


def ids(name: str, values: npt.ArrayLike) -> Ids:
    """A contiguous array of uint32; `values` itself if it is one. A number that does not fit is refused.

    >>> ids("tails", [2, -1])
    Traceback (most recent call last):
    ValueError: tails has -1; expected numbers from 0 to 4294967295
    """
    return np.ascontiguousarray(_fitting(name, values, 0, 2**32 - 1), dtype=np.uint32)


def symbols(name: str, values: npt.ArrayLike) -> Symbols:
    """A contiguous array of int32; `values` itself if it is one. A number that does not fit is refused."""
    return np.ascontiguousarray(_fitting(name, values, -(2**31), 2**31 - 1), dtype=np.int32)


def _fitting(name: str, values: npt.ArrayLike, low: int, high: int) -> npt.NDArray[np.generic]:
    array = np.asarray(values)
    if array.size == 0:
        return array
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} is of type {array.dtype}; expected whole numbers")
    limits = np.iinfo(array.dtype)
    if limits.min < low or limits.max > high:
        for extreme in (int(array.min()), int(array.max())):
            if not low <= extreme <= high:
                raise ValueError(f"{name} has {extreme}; expected numbers from {low} to {high}")
    return array
