"""k-best lists as text: NUMBER ||| TRANSLATION ||| FEATURES ||| SCORE, the way cdec, Joshua and Moses write them."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from treeglot.base.errors import FormatError
from treeglot.base.files import PathLike, iterate_lines, write_binary

_SEPARATOR = re.compile(r"(?<!\S)\|\|\|(?!\S)")


@dataclass(frozen=True)
class Entry:
    """One line of a k-best list."""

    sentence: int
    text: str
    features: Mapping[str, float] = field(default_factory=dict)
    score: float = 0.0

    def __str__(self) -> str:
        features = " ".join(f"{name}={value:.6g}" for name, value in self.features.items())
        return f"{self.sentence} ||| {self.text} ||| {features} ||| {self.score:.6g}"


def read_kbest(path: PathLike) -> Iterator[Entry]:
    """Read a k-best list.

    Features are `NAME=VALUE` or, as Moses has them, `NAME= VALUE …`: of several values each is NAME_0, NAME_1 and so
    on. Fields after the score are passed over.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "list"
    >>> _ = path.write_text("0 ||| the house ||| LM0= -3.5 TM0= -1 -2 ||| -6.5\\n")
    >>> next(read_kbest(path))
    Entry(sentence=0, text='the house', features={'LM0': -3.5, 'TM0_0': -1.0, 'TM0_1': -2.0}, score=-6.5)
    """
    file = os.fspath(path)
    for number, line in enumerate(iterate_lines(path), 1):
        yield _parse(line, file, number)


def write_kbest(path: PathLike, entries: Iterable[Entry]) -> None:
    """Write a k-best list, features as `NAME=VALUE`."""
    with write_binary(path) as stream:
        for entry in entries:
            stream.write(f"{entry}\n".encode())


def _parse(line: str, file: str, number: int) -> Entry:
    fields = [part.strip() for part in _SEPARATOR.split(line)]
    if len(fields) < 4:
        wanted = "NUMBER ||| TRANSLATION ||| FEATURES ||| SCORE"
        raise FormatError(file, number, f"{len(fields)} fields; expected {wanted}")
    sentence, text, listed, score = fields[:4]
    if not sentence.isdecimal():
        raise FormatError(file, number, f"the sentence's number is {sentence[:30]!r}; expected digits")
    features: dict[str, list[float]] = {}
    name = ""
    for token in listed.split():
        given, equals, value = token.rpartition("=")
        if equals:
            name = given
            if not name or name in features:
                raise FormatError(file, number, f"found {token[:60]!r}; expected a name that was not given before")
            features[name] = []
        if value:
            if not name:
                raise FormatError(file, number, f"found {token[:60]!r}; expected NAME=VALUE")
            features[name].append(_number(value, f"the feature {name}", file, number))
    flat: dict[str, float] = {}
    for name, values in features.items():
        if not values:
            raise FormatError(file, number, f"the feature {name} has no value")
        flat |= {name if len(values) == 1 else f"{name}_{i}": value for i, value in enumerate(values)}
    return Entry(int(sentence), text, flat, _number(score, "the score", file, number))


def _number(text: str, what: str, file: str, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise FormatError(file, line, f"{what} is {text[:30]!r}; expected a number")
    return value
