"""From the signature of a command's function to the parameters that typer sees."""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer
from typer.models import ArgumentInfo, OptionInfo

from treeglot.base.errors import UsageError
from treeglot.base.options import MOST_SEED, REQUIRED, Options, annotations_of, options_of, with_values
from treeglot.base.toml import parse_value
from treeglot.cli.output import set_common
from treeglot.cli.places import placed

Function = Callable[..., Any]
MOST_THREADS = 1024


@dataclass(frozen=True)
class Writes:
    """Marks a parameter that names what a command writes; it is checked before the work."""

    folder: bool = False


@dataclass(frozen=True)
class Mapped:
    """Marks a parameter whose files must be on this machine: they are mapped into memory, or changed in place."""

    changed: bool = False


FILE, FOLDER = Writes(), Writes(folder=True)
MAPPED = Mapped()
MappedFile = Annotated[Path | None, MAPPED]
NewFile = Annotated[Path | None, FILE]
NewFolder = Annotated[Path | None, FOLDER]

# What several commands take.
Threads = Annotated[int, typer.Option(help="Threads; they do not change the result.")]
EngineOption = Annotated[
    Literal["duckdb", "spark"],
    typer.Option(help="Where rules are extracted and scored: here, or on a Spark cluster. The result is the same."),
]
Where = Annotated[
    Literal["local", "spark"],
    typer.Option(help="Where the work is done: here, or in shards on a Spark cluster. The result is the same."),
]
MasterOption = Annotated[
    str, typer.Option(help="The cluster of --engine spark, such as spark://HOST:7077; default: this machine.")
]
ModelFolder = Annotated[Path, typer.Argument(help="The model's folder."), MAPPED]
ChangedModel = Annotated[Path, typer.Argument(help="The model's folder."), Mapped(changed=True)]
Lattices = Annotated[
    MappedFile, typer.Option(help="Lattices of the forests' words, as many as forests: variants of their words.")
]
InputFormat = Annotated[
    str | None,
    typer.Option(
        "--from",
        help="The format of the input, if its suffix does not say: text, jsonl, egret, brackets, conllu, …",
        metavar="FORMAT",
    ),
]
Out = Annotated[Path, typer.Option("--out", "-o", help="Where to write; - is standard output."), FILE]
Method = Annotated[Literal["mert", "mira", "pro"], typer.Option(help="How weights are found.")]
Seed = Annotated[int, typer.Option(help="Seed of the random numbers.", min=0, max=MOST_SEED)]
Lowercase = Annotated[bool, typer.Option("--lowercase", help="BLEU without regard to case.")]
SavedWeights = Annotated[NewFile, typer.Option(help="Where the tuned weights go.")]
TunedWeights = Annotated[Path | None, typer.Option(help="Weights that were tuned before.")]
SCORER = typer.Option(
    "--scorer",
    metavar="NAME=COMMAND",
    help="A command that reads lines SOURCE, tab, TRANSLATION and prints a number each; may be given again.",
)
TimeLimit = Annotated[
    float | None, typer.Option(help="Seconds to search one sentence; then the best result so far is used.")
]
Settings = list[str] | None  # of `set_option`


def set_option(help: str) -> Any:
    """`--set NAME=VALUE`, for `set_values`."""
    return typer.Option("--set", metavar="NAME=VALUE", help=f"{help}; may be given again.")


@dataclass(frozen=True)
class Fields:
    """Stands for an options dataclass that takes long to import: `Annotated[Any, Fields("MODULE", "CLASS")]`."""

    module: str
    name: str


QUIET = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print only errors: no progress, no remarks, no warnings."),
]
DEBUG = Annotated[
    bool,
    typer.Option("--debug", help="Show where in the code an error happened."),
]


