"""k-best lists as text: NUMBER ||| TRANSLATION ||| FEATURES ||| SCORE, in the format of cdec, Joshua and Moses."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from treeglot.base.errors import FormatError
from treeglot.base.files import PathLike, iterate_lines, write_binary
from treeglot.base.numbers import LONGEST, parse_number
from treeglot.decode.translation import tokens
from treeglot.decode.weights import check_name

MOST = 3.4028234e38  # values of features are kept in 32 bits

_SEPARATOR = re.compile(r"(?<!\S)\|\|\|(?!\S)")
_ESCAPED = "&#124;&#124;&#124;"
_OLD_CDEC = re.compile(r"[^\s=;]+=[^\s=;]+(;[^\s=;]+=[^\s=;]+)+;?")
_WORD = re.compile(rf"(?<!\S){_ESCAPED}(?!\S)")


@dataclass(frozen=True)
class Entry:
    """One line of a k-best list."""

    sentence: int
    text: str
    features: Mapping[str, float] = field(default_factory=dict)
    score: float | None = None

    def line(self, listed: Callable[[Mapping[str, float]], str] | None = None) -> str:
        """Return the line. By default, numbers have all digits of 32 bits.

        With `listed`, features and the score are rounded as in another decoder. A word ||| would end the translation,
        so it is written as Moses escapes it.

        >>> Entry(0, "a ||| b |||| c", {"lm": -1.5}, -3.25).line()
        '0 ||| a &#124;&#124;&#124; b |||| c ||| lm= -1.5 ||| -3.25'
        """
        features = listed(self.features) if listed else " ".join(f"{n}= {v:.9g}" for n, v in self.features.items())
        score = "" if self.score is None else f" ||| {self.score:.6f}" if listed else f" ||| {self.score:.9g}"
        return f"{self.sentence} ||| {_SEPARATOR.sub(_ESCAPED, self.text)} ||| {features}{score}"


def read_kbest(path: PathLike) -> Iterator[Entry]:
    """Read a k-best list, line by line.

    Features have the form `NAME=VALUE`, or the old form of cdec, `NAME=VALUE;…`. They can also have the form of Moses,
    `NAME= VALUE …`: then several values become NAME_0, NAME_1 and so on. The score can be missing. Fields after it are
    ignored. A word `&#124;&#124;&#124;` stands for `|||`.

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
    """Write a k-best list, with features as `NAME= VALUE` and all digits of 32 bits."""
    with write_binary(path) as stream:
        for entry in entries:
            for name in entry.features:
                check_name(name)
            stream.write(f"{entry.line()}\n".encode())


def _parse(line: str, file: str, number: int) -> Entry:
    parts = [part.strip() for part in _SEPARATOR.split(line)]
    if len(parts) < 3:
        expected = "expected SENTENCE ||| TRANSLATION ||| NAME= VALUE … ||| SCORE"
        raise FormatError(file, number, f"{len(parts)} parts between |||; {expected}")
    if not (parts[0].isascii() and parts[0].isdigit() and len(parts[0]) <= LONGEST):
        raise FormatError(file, number, f"{parts[0][:30]!r} is not the number of a sentence; expected 0, 1, 2 …")
    score = parse_number(parts[3]) if len(parts) > 3 else None
    if score is not None and not math.isfinite(score):
        raise FormatError(file, number, f"{parts[3][:30]!r} is not a score; expected a finite number")
    return Entry(int(parts[0]), _WORD.sub("|||", parts[1]), _features(parts[2], file, number), score)


def _features(text: str, file: str, number: int) -> dict[str, float]:
    listed: dict[str, list[float]] = {}
    name = ""
    if _OLD_CDEC.fullmatch(text):  # with semicolons between features
        text = text.replace(";", " ")
    for token in tokens(text.replace("\t", " ")):
        given, equals, written = token.rpartition("=")
        if equals:
            name = given
            if name in listed:
                raise FormatError(file, number, f"feature {name} is there twice")
            listed[name] = []
        value = parse_number(written) if written or not equals else 0.0
        if not name or not abs(value) <= MOST:
            raise FormatError(file, number, f"{token[:60]!r} is not a feature; expected NAME= VALUE, a finite number")
        if written or not equals:
            listed[name].append(value)
    features: dict[str, float] = {}
    for name, values in listed.items():
        if not values:
            raise FormatError(file, number, f"'{name}=' is not a feature; expected NAME= VALUE, a finite number")
        for i, value in enumerate(values):
            called = name if len(values) == 1 else f"{name}_{i}"
            if called in features:
                raise FormatError(file, number, f"feature {called} is there twice")
            features[called] = value
    return features
