"""The errors that Treeglot raises for bad input; the command line shows them without a traceback."""

from __future__ import annotations

import re

_REMOTE = re.compile(r"(abfss?|gcs|gs|hdfs|s3|viewfs):/+", re.IGNORECASE)
_USER = re.compile(r"(\w[\w+.-]*:/+)[^/@]*:(?!\d+/)[^@]*@")  # with a password, which may have slashes


def shown(place: str) -> str:
    """Format a file or URI for messages: without passwords, and with the slashes that a `Path` drops.

    >>> shown("s3:/KEY:SECRET@bucket/train.de"), shown("abfs://box@account/a"), shown("train.de")
    ('s3://bucket/train.de', 'abfs://box@account/a', 'train.de')
    >>> shown("s3a://KEY:SEC/RET@bucket/x"), shown("hdfs://host:8020/a@b")
    ('s3a://bucket/x', 'hdfs://host:8020/a@b')
    """
    place = _USER.sub(r"\1", place, count=1)
    match = _REMOTE.match(place)
    return place if match is None else f"{match[1].lower()}://{place[match.end() :]}"


class TreeglotError(Exception):
    """An error that the user can fix: bad input, a bad option, a missing file."""


class FormatError(TreeglotError, ValueError):
    """An error in a file. Its message gives the place, what was found and what was expected.

    >>> error = FormatError("dev.align", 7, "'1:2' is not a link; expected SOURCE-TARGET such as 3-0")
    >>> print(error)
    dev.align:7: '1:2' is not a link; expected SOURCE-TARGET such as 3-0
    >>> error.line
    7
    """

    def __init__(self, file: str, line: int, problem: str) -> None:
        """Create the error. Lines count from 1, and 0 stands for a file without lines (a binary file)."""
        super().__init__(file, line, problem)
        self.file = file
        self.line = line
        self.problem = problem

    def __str__(self) -> str:
        file = shown(self.file)
        place = f"{file}:{self.line}" if self.line else file
        return f"{place}: {self.problem}"


class UsageError(TreeglotError):
    """A command or function was called with arguments that do not fit together (exit code 2).

    `key` is the path to the option in its file, as far as it is known: `("system", 0, "kind")`.
    """

    def __init__(self, problem: str = "", key: tuple[str | int, ...] = ()) -> None:
        super().__init__(problem)
        self.key = key


class OptionError(UsageError, ValueError):
    """An option's value is out of range. `key` is the option's name."""
