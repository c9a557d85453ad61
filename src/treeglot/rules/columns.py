"""Converts columns between the core and Arrow, without copies."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from treeglot.base.errors import FormatError
from treeglot.base.files import PathLike
from treeglot.base.later import Later

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
else:
    np = Later("numpy")

Buffers: TypeAlias = "tuple[Any, Any]"  # offsets (int32, one more than rows) and bytes


@contextmanager
def reading(path: PathLike) -> Iterator[None]:
    """Add the name of a Parquet file to errors that occur during a block, because Arrow and DuckDB rarely name it."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        library = type(error).__module__.partition(".")[0].lstrip("_")
        # A name that is not UTF-8 is no error of the library's own.
        damaged = isinstance(error, UnicodeDecodeError) or (isinstance(error, OSError) and not error.errno)
        if library in ("pyarrow", "duckdb") or damaged:
            said = str(error).partition("\n")[0]
            raise FormatError(os.fspath(path), 0, f"is a damaged Parquet file: {said}") from error
        raise


def binary_array(buffers: Buffers, type: pa.DataType) -> pa.Array:
    """Return an Arrow array of `type` (binary or string) over the core's buffers."""
    import pyarrow as pa

    offsets, data = buffers
    return pa.Array.from_buffers(type, len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def buffers_of(array: pa.Array) -> Buffers:
    """Return the buffers of an Arrow array of binary values or strings without nulls, as the core needs them."""
    _, offsets, data = array.buffers()
    first = array.offset
    view = np.frombuffer(offsets, dtype=np.int32)[first : first + len(array) + 1]
    return view, np.frombuffer(data, dtype=np.int8) if data is not None else np.zeros(0, dtype=np.int8)
