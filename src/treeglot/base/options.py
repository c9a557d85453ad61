"""Options: one declaration makes the TOML schema, the command line's `--help` and the table in the docs.

An option is a field of a frozen dataclass with its help beside it; the parameters of a factory (see
`treeglot.base.registry`) are options too, with their help in `Annotated[int, "help"]`.

>>> @dataclasses.dataclass(frozen=True)
... class SearchOptions:
...     "How a translation forest is searched."
...     pop_limit: int = option(200, "hypotheses popped per node")
>>> from_table(SearchOptions, {"pop_limit": 50})
SearchOptions(pop_limit=50)
>>> from_table(SearchOptions, {"poplimit": 50})
Traceback (most recent call last):
treeglot.base.errors.UsageError: unknown option 'poplimit'; did you mean 'pop_limit'? known: pop_limit
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
import os
import re
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from treeglot.base.errors import FormatError, TreeglotError, UsageError

T = TypeVar("T")
Key: TypeAlias = "tuple[str | int, ...]"  # the way to a value: ("search", "pop_limit"), ("system", 0, "model")

REQUIRED = dataclasses.MISSING


def option(default: T, help: str) -> T:
    """A field of an options dataclass: its default and one line of help."""
    return dataclasses.field(default=default, metadata={"help": help})


def required(help: str) -> Any:
    """A field that has no default; such fields come first in their dataclass."""
    return dataclasses.field(metadata={"help": help})


def name_or_file(default: str, help: str, names: Callable[[], Iterable[str]]) -> str:
    """A field whose value is one of `names`, which are asked for when they are needed, or else the path of a file."""
    return dataclasses.field(default=default, metadata={"help": help, "names": names})


def at_least(options: Any, least: float, *names: str, most: float = math.inf) -> None:
    """Refuse options, by their names, that are not numbers from `least` to `most`; for `__post_init__`.

    >>> at_least(types.SimpleNamespace(restarts=-3), 0, "restarts")
    Traceback (most recent call last):
    ValueError: restarts is -3; expected at least 0
    """
    for name in names:
        value = getattr(options, name)
        if not least <= value <= most:
            wanted = f"at most {most}" if value > most else f"at least {least}"
            raise ValueError(f"{name} is {value}; expected {wanted}")


@dataclasses.dataclass(frozen=True)
class Option:
    """One option of a schema, as declared."""

    name: str
    type: Any
    default: Any  # REQUIRED when it has none
    help: str
    names: Callable[[], Iterable[str]] | None = None  # what it may be, if anything else is a file


def options_of(schema: Callable[..., Any]) -> list[Option]:
    """The options that a dataclass or a factory declares, in order.

    >>> def rules(max_words: Annotated[int, "longest source side"] = 7): ...
    >>> options_of(rules)[0].help
    'longest source side'
    """
    if dataclasses.is_dataclass(schema):
        hints = get_type_hints(schema)
        return [
            Option(f.name, hints[f.name], _default(f), f.metadata.get("help", ""), f.metadata.get("names"))
            for f in dataclasses.fields(schema)
            if f.init
        ]
    target = schema.__init__ if inspect.isclass(schema) else schema
    hints = get_type_hints(target, include_extras=True)
    found = []
    for parameter in inspect.signature(schema).parameters.values():
        hint = hints.get(parameter.name, Any)
        extras = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
        help = next((extra for extra in extras if isinstance(extra, str)), "")
        kind = get_args(hint)[0] if extras else hint
        default = REQUIRED if parameter.default is inspect.Parameter.empty else parameter.default
        found.append(Option(parameter.name, kind, default, help))
    return found


def from_table(schema: Callable[..., T], table: Mapping[str, Any], *, table_name: str = "") -> T:
    """Call `schema` with the values of `table`, each checked against its declared type; nothing unknown passes."""
    try:
        return _make(schema, table, (table_name,) if table_name else ())
    except _RefusedError as refusal:
        raise UsageError(refusal.problem, refusal.key) from refusal.__cause__


def resolved(schema: Callable[..., Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """All options that `table` stands for, defaults among them, as values of JSON; a factory is not called.

    >>> def rules(max_words: Annotated[int, "longest source side"] = 7, beam: Annotated[float, "margin"] = 1.0): ...
    >>> resolved(rules, {"beam": 2})
    {'max_words': 7, 'beam': 2.0}
    """
    if dataclasses.is_dataclass(schema):
        values = dataclasses.asdict(from_table(cast("Callable[..., Any]", schema), table))
    else:
        try:
            values = {o.name: o.default for o in options_of(schema)} | _values(schema, table, ())
        except _RefusedError as refusal:
            raise UsageError(refusal.problem, refusal.key) from refusal.__cause__
    found: dict[str, Any] = json.loads(json.dumps(values, default=os.fspath))
    return found


def file_options(schema: Callable[..., Any], table: Mapping[str, Any]) -> dict[str, str]:
    """The values of `table` that are files, by the dotted names of their options: what depends on one depends on it.

    >>> @dataclasses.dataclass(frozen=True)
    ... class Trees:
    ...     heads: str = name_or_file("english", "head table", lambda: ["english", "german"])
    >>> file_options(Trees, {"heads": "my.heads"}), file_options(Trees, {"heads": "german"})
    ({'heads': 'my.heads'}, {})
    """
    found: dict[str, str] = {}
    for o in options_of(schema):
        value = table.get(o.name)
        kinds = get_args(o.type) if get_origin(o.type) in (Union, types.UnionType) else (o.type,)
        for kind in kinds:
            if isinstance(value, Mapping) and dataclasses.is_dataclass(kind):
                below = file_options(cast("Callable[..., Any]", kind), value)
                found |= {f"{o.name}.{name}": path for name, path in below.items()}
        if isinstance(value, str | Path) and (Path in kinds or (o.names is not None and value not in [*o.names()])):
            found[o.name] = os.fspath(value)
    return found


def with_values(table: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """`table` with other values for options, by their dotted names.

    >>> with_values({"trees": {"heads": "my.heads", "kbest": 1}}, {"trees.heads": "/data/my.heads"})
    {'trees': {'heads': '/data/my.heads', 'kbest': 1}}
    """
    out = dict(table)
    for dotted, value in values.items():
        name, _, rest = dotted.partition(".")
        out[name] = with_values(out.get(name, {}), {rest: value}) if rest else value
    return out


def load_options(schema: Callable[..., T], path: str | Path) -> T:
    """Read a TOML file into `schema`; what is wrong in it is a `FormatError` with file and line."""
    import importlib

    tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    text = _text(path)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problem, _, place = str(error).partition(" (at ")
        found = re.match(r"line (\d+)", place)
        line = int(found[1]) if found else text.count("\n") + 1
        raise FormatError(str(path), line, f"is not TOML: {problem[:1].lower()}{problem[1:]}") from error
    try:
        return _make(schema, table, ())
    except _RefusedError as refusal:
        raise FormatError(str(path), _line_of(text, refusal.key), refusal.problem) from refusal.__cause__


def in_file(path: str | Path, error: UsageError) -> FormatError:
    """An error about options that were read from a TOML file, with file and line."""
    return FormatError(str(path), _line_of(_text(path), error.key) if error.key else 0, str(error))


def _text(path: str | Path) -> str:
    try:
        return Path(path).read_bytes().decode()
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise FormatError(str(path), line, f"byte 0x{error.object[error.start]:02x} is not UTF-8") from error


def options_table(schema: Callable[..., Any]) -> str:
    """The options as a Markdown table, for the docs.

    >>> def rules(max_words: Annotated[int, "longest source side"] = 7): ...
    >>> print(options_table(rules))
    | option | value | default | |
    |---|---|---|---|
    | `max_words` | an integer | 7 | longest source side |
    """
    rows = ["| option | value | default | |", "|---|---|---|---|"]
    for o in options_of(schema):
        default = "required" if o.default is REQUIRED else _shown(o.default)
        rows.append(f"| `{o.name}` | {wanted(o.type)} | {default} | {o.help} |")
    return "\n".join(rows)


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """The message for a name that is not known: the names that are, the closest first.

    >>> unknown("format", "conlu", ["ptb", "conllu"])
    "unknown format 'conlu'; did you mean 'conllu'? known: conllu, ptb"
    """
    import difflib

    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    hint = f" did you mean {close[0]!r}?" if close else ""
    return f"unknown {what} {name!r};{hint} known: {', '.join(names) or 'none'}"


def wanted(kind: Any) -> str:
    """What values a type takes, in words.

    >>> wanted(float), wanted(Literal["hiero", "t2t"])
    ('a number', "'hiero' or 't2t'")
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return wanted(arguments[0])
    if origin is Literal:
        return " or ".join(repr(a) for a in arguments)
    if origin in (Union, types.UnionType):
        return " or ".join(wanted(a) for a in arguments if a is not types.NoneType)
    if origin in (tuple, list, Sequence):
        return f"a list, each {wanted(arguments[0])}"
    if origin in (dict, Mapping) or dataclasses.is_dataclass(kind):
        return "a table"
    return _WORDS.get(kind, "any value")