def expand(function: Function) -> Function:
    """`function` with `--quiet` and `--debug` added and its options dataclasses spread into their fields."""
    hints = annotations_of(function)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[type[Any], list[str]]] = {}
    for parameter in inspect.signature(function).parameters.values():
        kind = _imported(hints[parameter.name])
        if dataclasses.is_dataclass(kind) and isinstance(kind, type):
            spread = _fields(kind) if issubclass(kind, Options) else _annotated(kind)
            groups[parameter.name] = kind, [p.name for p in spread]
            parameters += spread
        else:
            parameters.append(parameter.replace(annotation=kind, kind=inspect.Parameter.KEYWORD_ONLY))
    marks = [(p.name, mark) for p in parameters for mark in _described(p)]
    written = {name: mark.folder for name, mark in marks if isinstance(mark, Writes)}
    mapped = [name for name, mark in marks if isinstance(mark, Mapped) and not mark.changed]
    changed = [name for name, mark in marks if isinstance(mark, Mapped) and mark.changed]
    parameters += [
        inspect.Parameter("quiet", inspect.Parameter.KEYWORD_ONLY, annotation=QUIET, default=False),
        inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, annotation=DEBUG, default=False),
    ]

    fewest = 0 if any(p.name == "threads" and p.default == 0 for p in parameters) else 1

    def command(quiet: bool, debug: bool, **values: Any) -> Any:
        set_common(quiet, debug)
        if not fewest <= values.get("threads", fewest) <= MOST_THREADS:
            raise UsageError(f"threads is {values['threads']}; expected {fewest} to {MOST_THREADS}")
        with placed(values, written, mapped, changed) as here:
            for name, (kind, names) in groups.items():
                given = {name: here.pop(name) for name in names}
                given = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
                here[name] = kind(**given)
            return function(**here)

    command.__name__ = function.__name__
    command.__doc__ = function.__doc__
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def _imported(kind: Any) -> Any:
    """The options dataclass that a type stands for, or the type."""
    stands = next((extra for extra in get_args(kind)[1:] if isinstance(extra, Fields)), None)
    return kind if stands is None else getattr(import_module(stands.module), stands.name)


def _described(parameter: inspect.Parameter) -> tuple[Any, ...]:
    """The annotations of a parameter's type, plus the placeholder for its value in the help."""
    kind, *extras = get_args(parameter.annotation) or (parameter.annotation,)
    for extra in extras:
        if isinstance(extra, ArgumentInfo):
            extra.metavar = extra.metavar or parameter.name.upper()
        elif isinstance(extra, OptionInfo):
            extra.metavar = extra.metavar or _metavar(kind)
    return tuple(extras)


def _fields(kind: type[Any]) -> list[inspect.Parameter]:
    panel = (inspect.getdoc(kind) or kind.__name__).splitlines()[0].rstrip(".")
    return [
        inspect.Parameter(
            o.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=Annotated[_repeatable(o.type), typer.Option(help=o.described(), rich_help_panel=panel)],
            default=inspect.Parameter.empty if o.default is REQUIRED else o.default,
        )
        for o in options_of(kind)
    ]


def _annotated(kind: type[Any]) -> list[inspect.Parameter]:
    """The fields of a command's dataclass that are options."""
    defaults = {field.name: field.default for field in dataclasses.fields(kind)}
    return [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=hint, default=defaults[name])
        for name, hint in get_type_hints(kind, include_extras=True).items()
        if any(isinstance(extra, OptionInfo) for extra in get_args(hint)[1:])
    ]


def _repeatable(kind: Any) -> Any:
    """tuple[int, ...] is a list[int] to typer: an option that may be given several times."""
    return list[get_args(kind)[0]] if get_origin(kind) is tuple and get_args(kind)[1:] == (...,) else kind  # type: ignore[misc]


def _metavar(kind: Any) -> str | None:
    """The placeholder for a value in the help, the same for every version of typer: N, X, TEXT, PATH, a|b."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return "|".join(map(str, arguments))
    if arguments and (origin in (list, tuple) or types.NoneType in arguments):
        return _metavar(next(a for a in arguments if a is not types.NoneType))
    return {int: "N", float: "X", str: "TEXT", Path: "PATH"}.get(kind)


def set_values(given: Sequence[str] | None) -> dict[str, Any]:
    """The table that `--set NAME=VALUE` gives; values are TOML's, other words are strings.

    >>> set_values(["restarts=5", "search.pop_limit=10", "heads=my.heads"])
    {'restarts': 5, 'search': {'pop_limit': 10}, 'heads': 'my.heads'}
    """
    values: dict[str, Any] = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        if not equals or not all(name.split(".")):
            raise UsageError(f"{text!r} sets no option; expected NAME=VALUE such as search.pop_limit=100")
        values[name] = parse_value(value)
    return with_values({}, values)
