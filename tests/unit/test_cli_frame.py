"""How a run of the command line ends: exit codes, messages, tracebacks only when asked for."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Annotated, Literal

import pytest
import typer

from treeglot import __version__
from treeglot.base.errors import FormatError, TreeglotError, UsageError
from treeglot.base.options import Options, option
from treeglot.cli import app, main, output
from treeglot.cli.output import Progress, say, track, warn

Result = tuple[int, str, str]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Runs a function as `treeglot try`."""

    def run(function, *arguments: str, before: tuple[str, ...] = ()) -> Result:
        module = ModuleType("treeglot.cli.try_it")
        module.try_it = function
        monkeypatch.setitem(sys.modules, "treeglot.cli.try_it", module)
        monkeypatch.setattr(app, "COMMANDS", {"Tests": ("try_it",)})
        code = main([*before, "try_it", *arguments])
        out = capsys.readouterr()
        return code, out.out, out.err

    return run


def fails(error: BaseException):
    def try_it() -> None:
        """Fail."""
        raise error

    return try_it


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (TreeglotError("no root"), 1, "error: no root\n"),
        (FormatError("a.ptb", 3, "')' closes nothing"), 1, "error: a.ptb:3: ')' closes nothing\n"),
        (UsageError("cannot turn text into trees"), 2, "error: cannot turn text into trees\n"),
        (FileNotFoundError(2, "No such file or directory", "x.ptb"), 1, "error: x.ptb: No such file or directory\n"),
        (PermissionError(13, "Permission denied", "x"), 1, "error: x: Permission denied\n"),
        (OSError(28, "No space left on device"), 1, "error: No space left on device\n"),
        (MemoryError("1 GB asked for"), 3, "error: not enough memory: 1 GB asked for\n"),
        (
            RuntimeError("what?"),
            1,
            "error: RuntimeError: what?; this is a bug in treeglot: --debug shows where it happened\n",
        ),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (BrokenPipeError(32, "Broken pipe"), 141, ""),
    ],
)
def test_errors(command, error: BaseException, code: int, message: str) -> None:
    assert command(fails(error)) == (code, "", message)


@pytest.mark.parametrize("place", ["before", "after"])
def test_debug_shows_the_traceback(command, place: str) -> None:
    where = {"before": ("--debug",)} if place == "before" else {}
    code, _, message = command(fails(TreeglotError("no root")), *([] if where else ["--debug"]), **where)
    assert code == 1
    assert message.startswith("Traceback (most recent call last):\n")
    assert message.endswith("TreeglotError: no root\nerror: no root\n")


def takes(n: Annotated[int, typer.Option(help="How many.")] = 1) -> None:
    """Print n."""
    print(n)


def test_options_reach_the_command(command) -> None:
    assert command(takes, "--n", "4") == (0, "4\n", "")


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        (["--m", "4"], "error: no such option: --m"),
        (["--n", "many"], "error: invalid value for '--n'"),
        (["--n"], "error: option '--n' requires an argument"),
        (["stray"], "error: got unexpected extra argument"),
    ],
)
def test_bad_usage(command, arguments: list[str], start: str) -> None:
    code, out, message = command(takes, *arguments)
    assert (code, out) == (2, "")
    assert message.lower().startswith(start)
    assert message.count("\n") == 1


def chooses(
    where: Annotated[Literal["here", "there"], typer.Option(help="Where.")] = "here",
    share: Annotated[float | None, typer.Option(help="How much.", min=0, max=1)] = None,
    paths: Annotated[list[Path] | None, typer.Option("--path", help="Which.")] = None,
    loud: Annotated[bool | None, typer.Option(help="How.")] = None,
) -> None:
    """Print what was chosen."""
    print(where, share, paths, loud)


def test_words_become_values(command) -> None:
    assert command(chooses) == (0, "here None None None\n", "")
    given = ["--where", "there", "--share", "1e-1", "--path", "a", "--path", "b/", "--no-loud"]
    assert command(chooses, *given) == (0, "there 0.1 [PosixPath('a'), PosixPath('b')] False\n", "")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--where", "nowhere"], "invalid value for '--where': 'nowhere' is unknown; expected one of here, there"),
        (["--share", "half"], "invalid value for '--share': 'half' is not a number"),
        (["--share", "2"], "--share is 2.0; expected 0 to 1"),
        (["--share", "nan"], "--share is nan; expected a finite number, 0 to 1"),
    ],
)
def test_bad_values_are_named(command, arguments: list[str], problem: str) -> None:
    code, out, message = command(chooses, *arguments)
    assert (code, out) == (2, "")
    assert message.startswith(f"error: {problem}")


def needs(path: Annotated[Path, typer.Argument(help="Which.")]) -> None:
    """Print a path."""
    print(path)


def ranged(max_phrase: Annotated[int, typer.Option("--max-phrase", "-m", min=-1)] = 1) -> None:
    """Print a number."""
    print(max_phrase)


@pytest.mark.parametrize("name", ["--max-phrase", "-m"])
def test_a_value_out_of_range_names_its_option(command, name: str) -> None:
    assert command(ranged, name, "-1") == (0, "-1\n", "")
    assert command(ranged, name, "-2") == (2, "", "error: --max-phrase is -2; expected at least -1\n")


