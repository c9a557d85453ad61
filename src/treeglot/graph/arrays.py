"""What the functions of this folder take as arrays: the right type passes without a copy, the rest is converted."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Ids: TypeAlias = npt.NDArray[np.uint32]
Mask: TypeAlias = npt.NDArray[np.bool_]


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
    array = np.asarray(values)
    if array.size == 0:
        array = array.astype(np.uint32)
    if array.dtype != np.uint32:
        if array.dtype.kind not in "iu":
            raise ValueError(f"{name} is of type {array.dtype}; expected whole numbers")
        for extreme in (int(array.min()), int(array.max())):
            if not 0 <= extreme < 2**32:
                raise ValueError(f"{name} has {extreme}; expected numbers from 0 to {2**32 - 1}")
    return np.ascontiguousarray(array, dtype=np.uint32)
