"""Options: one declaration makes the TOML schema, the command line's `--help`, the checks and the tables in the docs.

An option is a field of a frozen dataclass with its help, range and source. The parameters of a factory (see
`treeglot.base.registry`) are options too, declared in `Annotated[int, "help", Range(least=0)]`.

>>> @dataclasses.dataclass(frozen=True)
... class SearchOptions(Options):
...     "How a translation forest is searched."
...     pop_limit: int = option(200, "hypotheses popped per node", least=0)
>>> from_table(SearchOptions, {"pop_limit": 50})
SearchOptions(pop_limit=50)
>>> from_table(SearchOptions, {"poplimit": 50})
Traceback (most recent call last):
treeglot.base.errors.UsageError: unknown option 'poplimit'; did you mean 'pop_limit'? known: pop_limit
>>> SearchOptions(pop_limit=-1)
Traceback (most recent call last):
treeglot.base.errors.OptionError: pop_limit is -1; expected at least 0
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
import math
import os
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from treeglot.base.errors import FormatError, OptionError, TreeglotError, UsageError
from treeglot.base.toml import Key, TomlFile

T = TypeVar("T")

REQUIRED = dataclasses.MISSING
MOST = 2**32 - 1  # what the core counts with
MOST_SEED = 2**63 - 1


@dataclasses.dataclass(frozen=True)
class Range:
    """The range of an option, or of each item of a list. Integers must fit the core's types.

    Numbers are finite unless `infinite` says otherwise. With `unlimited`, -1 stands for no limit.
    """

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    infinite: bool = False
    unlimited: bool = False

    def words(self) -> str:
        """Describe the range in words, for help and messages.

        >>> Range(least=0, most=6).words(), Range(above=0).words(), Range(least=1, unlimited=True).words()
        ('0 to 6', 'above 0', 'at least 1, or -1 for no limit')
        """
        bounds = [("at least", self.least), ("above", self.above), ("at most", self.most), ("below", self.below)]
        text = " and ".join(f"{word} {_bound(bound)}" for word, bound in bounds if bound is not None)
        if self.least is not None and self.most is not None:
            text = f"{_bound(self.least)} to {_bound(self.most)}"
        return text + (", or -1 for no limit" if self.unlimited else "")

    def check(self, name: str, value: Any) -> None:
        """Refuse a value of the option `name` that is not in the range."""
        if expected := self.expected(value):
            raise OptionError(f"{name} is {_shown(value)}; expected {expected}", (name,))

    def expected(self, value: Any) -> str:
        """Describe what an option expects if `value` is out of range. The result is empty if the value is valid."""
        if isinstance(value, list | tuple):
            return next(filter(None, map(self.expected, value)), "")
        if isinstance(value, bool) or not isinstance(value, int | float):
            return ""
        if self.unlimited and value == -1:
            return ""
        if isinstance(value, float) and not (math.isfinite(value) or (self.infinite and math.isinf(value))):
            return ", ".join(filter(None, ("a number" if self.infinite else "a finite number", self.words())))
        if (
            (self.least is not None and value < self.least)
            or (self.above is not None and value <= self.above)
            or (self.most is not None and value > self.most)
            or (self.below is not None and value >= self.below)
        ):
            return self.words()
        if isinstance(value, int) and self.most is None and self.below is None and value > MOST:
            return f"at most {_bound(MOST)}"
        return f"at least -({_bound(MOST)})" if isinstance(value, int) and value < -MOST else ""


def option(
    default: T,
    help: str,
    *,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    below: float | None = None,
    infinite: bool = False,
    unlimited: bool = False,
    names: Callable[[], Iterable[str]] | None = None,
    paper: str = "",
) -> T:
    """Declare an option as a field of a dataclass, with its default, its help, its range and the paper of the default.

    With `names`, the value is one of these names or the path of a file. The function `names` is called when it is
    needed.
    """
    metadata = {"help": help, "range": Range(least, most, above, below, infinite, unlimited)}
    metadata |= {"names": names, "paper": paper}
    if isinstance(default, dict):
        return dataclasses.field(default_factory=lambda: cast("T", dict(default)), metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def required(help: str) -> Any:
    """Declare an option without a default. In its dataclass, such fields come first."""
    return dataclasses.field(metadata={"help": help})


class Options:
    """The base class of options dataclasses. However an instance is created, invalid values are refused."""

    def __post_init__(self) -> None:
        for o in options_of(type(self)):
            o.check(getattr(self, o.name))


@dataclasses.dataclass(frozen=True)
class Option:
    """The declaration of one option, as tables in the docs and `--help` show it."""

    name: str
    type: Any
    default: Any  # REQUIRED when it has none
    help: str
    range: Range = Range()
    names: Callable[[], Iterable[str]] | None = None  # its names; any other value is a file
    paper: str = ""  # what the default is from

    def described(self) -> str:
        """Return the help text, including the paper that the default comes from."""
        return f"{self.help} ({self.paper})" if self.paper else self.help

    def check(self, value: Any) -> None:
        """Refuse a value that is out of range or is not one of the declared choices."""
        if get_origin(self.type) is Literal and not _fits(value, self.type):
            raise OptionError(f"{self.name} is {_shown(value)}; expected {wanted(self.type)}", (self.name,))
        self.range.check(self.name, value)


def options_of(schema: Any) -> tuple[Option, ...]:
    """Return the options that a dataclass or a factory declares, in order.

    >>> def rules(max_words: Annotated[int, "longest source side"] = 7): ...
    >>> options_of(rules)[0].help
    'longest source side'
    """
    if dataclasses.is_dataclass(schema):
        return _fields(cast("Any", schema))
    hints = annotations_of(schema.__init__ if inspect.isclass(schema) else schema)
    found = []
    for parameter in inspect.signature(schema).parameters.values():
        hint = hints.get(parameter.name, Any)
        extras = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
        help = next((extra for extra in extras if isinstance(extra, str)), "")
        span = next((extra for extra in extras if isinstance(extra, Range)), Range())
        kind = get_args(hint)[0] if extras else hint
        default = REQUIRED if parameter.default is inspect.Parameter.empty else parameter.default
        found.append(Option(parameter.name, kind, default, help, span))
    return tuple(found)


def annotations_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of parameters with their annotations.

    Python 3.10 wraps a parameter with the default None in Optional, which hides its annotations.
    """
    hints = get_type_hints(function, include_extras=True)
    return {name: next((a for a in _choices(hint) if get_origin(a) is Annotated), hint) for name, hint in hints.items()}