def test_a_missing_argument_is_named(command) -> None:
    assert command(needs) == (2, "", "error: missing argument 'PATH' (see treeglot try_it --help)\n")


@dataclass(frozen=True)
class Shape(Options):
    """The shape of things."""

    width: int = option(3, "how wide", least=0)
    name: str = option("box", "what to call it")
    holes: tuple[int, ...] = option((), "where they are")


def draws(title: Annotated[str, typer.Argument(help="Above it.")], shape: Shape) -> None:
    """Draw."""
    print(title, shape)


def test_an_options_dataclass_becomes_options(command) -> None:
    assert command(draws, "T", "--width", "5", "--holes", "1", "--holes", "2") == (
        0,
        "T Shape(width=5, name='box', holes=(1, 2))\n",
        "",
    )
    assert command(draws, "T", "--width", "-1") == (2, "", "error: width is -1; expected at least 0\n")


def test_help_of_an_options_dataclass(command) -> None:
    code, out, _ = command(draws, "--help")
    assert code == 0
    assert out.startswith("Usage: treeglot try_it [OPTIONS] TITLE\n\n  Draw.\n")
    assert re.search(r"The shape of things:\n +--width .*how wide", out)


def talks() -> None:
    """Talk."""
    say("a remark")
    warn("two records were left out")
    with Progress("counting", unit="words", total=3) as progress:
        progress.advance(2)
        progress.advance()
    for _ in track(range(2), "reading", unit="lines"):
        pass
    print("the result")


def test_what_is_said_in_a_log(command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "LOG_INTERVAL", 0.0)
    clock = iter(range(100))
    monkeypatch.setattr(output.time, "monotonic", lambda: float(next(clock)))
    assert command(talks) == (
        0,
        "the result\n",
        "a remark\n"
        "warning: two records were left out\n"
        "counting: 2 of 3 words (67 %), 0 s left\n"
        "counting: 3 of 3 words (100 %), 0 s left\n"
        "counting: 3 words in 3.0 s\n"
        "reading: 1 of 2 lines (50 %), 1 s left\n"
        "reading: 2 of 2 lines (100 %), 0 s left\n"
        "reading: 2 lines in 3.0 s\n",
    )


def test_a_log_is_not_flooded(command) -> None:
    def try_it() -> None:
        """Count."""
        for _ in track(range(100_000), "counting"):
            pass

    code, _, message = command(try_it)
    assert code == 0
    assert re.fullmatch(r"counting: 100,000 in \d+\.\d s\n", message)


@pytest.mark.parametrize("where", [{"before": ("--quiet",)}, {"after": ("-q",)}])
def test_quiet(command, where) -> None:
    arguments = where.pop("after", ())
    assert command(talks, *arguments, **where) == (0, "the result\n", "")


def treeglot(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "treeglot", *arguments], capture_output=True, env={**os.environ, **environment}
    )


def test_version() -> None:
    done = treeglot("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"treeglot {__version__}\n".encode(), b"")


def test_help_lists_the_commands_in_order_and_imports_little() -> None:
    code = (
        "import sys; from treeglot.cli import main; main(['--help']);"
        "print(sorted({'numpy', 'rich', 'pyarrow', 'duckdb'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == "[]\n"
    listed = re.findall(r"^([A-Z].*):$|^  (\w[\w-]*(?: [\w-]+)*)  ", done.stdout, re.MULTILINE)
    shown = [stage or command for stage, command in listed]
    assert shown == [*(text for stage, names in app.COMMANDS.items() for text in (stage, *names)), "Options"]


def test_every_file_of_a_command_is_listed() -> None:
    """A command that is written but not named in COMMANDS is nowhere to be seen."""
    files = {path.stem for path in Path(app.__file__).parent.glob("*.py")}
    machinery = {"__init__", "app", "board", "decoding", "dependency_model", "ending", "help", "machines", "output"}
    machinery |= {"parameters", "places", "screen", "values"}
    listed = {re.sub("[ -]", "_", name) for names in app.COMMANDS.values() for name in names}
    assert files - machinery == listed


def test_an_unknown_command_is_answered_with_the_closest() -> None:
    done = treeglot("dmeo")
    assert done.returncode == 2
    assert done.stderr.decode().startswith("error: unknown command 'dmeo'; did you mean 'demo'? known: ")


def test_nobody_reads_on() -> None:
    """As in `treeglot … | head -1`: no message, and the exit code of a program that SIGPIPE ended."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([sys.executable, "-m", "treeglot", "--version"], stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_terminal_without_unicode() -> None:
    done = treeglot("--help", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert b"demo" in done.stdout


def test_translating_imports_nothing_heavy() -> None:
    """One sentence from the shell is quick: what only training, tuning or drawing needs is imported by them."""
    heavy = ["numpy", "rich", "pyarrow", "duckdb", "xml.etree.ElementTree", "gzip", "concurrent.futures"]
    own = ["evaluate", "align", "parse", "syntax.draw", "documents.html"]
    script = (
        "import sys, treeglot.cli.translate, treeglot.models, treeglot.lm, treeglot.text, treeglot.documents.files\n"
        f"print([name for name in {[*heavy, *(f'treeglot.{name}' for name in own)]} if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"
