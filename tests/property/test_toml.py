"""The lines of keys in TOML files, beside an enumeration of what tomllib reads and of where a writer put it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from treeglot.base.toml import Key, key_lines, loads

NAMES = st.sampled_from(["a", "b", "c-d", "3", "", "x.y", "[z]", "# no", "tab\t", 'quo"te', "ü"])
SCALARS = st.one_of(
    st.integers(-5, 5),
    st.sampled_from([1.5, True, False, "text", "a = 1", "[t]", "# no", "two\nlines\n[x]", 'a "quoted" \\ word', "'''"]),
)
VALUES = st.recursive(
    SCALARS, lambda below: st.lists(below, max_size=3) | st.dictionaries(NAMES, below, max_size=3), max_leaves=8
)
TABLES = st.dictionaries(NAMES, VALUES, max_size=5)


class Writer:
    """Writes a table as TOML, and notes the line of each key."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.text = ""
        self.lines: dict[Key, int] = {}

    def here(self) -> int:
        return self.text.count("\n") + 1

    def put(self, text: str, *, breaks: bool = False) -> None:
        """Text, with blanks before it; inside of an array also line ends and comments."""
        between = ["", "", " ", "\t"] + (["\n", " # [[not]] a = 1\n", "\r\n"] if breaks else [])
        self.text += self.draw.choice(between) + text

    def name(self, name: str) -> str:
        if name.isascii() and name.replace("-", "").isalnum() and self.draw.random() < 0.7:
            return name
        if "'" not in name and name.isprintable() and self.draw.random() < 0.5:
            return f"'{name}'"
        return json.dumps(name, ensure_ascii=self.draw.random() < 0.5)

    def string(self, text: str) -> str:
        quoted = json.dumps(text)
        if self.draw.random() < 0.3:
            return '""' + quoted + '""'  # the same escapes are right in three quotes
        if self.draw.random() < 0.3 and "'''" not in text:
            return f"'''\n{text}'''"
        return quoted

    def value(self, value: Any, key: Key, inline: bool = False) -> None:
        if isinstance(value, list):
            self.put("[")
            for number, item in enumerate(value):
                self.put("", breaks=True)
                self.lines[(*key, number)] = self.here()
                self.value(item, (*key, number))
                self.put("," if number + 1 < len(value) or self.draw.random() < 0.3 else "", breaks=True)
            self.put("]", breaks=True)
        elif isinstance(value, dict):
            self.put("{")
            for number, (name, item) in enumerate(value.items()):
                self.put("," if number else "")
                self.entry((name,), item, key)
            self.put("}")
        elif isinstance(value, str):
            self.put(self.string(value))
        else:
            self.put(json.dumps(value))

    def entry(self, names: tuple[str, ...], value: Any, table: Key) -> None:
        """An entry; a table of one entry may become a dotted key."""
        while isinstance(value, dict) and len(value) == 1 and self.draw.random() < 0.5:
            [(name, value)] = value.items()
            names = (*names, name)
        self.put("")
        for size in range(1, len(names) + 1):
            self.lines[(*table, *names[:size])] = self.here()
        self.put(self.draw.choice([".", " . "]).join(map(self.name, names)))
        self.put("=")
        self.value(value, (*table, *names))

    def table(self, table: dict[str, Any], key: Key = (), header: tuple[str, ...] = ()) -> None:
        later: list[tuple[str, Any]] = []
        for name, value in table.items():
            tables = isinstance(value, dict) or (
                isinstance(value, list) and value and all(isinstance(item, dict) for item in value)
            )
            if tables and self.draw.random() < 0.7:
                later.append((name, value))
                continue
            self.entry((name,), value, key)
            self.text += self.draw.choice(["\n", " # comment = 'x'\n", "\n\n", "\r\n"])
        for name, value in later:
            names = (*header, name)
            dotted = ".".join(map(self.name, names))
            for number, item in enumerate(value if isinstance(value, list) else [value]):
                place: Key = (*key, name, number) if isinstance(value, list) else (*key, name)
                self.lines.setdefault((*key, name), self.here())
                self.lines[place] = self.here()
                self.text += f"[[{dotted}]]\n" if isinstance(value, list) else f"[ {dotted} ]# x\n"
                self.table(item, place, names)


def keys(value: Any, key: Key = ()) -> Iterator[Key]:
    if key:
        yield key
    if isinstance(value, dict):
        for name, item in value.items():
            yield from keys(item, (*key, name))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from keys(item, (*key, number))


@given(TABLES, st.integers(0, 10**6))
def test_every_key_has_the_line_where_it_was_written(table: dict[str, Any], seed: int) -> None:
    writer = Writer(seed)
    writer.table(table)
    assert loads(writer.text) == table
    found = key_lines(writer.text)
    assert set(found) == set(keys(table))
    assert found == writer.lines
