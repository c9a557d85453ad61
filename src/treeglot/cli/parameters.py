"""Converts the signature of a command's function to parameters for typer."""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Callable, Iterable, Sequence
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
    """Marks a parameter that names an output. The output is checked before the command begins."""

    folder: bool = False


@dataclass(frozen=True)
class Mapped:
    """Marks a parameter whose files are mapped or changed. Remote files are first copied to this machine."""

    changed: bool = False


@dataclass(frozen=True)
class Streamed:
    """Marks a parameter whose files are read directly from their URIs, without a copy (`base.files`)."""


@dataclass(frozen=True)
class Here:
    """Marks a parameter whose files must be on this machine. URIs are refused."""


# A parameter of paths without a mark is as MAPPED: its files are copied before the command begins. Text that names
# files needs a mark.
FILE, FOLDER = Writes(), Writes(folder=True)
MAPPED, STREAMED, HERE = Mapped(), Streamed(), Here()
MappedFile = Annotated[Path | None, MAPPED]
TextFile = Annotated[Path, STREAMED]
MaybeText = Annotated[Path | None, STREAMED]
Texts = Annotated[list[Path], STREAMED]
MaybeTexts = Annotated[list[Path] | None, STREAMED]
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
    """Declare the option `--set NAME=VALUE`, for `set_values`."""
    return typer.Option("--set", metavar="NAME=VALUE", help=f"{help}; may be given again.")


@dataclass(frozen=True)
class Fields:
    """Stands for an options dataclass that is slow to import: `Annotated[Any, Fields("MODULE", "CLASS")]`."""

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
    """Add `--quiet` and `--debug` to a command, and replace its options dataclasses by one option per field.

    Files with URIs are copied according to the marks of the parameters (`file_marks`).
    """
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
    for each in parameters:
        _describe(each)
    marks = file_marks(parameters)
    written = {name: mark.folder for name, mark in marks.items() if isinstance(mark, Writes)}
    mapped = [name for name, mark in marks.items() if mark == MAPPED]
    changed = [name for name, mark in marks.items() if mark == Mapped(changed=True)]
    here_only = [name for name, mark in marks.items() if mark == HERE]
    parameters += [
        inspect.Parameter("quiet", inspect.Parameter.KEYWORD_ONLY, annotation=QUIET, default=False),
        inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, annotation=DEBUG, default=False),
    ]

    fewest = 0 if any(p.name == "threads" and p.default == 0 for p in parameters) else 1

    def command(quiet: bool, debug: bool, **values: Any) -> Any:
        set_common(quiet, debug)
        if not fewest <= values.get("threads", fewest) <= MOST_THREADS:
            raise UsageError(f"threads is {values['threads']}; expected {fewest} to {MOST_THREADS}")
        with placed(values, written, mapped, changed, here_only) as here:
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


def file_marks(parameters: Iterable[inspect.Parameter]) -> dict[str, Writes | Mapped | Streamed | Here]:
    """Return the parameters that name files, with their marks. Paths without a mark are copied."""
    out: dict[str, Writes | Mapped | Streamed | Here] = {}
    for parameter in parameters:
        kind, *extras = get_args(parameter.annotation) or (parameter.annotation,)
        found = [extra for extra in extras if isinstance(extra, Writes | Mapped | Streamed | Here)]
        if found or _metavar(kind) == "PATH":
            out[parameter.name] = found[0] if found else MAPPED
    return out


def _imported(kind: Any) -> Any:
    """Import the dataclass that a `Fields` stands for. Other types are returned unchanged."""
    stands = next((extra for extra in get_args(kind)[1:] if isinstance(extra, Fields)), None)
    return kind if stands is None else getattr(import_module(stands.module), stands.name)


def _describe(parameter: inspect.Parameter) -> None:
    """Add the placeholder of a parameter's value to its help."""
    kind, *extras = get_args(parameter.annotation) or (parameter.annotation,)
    for extra in extras:
        if isinstance(extra, ArgumentInfo):
            extra.metavar = extra.metavar or parameter.name.upper()
        elif isinstance(extra, OptionInfo):
            extra.metavar = extra.metavar or _metavar(kind)


def _fields(kind: type[Any]) -> list[inspect.Parameter]:
    panel = (inspect.getdoc(kind) or kind.__name__).splitlines()[0].rstrip(".")
    declared = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            o.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=Annotated[
                _marked(_repeatable(o.type), declared[o.name]),
                typer.Option(help=o.described(), rich_help_panel=panel),
            ],
            default=inspect.Parameter.empty if o.default is REQUIRED else o.default,
        )
        for o in options_of(kind)
    ]


def _marked(kind: Any, declared: Any) -> Any:
    """Mark the type of a field as streamed if the field names a file of a corpus."""
    held = get_origin(declared) is Annotated and _metavar(kind) == "PATH"
    return Annotated[kind, STREAMED] if held else kind


def _annotated(kind: type[Any]) -> list[inspect.Parameter]:
    """Return the fields of a command's dataclass that are options."""
    defaults = {field.name: field.default for field in dataclasses.fields(kind)}
    return [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=hint, default=defaults[name])
        for name, hint in get_type_hints(kind, include_extras=True).items()
        if any(isinstance(extra, OptionInfo) for extra in get_args(hint)[1:])
    ]


def _repeatable(kind: Any) -> Any:
    """Return the type as typer needs it. An option that can be repeated, such as tuple[int, ...], becomes list[int]."""
    return list[get_args(kind)[0]] if get_origin(kind) is tuple and get_args(kind)[1:] == (...,) else kind  # type: ignore[misc]


def _metavar(kind: Any) -> str | None:
    """Return the placeholder for a value in the help, the same for every version of typer: N, X, TEXT, PATH, a|b."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return "|".join(map(str, arguments))
    if arguments and (origin in (list, tuple) or types.NoneType in arguments):
        return _metavar(next(a for a in arguments if a is not types.NoneType))
    return {int: "N", float: "X", str: "TEXT", Path: "PATH"}.get(kind)


def split_named(text: str) -> tuple[str, str]:
    """Split NAME=PATH into the name and the path. The name can be missing. Paths can contain "=", and names have no
    slash.

    >>> split_named("a=s3://models/day=7/a"), split_named("models/day=7/a")
    (('a', 's3://models/day=7/a'), ('', 'models/day=7/a'))
    """
    name, equals, path = text.partition("=")
    return (name, path) if equals and "/" not in name and not Path(text).exists() else ("", text)


def set_values(given: Sequence[str] | None) -> dict[str, Any]:
    """Return the table of options that several `--set NAME=VALUE` define. Values are TOML; other words are strings.

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
