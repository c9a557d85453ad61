"""Lists the commands in the order of use, and handles errors and exit codes."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from treeglot.base.errors import TreeglotError, UsageError
from treeglot.base.options import unknown
from treeglot.cli import help
from treeglot.cli.ending import INTERRUPTED, Told, say_ended, told_to_end
from treeglot.cli.output import SETTINGS, Settings, report_error, set_common
from treeglot.cli.parameters import DEBUG, QUIET, expand

# Stage → commands. "lm train" is the function lm_train of cli/lm_train.py; it is imported when it is asked for.
COMMANDS: dict[str, tuple[str, ...]] = {
    "Start here": ("demo", "tour"),
    "Data": ("sample", "align", "align-sentences", "clean", "compounds", "convert", "show"),
    "Parsing": ("parser train", "parser join", "parse", "parser eval", "heads learn"),
    "Language models": (
        "lm train",
        "lm classes",
        "lm compile",
        "lm export",
        "lm interpolate",
        "lm prune",
        "lm score",
        "lm info",
    ),
    "Translation": ("train", "tune", "translate", "lattice", "join", "combine", "rerank", "decode", "export"),
    "Neural models": ("neural train", "neural average", "neural add", "neural info"),
    "Explain": ("why", "concordance", "rules", "confidence"),
    "Correct": ("learn", "undo", "check-corrections", "compact", "add-pairs"),
    "Serve": ("serve", "serve keys add", "serve keys list", "serve keys remove"),
    "Judge": ("score", "compare-dependencies", "analyse phrases", "analyse ill-formed", "analyse rewrites"),
    "Experiments": ("plan", "run", "verify"),
}
GROUPS = {
    "": "Translate with syntax: learn synchronous grammars from parsed, aligned text, and translate with them.",
    "analyse": "What trees leave of a corpus's phrases, and what systems with syntax make of it.",
    "heads": "Head tables, which make dependencies of constituents.",
    "parser": "Train parsers from treebanks, and judge their trees.",
    "serve": "Serve models over HTTP.",
    "serve keys": "API keys of the service: who may use it, for what and how much.",
    "neural": "Neural joint models: a network that scores each target word, given words before it and source words.",
    "lm": "Train and compile language models, score text with them, look into them.",
}

NO_THREADS = ("can't start new thread", "Resource temporarily unavailable")  # what Python and the core say


class CommandGroup(TyperGroup):
    """A group of commands whose names begin with `prefix`. Each command is imported only when it is needed."""

    prefix = ""

    def names(self) -> dict[str, str]:
        """Map the names at this level to the full names of their commands."""
        paths = (path for paths in COMMANDS.values() for path in paths)
        words = (path.removeprefix(self.prefix).split()[0] for path in paths if path.startswith(self.prefix))
        return {word: self.prefix + word for word in words}

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order of `COMMANDS`, not sorted."""
        return list(self.names())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command or group of that name."""
        path = self.names().get(cmd_name)
        if path is None:
            return None
        return build_group(path) if path in GROUPS else build_command(path)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Report an unknown command with our own message. A command can have subcommands, such as `serve keys`."""
        if args and not args[0].startswith("-") and args[0] not in self.names():
            raise UsageError(unknown("command", args[0], self.names()))
        path = self.names().get(args[0]) if args else None
        if path in GROUPS and any(path in paths for paths in COMMANDS.values()):
            group = build_group(path)
            if not args[1:] or args[1] not in group.names():
                return args[0], build_command(path), args[1:]
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands by stage with their full names, and then the options."""
        for stage, paths in COMMANDS.items():
            rows = [(path, summary(path)) for path in paths if path.startswith(self.prefix)]
            help.section(formatter, stage, rows)
        help.parameters(self, ctx, formatter)


def load(path: str) -> Callable[..., None]:
    """Return the function of a command."""
    name = path.replace(" ", "_").replace("-", "_")
    function: Callable[..., None] = getattr(import_module(f"treeglot.cli.{name}"), name)
    return function


def summary(path: str) -> str:
    """Return the first line of a command's help."""
    return (load(path).__doc__ or "").splitlines()[0]


