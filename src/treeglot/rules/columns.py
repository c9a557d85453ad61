"""Columns of the core as Arrow arrays, and back, without copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

Buffers: TypeAlias = "tuple[Any, Any]"  # offsets (int32, one more than rows) and bytes


def binary_array(buffers: Buffers, type: pa.DataType) -> pa.Array:
    """An Arrow array of `type` (binary or string) over the core's buffers."""
    import pyarrow as pa

    offsets, data = buffers
    return pa.Array.from_buffers(type, len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def buffers_of(array: pa.Array) -> Buffers:
    """The buffers of an Arrow binary or string array without nulls, as the core takes them."""
    _, offsets, data = array.buffers()
    first = array.offset
    view = np.frombuffer(offsets, dtype=np.int32)[first : first + len(array) + 1]
    return view, np.frombuffer(data, dtype=np.int8) if data is not None else np.zeros(0, dtype=np.int8)
