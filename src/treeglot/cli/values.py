"""Converts the words of a command line to values. (Typer would import pydantic for this, which takes 80 ms.)"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args, get_origin

import typer
from typer.models import ParameterInfo

from treeglot.base.options import Range

NOUNS = {int: "an integer", float: "a number"}


def parse_values(command: Any, context: Any, arguments: Sequence[str], annotations: Mapping[str, Any]) -> None:
    """Parse the arguments of a typer command, and store the value of each parameter in its context.

    `annotations` has the type of each parameter. Typer itself handles eager options such as `--help`.
    """
    given, rest, _ = command.make_parser(context).parse_args(args=list(arguments))
    for parameter in sorted(command.get_params(context), key=lambda parameter: not parameter.is_eager):
        if parameter.name not in annotations:
            if given.get(parameter.name):
                parameter.handle_parse_result(context, given, rest)
            continue
        value, source = parameter.consume_value(context, given)
        context.set_parameter_source(parameter.name, source)
        if parameter.required and parameter.value_is_missing(value):
            parameter.process_value(context, value)  # typer refuses it
        try:
            context.params[parameter.name] = convert(annotations[parameter.name], value)
        except ValueError as error:
            raise typer.BadParameter(str(error), ctx=context, param=parameter) from error
        _check(max(parameter.opts, key=len), annotations[parameter.name], context.params[parameter.name])
    if rest:
        context.fail(f"Got unexpected extra argument(s) ({' '.join(rest)})")


def convert(kind: Any, value: Any) -> Any:
    """Convert a parameter's value to its type. Words are parsed, and defaults stay unchanged.

    >>> from pathlib import Path
    >>> convert(int | None, "3"), convert(Path, "a/b"), convert(list[float], ["1", "0.5"]), convert(int | None, None)
    (3, PosixPath('a/b'), [1.0, 0.5], None)
    >>> convert(Literal["local", "spark"], "sparc")
    Traceback (most recent call last):
    ValueError: 'sparc' is unknown; expected one of local, spark
    """
    kind = _plain(kind)
    if get_origin(kind) is list:
        return [convert(get_args(kind)[0], item) for item in value or ()]
    if not isinstance(value, str) or kind is str:
        return value
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise ValueError(f"{value!r} is unknown; expected one of {', '.join(get_args(kind))}")
        return value
    if kind not in NOUNS:
        return kind(value)
    try:
        return kind(value)
    except ValueError:
        raise ValueError(f"{value!r} is not {NOUNS[kind]}") from None


def _plain(kind: Any) -> Any:
    """Return a type without its annotations and without None."""
    while hasattr(kind, "__metadata__"):
        kind = get_args(kind)[0]
    others = [other for other in get_args(kind) if other is not types.NoneType]
    return _plain(others[0]) if types.NoneType in get_args(kind) else kind


def _check(option: str, kind: Any, value: Any) -> None:
    """Refuse a number outside the range that its annotation has. `option` is its name on the command line."""
    for extra in getattr(kind, "__metadata__", ()):
        if isinstance(extra, ParameterInfo) and (extra.min is not None or extra.max is not None):
            Range(least=extra.min, most=extra.max).check(option, value)
