"""From the signature of a command's function to the parameters that typer sees."""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer
from typer.models import ArgumentInfo, OptionInfo

from treeglot.base.errors import TreeglotError, UsageError
from treeglot.base.options import REQUIRED, options_of
from treeglot.cli.output import set_common

Function = Callable[..., Any]
MOST_THREADS = 1024

QUIET = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="No progress, no remarks; errors only."),
]
DEBUG = Annotated[
    bool,
    typer.Option("--debug", help="Show where in the code an error happened."),
]


def expand(function: Function) -> Function:
    """`function` with `--quiet` and `--debug` added and its options dataclasses spread into their fields."""
    hints = get_type_hints(function, include_extras=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, type[Any]] = {}
    for parameter in inspect.signature(function).parameters.values():
        kind = hints[parameter.name]
        for extra in get_args(kind)[1:]:
            if isinstance(extra, ArgumentInfo):
                extra.metavar = extra.metavar or parameter.name.upper()
            elif isinstance(extra, OptionInfo):
                extra.metavar = extra.metavar or _metavar(get_args(kind)[0])
        if dataclasses.is_dataclass(kind) and isinstance(kind, type):
            groups[parameter.name] = kind
            parameters += _fields(kind)
        else:
            parameters.append(parameter.replace(annotation=kind, kind=inspect.Parameter.KEYWORD_ONLY))
    parameters += [
        inspect.Parameter("quiet", inspect.Parameter.KEYWORD_ONLY, annotation=QUIET, default=False),
        inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, annotation=DEBUG, default=False),
    ]

    fewest = 0 if any(p.name == "threads" and p.default == 0 for p in parameters) else 1

    def command(quiet: bool, debug: bool, **values: Any) -> Any:
        set_common(quiet, debug)
        if not fewest <= values.get("threads", fewest) <= MOST_THREADS:
            raise UsageError(f"threads is {values['threads']}; expected {fewest} to {MOST_THREADS}")
        for name, kind in groups.items():
            given = {name: values.pop(name) for name in (field.name for field in dataclasses.fields(kind))}
            given = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
            try:
                values[name] = kind(**given)
            except TreeglotError:
                raise
            except ValueError as error:
                raise UsageError(str(error)) from error
        return function(**values)

    command.__name__ = function.__name__
    command.__doc__ = function.__doc__
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def _fields(kind: type[Any]) -> list[inspect.Parameter]:
    panel = (inspect.getdoc(kind) or kind.__name__).splitlines()[0].rstrip(".")
    return [
        inspect.Parameter(
            o.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=Annotated[
                _repeatable(o.type), typer.Option(help=o.help, rich_help_panel=panel, metavar=_metavar(o.type))
            ],
            default=inspect.Parameter.empty if o.default is REQUIRED else o.default,
        )
        for o in options_of(kind)
    ]


def _repeatable(kind: Any) -> Any:
    """tuple[int, ...] is a list[int] to typer: an option that may be given several times."""
    return list[get_args(kind)[0]] if get_origin(kind) is tuple and get_args(kind)[1:] == (...,) else kind  # type: ignore[misc]


def _metavar(kind: Any) -> str | None:
    """What stands for a value in the help, the same with every version of typer: N, X, TEXT, PATH, a|b."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return "|".join(map(str, arguments))
    if arguments and (origin in (list, tuple) or types.NoneType in arguments):
        return _metavar(next(a for a in arguments if a is not types.NoneType))
    return {int: "N", float: "X", str: "TEXT", Path: "PATH"}.get(kind)


def named_values(what: str, given: Sequence[str]) -> dict[str, Any]:
    """The values of `--set NAME=VALUE`, options of `what`.

    >>> named_values("mert", ["restarts=5", "start=best"])
    {'restarts': 5, 'start': 'best'}
    """
    import json

    table: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"{text!r} is not an option of {what}; expected NAME=VALUE such as seed=1")
        try:
            table[name] = json.loads(value)
        except ValueError:
            table[name] = value
    return table