def build_command(path: str) -> Any:
    """Build a command from its function: "lm train" is the function lm_train in cli/lm_train.py."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    function = expand(load(path))
    app.command(path.split()[-1], cls=help.PlainCommand, context_settings=help.WIDTH)(function)
    command: Any = typer.main.get_command(app)
    command.annotations = function.__annotations__
    return command


def build_group(path: str) -> Any:
    """Build the group of commands whose names begin with `path`. The empty path is `treeglot` itself."""
    app = typer.Typer(
        cls=CommandGroup,
        name=path.split()[-1] if path else "treeglot",
        help=GROUPS[path],
        add_completion=not path,
        rich_markup_mode=None,
        context_settings=help.WIDTH,
        pretty_exceptions_enable=False,
    )
    app.callback(invoke_without_command=True)(_group if path else _treeglot)
    group: Any = typer.main.get_command(app)
    group.prefix = f"{path} " if path else ""
    return group


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line. The process always ends with an exit code, and prints at most one error message."""
    if "_TREEGLOT_COMPLETE" in os.environ:
        build_group("").main(prog_name="treeglot")
    settings = Settings()
    before = SETTINGS.set(settings)
    # Words that the terminal cannot show come out escaped: showing something must not end in an exception.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        with told_to_end():
            code = _invoke(sys.argv[1:] if arguments is None else arguments)
        if sys.stdout is not None:  # as after `>&-`
            sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Nobody reads on, as in `treeglot … | head`: end as a program killed by SIGPIPE does, without a word.
        # What is left in the buffer goes nowhere, or Python complains when it ends.
        if sys.stdout is sys.__stdout__:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 141
    except Told as end:
        say_ended()
        if arguments is None:  # the process is ours: threads that are still at work must not keep it
            os._exit(end.code)
        return end.code
    except (KeyboardInterrupt, typer.Abort):
        print(INTERRUPTED, file=sys.stderr)
        if arguments is None:
            with suppress(OSError, ValueError, AttributeError):
                sys.stdout.flush()
            os._exit(130)
        return 130
    except Exception as error:
        if settings.debug:
            import traceback

            traceback.print_exception(error)
        message, code = describe(error)
        report_error(message)
        return code
    finally:
        SETTINGS.reset(before)


def describe(error: Exception) -> tuple[str, int]:
    """Return the message for `error`, and the exit code: 1 for bad input, 2 for bad usage, 3 for no memory."""
    # Typer carries its own click or uses the shared one: this is the usage error of the one it uses.
    cli_usage_error: Any = typer.BadParameter.__bases__[0]
    if isinstance(error, cli_usage_error):
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context else ""
        message = str(getattr(error, "format_message", error.__str__)()).rstrip(".")
        return f"{message[:1].lower()}{message[1:]}{hint}", 2
    if isinstance(error, UsageError):
        return str(error), 2
    if isinstance(error, TreeglotError):
        return str(error), 1
    if isinstance(error, OSError) and error.strerror:
        code = 3 if error.errno == errno.ENOMEM else 1
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror, code
    if isinstance(error, MemoryError):
        return f"not enough memory{f': {error}' if str(error) else ''}", 3
    library = type(error).__module__.partition(".")[0].lstrip("_")
    if isinstance(error, OSError) or library in ("pyarrow", "duckdb"):  # a damaged file, or a limit of the machine
        return f"{library}: {error}".removeprefix("builtins: ").splitlines()[0], 1
    if isinstance(error, RuntimeError) and str(error) in NO_THREADS:
        return f"no more threads: {error}", 3
    return f"{type(error).__name__}: {error}; this is a bug in treeglot: --debug shows where it happened", 1


def find_command(arguments: Sequence[str]) -> str | None:
    """Return the command that a command line begins with.

    >>> find_command(["lm", "train", "text"]), find_command(["serve", "keys", "add"]), find_command(["serve", "models"])
    ('lm train', 'serve keys add', 'serve')
    >>> [find_command(line) for line in (["lm"], ["serve", "keys"], ["--quiet", "lm", "train"], [])]
    [None, None, None, None]
    """
    known = {path for paths in COMMANDS.values() for path in paths}
    found = ""
    for word in arguments:
        longer = f"{found} {word}".lstrip()
        if longer not in known | GROUPS.keys():
            break
        found = longer
    return found if found in known else None


def _invoke(arguments: Sequence[str]) -> int:
    """Run the command that the line names. Lines without a command go to the group of all commands."""
    path = find_command(arguments)
    command = build_group("") if path is None else build_command(path)
    name, rest = ("treeglot", arguments) if path is None else (f"treeglot {path}", arguments[len(path.split()) :])
    try:
        with command.make_context(name, list(rest)) as context:
            command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    return 0


def _version(asked: bool) -> None:
    if asked:
        import treeglot

        print(f"treeglot {treeglot.__version__}")
        raise typer.Exit


def _treeglot(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_version, is_eager=True)
    ] = False,
    quiet: QUIET = False,
    debug: DEBUG = False,
) -> None:
    set_common(quiet, debug)
    _group(context)


def _group(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())
