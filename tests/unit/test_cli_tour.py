"""`treeglot tour` always works, and shows what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache

import pytest

from treeglot.cli import main
from treeglot.syntax.draw.shapes import columns


@cache
def tour(width: int, encoding: str = "utf-8") -> str:
    done = subprocess.run(
        [sys.executable, "-m", "treeglot", "tour", "-q", "--width", str(width)],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode(encoding)


@pytest.mark.parametrize("width", [1, 80, 160])
def test_any_width(width: int) -> None:
    page = tour(width)
    assert "\x1b" not in page
    for heading in (
        "Its trees",
        "Its forest",
        "Its dependencies",
        "Its word alignment",
        "A translation",
        "What to try next",
    ):
        assert re.search(rf"^── {heading} *─*$", page, re.MULTILINE)


def test_the_pair_is_ambiguous() -> None:
    text = tour(80).replace("\n", " ")
    assert "The word 与 can be 'with' (P, as in the best tree) or 'and' (CC)" in text
    forest = tour(80).partition("Its forest")[2]
    assert re.search(r"^P\[2,3\) .* ■ ", forest, re.MULTILINE)
    assert re.search(r"^CC\[2,3\) ", forest, re.MULTILINE)


def test_eighty_columns_are_enough() -> None:
    assert max(columns(line) for line in tour(80).splitlines()) <= 80


def test_it_ends_with_commands_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    _, _, ending = tour(80).partition("What to try next")
    commands = re.findall(r"^treeglot (?!--)(.*?)(?:  +#.*)?$", ending, re.MULTILINE)
    assert len(commands) >= 5
    for command in commands:
        name = re.match(r"lm \w+|\w+", command)
        assert name and main([*name[0].split(), "--help"]) == 0
        usage = capsys.readouterr().out
        for option in re.findall(r"--[\w-]+", command):
            assert option in usage, command


def test_a_terminal_without_unicode() -> None:
    page = tour(80, "ascii")
    assert page.isascii()
    assert "-- Its forest --" in page