class _RefusedError(Exception):
    def __init__(self, key: Key, problem: str) -> None:
        super().__init__(key, problem)
        self.key = key
        self.problem = problem


_WORDS = {bool: "true or false", int: "an integer", float: "a number", str: "a string", Path: "a path"}


def _default(field: dataclasses.Field[Any]) -> Any:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


def _values(schema: Callable[..., Any], table: Mapping[str, Any], key: Key) -> dict[str, Any]:
    known = {o.name: o for o in options_of(schema)}
    where = f" of [{_dotted(key)}]" if key else ""
    for name in table:
        if name not in known:
            raise _RefusedError((*key, name), unknown(f"option{where}", name, known))
    values = {name: _value(value, known[name].type, (*key, name)) for name, value in table.items()}
    for o in known.values():
        if o.default is REQUIRED and o.name not in values:
            raise _RefusedError(key, f"option {o.name!r}{where} is missing; expected {wanted(o.type)}: {o.help}")
    return values


def _make(schema: Callable[..., T], table: Mapping[str, Any], key: Key) -> T:
    values = _values(schema, table, key)
    try:
        return schema(**values)
    except FormatError:
        raise
    except (ValueError, TreeglotError) as error:
        where = (*key, *(error.key if isinstance(error, UsageError) else ()))
        name = str(error).partition(" ")[0]  # "pop_limit is -1; expected at least 0"
        if where == key and name in {o.name for o in options_of(schema)}:
            where = (*key, name)
        raise _RefusedError(where, f"{_dotted(key)}: {error}" if key else str(error)) from error


