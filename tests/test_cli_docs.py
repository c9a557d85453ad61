"""Every command has its place in docs/cli.md, and every command there exists."""

import re
from pathlib import Path

from treeglot.cli.app import COMMANDS

DOCS = (Path(__file__).parents[1] / "docs/cli.md").read_text(encoding="utf-8")


def test_every_command_has_a_heading() -> None:
    headings = re.findall(r"`treeglot ([a-z -]+)`", "\n".join(re.findall(r"^## .*$", DOCS, re.MULTILINE)))
    assert sorted(headings) == sorted(name for names in COMMANDS.values() for name in names)
