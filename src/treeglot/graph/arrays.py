"""Converts arguments to arrays for the functions of this folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from treeglot.base.later import Later

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = Later("numpy")


Floats: TypeAlias = "npt.NDArray[np.float64]"


def floats(values: npt.ArrayLike) -> Floats:
    """Return the values as a contiguous array of float64. Such an array is returned without a copy.

    >>> floats([1, 2])
    array([1., 2.])
    """
    return np.ascontiguousarray(values, dtype=np.float64)