def _value(value: Any, kind: Any, key: Key) -> Any:
    """`value` as `kind`; an integer passes as a number and a list as a tuple, nothing else is bent."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _value(value, arguments[0], key)
    if origin in (Union, types.UnionType):
        for choice in arguments:
            if choice is not types.NoneType and _fits(value, choice):
                return _value(value, choice, key)
    elif _fits(value, kind):
        if dataclasses.is_dataclass(kind):
            return _make(cast("Callable[..., Any]", kind), value, key)
        if origin in (dict, Mapping):
            return {k: _value(v, arguments[1], (*key, k)) for k, v in value.items()}
        if origin in (tuple, list, Sequence):
            items = (_value(v, arguments[0], (*key, i)) for i, v in enumerate(value))
            return list(items) if origin is list else tuple(items)
        return kind(value) if kind in (float, Path) else value
    raise _RefusedError(key, f"{_dotted(key)} is {_shown(value)}, {_found(value)}; expected {wanted(kind)}")


def _fits(value: Any, kind: Any) -> bool:
    origin = get_origin(kind)
    if kind is Any:
        return True
    if origin is Literal:
        return any(value == a and type(value) is type(a) for a in get_args(kind))
    if origin in (tuple, list, Sequence):
        return isinstance(value, list | tuple)
    if origin in (dict, Mapping) or dataclasses.is_dataclass(kind):
        return isinstance(value, Mapping)
    if kind is float:
        return type(value) in (int, float)
    return isinstance(value, (str, Path) if kind is Path else kind) and (kind is bool or type(value) is not bool)


def _found(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        return "a list"
    return {bool: "a truth value", float: "a number"}.get(type(value)) or _WORDS.get(type(value), "a date or time")


def _shown(value: Any) -> str:
    """A value as TOML would have it, cut to a readable length."""
    if value is None:
        return "none"
    text = str(value).lower() if isinstance(value, bool) else repr(str(value) if isinstance(value, Path) else value)
    return text if len(text) <= 60 else text[:57] + "..."


def _dotted(key: Key) -> str:
    return "".join(f"[{k}]" if isinstance(k, int) else f".{k}" for k in key).lstrip(".")


_HEADER = re.compile(r"\s*(\[\[?)([^\[\]]+)\]")
_ENTRY = re.compile(r"\s*([\w.\"' -]+?)\s*=")


def _line_of(text: str, key: Key) -> int:
    """The line of `key`, or of the closest thing around it (1 for the file as a whole).

    tomllib forgets where a value was; tables and keys stand at the beginning of a line, so they are found again.
    """
    best, best_length = 1, 0
    table: Key = ()
    counts: dict[Key, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _split(header[2])
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            here = table
        elif entry := _ENTRY.match(line):
            here = (*table, *_split(entry[1]))
        else:
            continue
        if len(here) > best_length and key[: len(here)] == here:
            best, best_length = number, len(here)
    return best


def _split(dotted: str) -> Key:
    return tuple(part.strip().strip("\"'") for part in dotted.split("."))
