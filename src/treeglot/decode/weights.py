"""Weight files: a line `name value` for each feature, sparse (what is not named weighs 0), `#` begins a comment."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping

from treeglot.base.errors import FormatError
from treeglot.base.files import PathLike, read_chunks, write_binary


def read_weights(path: PathLike) -> dict[str, float]:
    """Read a weight file, strictly."""
    name = os.fspath(path)
    weights: dict[str, float] = {}
    for number, raw in enumerate(b"".join(read_chunks(path)).split(b"\n"), 1):
        try:
            line = raw.decode("utf-8").strip()
        except UnicodeDecodeError as error:
            raise FormatError(name, number, "is not UTF-8") from error
        if not line or line.startswith("#"):
            continue
        fields = line.split()
        if len(fields) != 2:
            raise FormatError(name, number, f"{line!r} is not a weight; expected NAME VALUE")
        try:
            value = float(fields[1])
        except ValueError as error:
            raise FormatError(name, number, f"{fields[1]!r} is not a number") from error
        if not math.isfinite(value):
            raise FormatError(name, number, f"the weight of {fields[0]!r} is {fields[1]}; expected a finite number")
        if fields[0] in weights:
            raise FormatError(name, number, f"{fields[0]!r} has a weight already")
        weights[fields[0]] = value
    return weights


def write_weights(path: PathLike, weights: Mapping[str, float]) -> None:
    """Write a weight file; features are in the mapping's order, those that weigh 0 too."""
    with write_binary(path) as stream:
        for name, value in weights.items():
            stream.write(f"{name} {value!r}\n".encode())
