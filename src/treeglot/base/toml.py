"""Reads TOML files. Errors name the line.

tomllib returns values without their lines. So when an error needs a line, a linear scan of the same text finds the line
of each key.
"""

from __future__ import annotations

import importlib
import json
import math
import re
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

from treeglot.base.errors import FormatError

Key: TypeAlias = "tuple[str | int, ...]"  # the way to a value: ("search", "pop_limit"), ("system", 0, "model")

DEEPEST = 100  # arrays and tables in each other, and parts of a key
LONGEST = 400  # characters of a number, or of a key without quotes

# Each alternative is one character or a run of one class of them: nothing is ever tried twice.
_TOKEN = re.compile(r"""[ \t\r]+|\#[^\n]*|\n|"{3}|'{3}|["']|[\[\]{},=.]|[^\s"'\#\[\]{},=.]+|.""")
# The end of a string by its beginning; a backslash escapes the next character.
_ENDS = {
    begin: re.compile(end, re.DOTALL)
    for begin, end in (("'", "'"), ("'''", "'{3,5}"), ('"', r'\\.|"'), ('"""', r'\\.|"{3,5}'))
}


class TomlFile:
    """A TOML file as a table. If the file has a mistake, `FormatError` names the line."""

    def __init__(self, path: str | Path) -> None:
        """Read and parse the file."""
        self.path = str(path)
        data = Path(path).read_bytes()
        try:
            self.text = data.decode()
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise FormatError(self.path, line, f"byte 0x{data[error.start]:02x} is not UTF-8") from error
        self.table = self._parse()

    def _parse(self) -> dict[str, Any]:
        for line, problem in _extremes(self.text):
            raise FormatError(self.path, line, problem)
        try:
            return loads(self.text)
        except ValueError as error:
            problem, _, place = str(error).partition(" (at ")
            first = place.removeprefix("line ").partition(",")[0]  # "line 3, column 1)" or "end of document)"
            line = int(first) if first.isdigit() else self.text.count("\n") + 1
            raise FormatError(self.path, line, f"is not TOML: {problem[:1].lower()}{problem[1:]}") from error

    def line_of(self, key: Key) -> int:
        """Return the line of a key. For an unknown key, return the line of the closest table around it, or 1."""
        lines = key_lines(self.text)
        return next((lines[key[:size]] for size in range(len(key), 0, -1) if key[:size] in lines), 1)


def loads(text: str) -> dict[str, Any]:
    """Parse TOML text. Invalid text raises ValueError."""
    tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    table: dict[str, Any] = tomllib.loads(text)
    return table


def parse_value(text: str) -> Any:
    """Parse a single TOML value. Text that is not a TOML value is returned as a string.

    >>> [parse_value(text) for text in ("5", "[1, 2]", "true", '"5"', "my.heads", "{a = 1")]
    [5, [1, 2], True, '5', 'my.heads', '{a = 1']
    """
    if any(True for _ in _extremes(text)):
        return text
    try:
        table = loads(f"value = {text}")
    except ValueError:
        return text
    value = table["value"]
    return value if len(table) == 1 and isinstance(value, bool | int | float | str | list | dict) else text


def format_value(value: Any) -> str:
    """Return a value, or a list of values, in TOML.

    >>> format_value(math.inf), format_value(True), format_value((1, "a"))
    ('inf', 'true', '[1, "a"]')
    """
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return json.dumps(value, ensure_ascii=False)


def key_lines(text: str) -> dict[Key, int]:
    r"""Map each key, and each item of an array, to its line in a valid TOML text.

    >>> key_lines("a.b = [1,\n2]\n[[t]]\n'c d' = 0")
    {('a',): 1, ('a', 'b'): 1, ('a', 'b', 0): 1, ('a', 'b', 1): 2, ('t',): 3, ('t', 0): 3, ('t', 0, 'c d'): 4}
    """
    lines: dict[Key, int] = {}
    tables: dict[Key, int] = {}  # arrays of tables: the number of their last one
    table: Key = ()
    inside: list[tuple[Key, Iterator[int] | None]] = []  # open arrays, which number their items, and inline tables
    tokens = [*_tokens(text), ("\n", 0)]
    at = 0

    def add(key: Key, names: list[str], line: int) -> Key:
        for name in names[:-1]:
            key = (*key, name)
            lines.setdefault(key, line)
            if key in tables:
                key = (*key, tables[key])
        return (*key, names[-1])

    def names(end: str) -> list[str]:
        nonlocal at
        found = []
        while tokens[at][0] != end:
            if tokens[at][0] != ".":
                found.append(_name(tokens[at][0]))
            at += 1
        at += 1
        return found

    while at < len(tokens):
        token, line = tokens[at]
        if token in ("\n", ",", "]", "}"):
            if token in ("]", "}") and inside:
                inside.pop()
            at += 1
            continue
        if not inside and token == "[":
            several = tokens[at + 1][0] == "["
            at += 2 if several else 1
            table = add((), names("]"), line)
            lines[table] = min(lines.get(table, line), line) if several else line
            if several:
                at += 1
                tables[table] = tables.get(table, -1) + 1
                table = (*table, tables[table])
                lines[table] = line
            continue
        around, items = inside[-1] if inside else (table, None)
        key = add(around, names("="), line) if items is None else (*around, next(items))
        lines[key] = line
        token = tokens[at][0]
        at += 1
        if token in ("[", "{"):
            inside.append((key, count() if token == "[" else None))
        else:
            while tokens[at][0] not in ("\n", ",", "]", "}"):  # the rest of a number or a date
                at += 1
    return lines


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    """Split TOML into tokens with their lines, without blanks and comments. Strings keep their quotes."""
    at, line = 0, 1
    while found := _TOKEN.match(text, at):
        token, end = found[0], found.end()
        if token in _ENDS:
            while closing := _ENDS[token].search(text, end):
                end = closing.end()
                if closing[0][0] != "\\":
                    break
            else:
                end = len(text)
            yield text[at:end], line
        elif token[0] not in " \t\r#":
            yield token, line
        line += text.count("\n", at, end)
        at = end


def _name(token: str) -> str:
    """Return the name in one part of a key."""
    if token[0] == '"' and "\\" in token:
        name: str = loads(f"name = {token}")["name"]
        return name
    return token[1:-1] if token[0] in "\"'" else token


def _extremes(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that contain absurdly long numbers or deep nesting, each with the reason."""
    depth = parts = 0
    for token, line in _tokens(text):
        depth = max(0, depth + (token in ("[", "{")) - (token in ("]", "}")))
        parts = parts + 1 if token == "." else parts if token[0] not in "\n=,[]{}" else 0
        if depth > DEEPEST:
            yield line, f"has more than {DEEPEST} lists or tables in each other; expected fewer"
        if parts > DEEPEST:
            yield line, f"has a key of more than {DEEPEST} parts; expected fewer"
        if len(token) > LONGEST and token[0] not in "\"'":
            yield line, f"has a number or a name of {len(token):,} characters; expected at most {LONGEST}"