def _choices(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


@functools.cache
def _fields(schema: Any) -> tuple[Option, ...]:
    hints = get_type_hints(schema)
    return tuple(
        Option(f.name, hints[f.name], _default(f), **{"help": "", **f.metadata})
        for f in dataclasses.fields(schema)
        if f.init
    )


def from_table(schema: Callable[..., T], table: Mapping[str, Any], *, table_name: str = "") -> T:
    """Create `schema` from the values of `table`. Unknown names and values out of range are errors.

    A nested table overrides only the options that it names. The others keep their defaults.
    """
    return _make(schema, table, (table_name,) if table_name else ())


def changed(options: T, table: Mapping[str, Any], *, table_name: str = "") -> T:
    """Return a copy of an instance in which `table` overrides options. Its nested tables override nested options.

    >>> @dataclasses.dataclass(frozen=True)
    ... class SearchOptions(Options):
    ...     pop_limit: int = option(200, "hypotheses popped per node", least=0)
    ...     beam: int = option(0, "hypotheses kept per node; 0: all", least=0)
    >>> changed(SearchOptions(beam=3), {"pop_limit": 50})
    SearchOptions(pop_limit=50, beam=3)
    """
    return _make(type(options), table, (table_name,) if table_name else (), options)


def resolved(schema: Callable[..., Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of `table`, completed by all defaults, as JSON values. Default factories are not called.

    >>> def rules(max_words: Annotated[int, "longest source side"] = 7, beam: Annotated[float, "margin"] = 1.0): ...
    >>> resolved(rules, {"beam": 2})
    {'max_words': 7, 'beam': 2.0}
    """
    if dataclasses.is_dataclass(schema):
        values = dataclasses.asdict(from_table(cast("Callable[..., Any]", schema), table))
    else:
        values = {o.name: o.default for o in options_of(schema)} | _values(schema, table, ())
    found: dict[str, Any] = json.loads(json.dumps(values, default=os.fspath))
    return found


def file_options(schema: Callable[..., Any], table: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of `table` that are files, by the dotted names of their options.

    Results depend on the content of these files.

    >>> @dataclasses.dataclass(frozen=True)
    ... class Trees:
    ...     heads: str = option("english", "head table", names=lambda: ["english", "german"])
    >>> file_options(Trees, {"heads": "my.heads"}), file_options(Trees, {"heads": "german"})
    ({'heads': 'my.heads'}, {})
    """
    found: dict[str, str] = {}
    for o in options_of(schema):
        value = table.get(o.name)
        kinds = _choices(o.type)
        for kind in kinds:
            if isinstance(value, Mapping) and dataclasses.is_dataclass(kind):
                below = file_options(cast("Callable[..., Any]", kind), value)
                found |= {f"{o.name}.{name}": path for name, path in below.items()}
        if isinstance(value, str | Path) and (Path in kinds or (o.names is not None and value not in [*o.names()])):
            found[o.name] = os.fspath(value)
    return found


def with_values(table: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of `table` with other values for some options, which are given by their dotted names.

    >>> with_values({"trees": {"heads": "my.heads", "kbest": 1}}, {"trees.heads": "/data/my.heads"})
    {'trees': {'heads': '/data/my.heads', 'kbest': 1}}
    """
    out = dict(table)
    for dotted, value in values.items():
        name, _, rest = dotted.partition(".")
        below = out.get(name)
        out[name] = with_values(below if isinstance(below, Mapping) else {}, {rest: value}) if rest else value
    return out


def load_options(schema: Callable[..., T], path: str | Path) -> T:
    """Read a TOML file into `schema`. A mistake raises `FormatError` with file and line."""
    file = TomlFile(path)
    try:
        return from_table(schema, file.table)
    except UsageError as error:
        raise FormatError(file.path, file.line_of(error.key), str(error)) from error


def options_in(path: str | Path, schema: Callable[..., T], table: Mapping[str, Any], *, table_name: str = "") -> T:
    """Read a table of options from a JSON file. Errors name the file."""
    try:
        return from_table(schema, table, table_name=table_name)
    except UsageError as error:
        raise FormatError(str(path), 0, str(error)) from error


def in_file(path: str | Path, error: UsageError) -> FormatError:
    """Return the error of an option that was read from a TOML file, with the file and the line."""
    return FormatError(str(path), TomlFile(path).line_of(error.key) if error.key else 0, str(error))


def options_table(schema: Callable[..., Any]) -> str:
    """Return a Markdown table of the options that have a help text, for the docs.

    >>> def rules(max_words: Annotated[int, "longest source side", Range(least=1)] = 7): ...
    >>> print(options_table(rules))
    | option | value | default | |
    |---|---|---|---|
    | `max_words` | an integer, at least 1 | 7 | longest source side |
    """
    rows = ["| option | value | default | |", "|---|---|---|---|"]
    for o in options_of(schema):
        default = "required" if o.default is REQUIRED else _shown({} if _is_table(o.default) else o.default)
        value = ", ".join(filter(None, (wanted(o.type), o.range.words())))
        cells = (value, default, o.described().replace("|", "\\|").replace("<", "&lt;"))
        if o.help:
            rows.append(f"| `{o.name}` | {' | '.join(cells)} |")
    return "\n".join(rows)


def _is_table(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Return the message for an unknown name. It lists the known names, starting with the most similar ones.

    >>> unknown("format", "conlu", ["ptb", "conllu"])
    "unknown format 'conlu'; did you mean 'conllu'? known: conllu, ptb"
    """
    import difflib

    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    hint = f" did you mean {close[0]!r}?" if close else ""
    return f"unknown {what} {name!r};{hint} known: {', '.join(names) or 'none'}"


def wanted(kind: Any) -> str:
    """Describe the values that a type accepts, for messages.

    >>> wanted(float), wanted(Literal["hiero", "t2t"])
    ('a number', "'hiero' or 't2t'")
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return wanted(arguments[0])
    if origin is Literal:
        *others, last = map(repr, arguments)
        return f"{', '.join(others)} or {last}" if others else last
    if origin in (Union, types.UnionType):
        return " or ".join(wanted(a) for a in arguments if a is not types.NoneType)
    if origin in (tuple, list, Sequence):
        return f"a list, each {wanted(arguments[0])}"
    if origin in (dict, Mapping) or dataclasses.is_dataclass(kind):
        return "a table"
    return _WORDS.get(kind, "any value")


_WORDS = {bool: "true or false", int: "an integer", float: "a number", str: "a string", Path: "a path"}


def _bound(bound: float) -> str:
    """Format a limit of a range for people: 20, 0.5, or 2^32 - 1."""
    bits = bound.bit_length() if isinstance(bound, int) else 0
    return f"2^{bits} - 1" if bits > 30 and bound == 2**bits - 1 else f"{bound:,}"


def _default(field: dataclasses.Field[Any]) -> Any:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


def _values(schema: Callable[..., Any], table: Mapping[str, Any], key: Key, base: Any = None) -> dict[str, Any]:
    known = {o.name: o for o in options_of(schema)}
    where = f" of [{_dotted(key)}]" if key else ""
    values = {}
    for name, value in table.items():
        if name not in known:
            raise UsageError(unknown(f"option{where}", name, known), (*key, name))
        within = known[name].default if base is None else getattr(base, name)
        values[name] = _value(value, known[name].type, (*key, name), within)
    for o in known.values():
        if base is None and o.default is REQUIRED and o.name not in values:
            raise UsageError(f"option {o.name!r}{where} is missing; expected {wanted(o.type)}: {o.help}", key)
    return values


def _make(schema: Callable[..., T], table: Mapping[str, Any], key: Key, base: Any = None) -> T:
    """Create `schema` from a table. Options that the table does not name come from `base`, or from their defaults."""
    values = _values(schema, table, key, base)
    try:
        if not dataclasses.is_dataclass(schema):  # those check themselves
            for o in options_of(schema):
                o.check(values.get(o.name, o.default))
        return schema(**values) if base is None else dataclasses.replace(base, **values)
    except FormatError:
        raise
    except (ValueError, TreeglotError) as error:
        where = (*key, *error.key) if isinstance(error, UsageError) else key
        raise UsageError(f"{_dotted(key)}: {error}" if key else str(error), where) from error


def _value(value: Any, kind: Any, key: Key, base: Any = None) -> Any:
    """Convert `value` to the type `kind`. Only integers are converted to floats, and only lists to tuples."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _value(value, arguments[0], key, base)
    if origin in (Union, types.UnionType):
        if value is None and types.NoneType in arguments:  # as JSON has it; TOML has no such value
            return None
        for choice in arguments:
            if choice is not types.NoneType and _fits(value, choice):
                return _value(value, choice, key, base)
    elif _fits(value, kind):
        if dataclasses.is_dataclass(kind):
            same = isinstance(base, cast("type[Any]", kind))
            return _make(cast("Callable[..., Any]", kind), value, key, base if same else None)
        if origin in (dict, Mapping):
            return {k: _value(v, arguments[1], (*key, k)) for k, v in value.items()}
        if origin in (tuple, list, Sequence):
            items = (_value(v, arguments[0], (*key, i)) for i, v in enumerate(value))
            return list(items) if origin is list else tuple(items)
        try:
            return kind(value) if kind in (float, Path) else value
        except OverflowError:  # an integer that no number of the machine's is near to
            raise UsageError(f"{_dotted(key)} is {_shown(value)}; expected a finite number", key) from None
    raise UsageError(f"{_dotted(key)} is {_shown(value)}, {_found(value)}; expected {wanted(kind)}", key)


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
    """Format a value as TOML, truncated to a readable length."""
    if value is None:
        return "none"
    if isinstance(value, int) and value.bit_length() > 10_000:
        return f"an integer of {value.bit_length():,} bits"  # Python refuses to print it
    text = str(value).lower() if isinstance(value, bool) else repr(str(value) if isinstance(value, Path) else value)
    return text if len(text) <= 60 else text[:57] + "..."


def _dotted(key: Key) -> str:
    return "".join(f"[{k}]" if isinstance(k, int) else f".{k}" for k in key).lstrip(".")
