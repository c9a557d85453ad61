"""Weights by feature name. They are sparse: missing features have weight 0."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Mapping
from typing import TypeAlias

from treeglot.base.errors import FormatError
from treeglot.base.files import PathLike, read_lines, write_binary
from treeglot.base.numbers import LARGEST, parse_number

Weights: TypeAlias = Mapping[str, float]


def read_weights(path: PathLike) -> dict[str, float]:
    """Read a file of weights. Each line has a name, blanks or tabs, and a number; lines that begin with # are comments.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "start.weights"
    >>> _ = path.write_text("# a guess\\nlm 0.5\\nword_penalty -1\\n")
    >>> read_weights(path)
    {'lm': 0.5, 'word_penalty': -1.0}
    """
    weights: dict[str, float] = {}
    file = os.fspath(path)
    for number, line in enumerate(read_lines(path), 1):
        if not line or line.startswith("#"):
            continue
        parts = line.split()
        if len(parts) != 2:
            raise FormatError(file, number, f"{line[:60]!r} is not a weight; expected NAME VALUE such as lm 0.5")
        name, text = parts
        value = parse_number(text)
        if not abs(value) <= LARGEST:
            raise FormatError(file, number, f"the weight of {name} is {text[:30]!r}; expected a finite number")
        if name in weights:
            raise FormatError(file, number, f"{name} has a weight already")
        weights[name] = value
    return weights


def write_weights(path: PathLike, weights: Weights, comment: str = "") -> None:
    """Write the weights that are not 0, sorted by name. The same weights produce the same bytes.

    Weights have enough digits to restore the same number.
    """
    with write_binary(path) as stream:
        for line in comment.splitlines():
            stream.write(f"# {line}\n".encode())
        for name in sorted(weights):
            check_name(name)
            if not abs(weights[name]) <= LARGEST:
                raise ValueError(f"the weight of {name} is {weights[name]}; expected a finite number")
            if weights[name] != 0:
                stream.write(f"{name} {float(weights[name])!r}\n".encode())


def check_name(name: str) -> None:
    """Refuse a name that a file of weights cannot contain: empty, with blanks, or beginning with #."""
    if not name or name.startswith("#") or any(c.isspace() for c in name):
        raise ValueError(f"{name!r} is not the name of a feature; expected no blanks and no # at its beginning")


def rescaled(weights: Weights, like: Weights, learnt: Collection[str]) -> dict[str, float]:
    """Return weights scaled so that the absolute values of those in `learnt` have the same sum as in `like`.

    If these are all 0, the sum is 1. Other weights stay unchanged. The scale does not change which hypothesis is best,
    but it can change pruning.

    >>> rescaled({"lm": 3.0, "word_penalty": -1.0, "unknown": -9.0}, {"lm": 2.0}, {"lm", "word_penalty"})
    {'lm': 1.5, 'word_penalty': -0.5, 'unknown': -9.0}
    """
    size = math.fsum(abs(weights.get(name, 0.0)) for name in learnt)
    wanted = math.fsum(abs(like.get(name, 0.0)) for name in learnt) or 1.0
    if not size:
        return dict(weights)
    return {name: weight * (wanted / size) if name in learnt else weight for name, weight in weights.items()}
