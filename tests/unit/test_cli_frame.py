"""How a run of the command line ends: exit codes, messages, tracebacks only when asked for."""

from __future__ import annotations

from types import ModuleType
from typing import Annotated

import pytest
import typer

from treeglot.base.errors import FormatError, TreeglotError, UsageError
from treeglot.cli import app, main

Result = tuple[int, str, str]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Runs a function as `treeglot try`."""

    def run(function, *arguments: str, before: tuple[str, ...] = ()) -> Result:
        module = ModuleType("treeglot.cli.try_it")
        module.try_it = function
        monkeypatch.setitem(__import__("sys").modules, "treeglot.cli.try_it", module)
        monkeypatch.setattr(app, "find_module", lambda path: True)
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
        (MemoryError("1 GB asked for"), 1, "error: not enough memory: 1 GB asked for\n"),
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
