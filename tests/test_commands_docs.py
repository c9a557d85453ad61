"""The reference of commands is what the code declares; man pages and completion follow from it."""

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from treeglot.cli.app import COMMANDS

DOCS = Path(__file__).parents[1] / "docs"
PATHS = [path for paths in COMMANDS.values() for path in paths]
MADE = runpy.run_path(str(DOCS / "make_commands.py"))
MAN = runpy.run_path(str(DOCS / "make_man.py"))
PAGE = (DOCS / "commands.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def man() -> dict[str, str]:
    made: dict[str, str] = MAN["pages"](PAGE, (DOCS / "cli.md").read_text(encoding="utf-8"), version="1.2")
    return made


def test_the_page_is_what_the_code_says() -> None:
    assert MADE["page"]() == PAGE, "run python docs/make_commands.py"


def test_every_parameter_says_what_it_is() -> None:
    assert re.findall(r"^\| `.*` \| \|$", PAGE, re.MULTILINE) == []


def test_every_command_has_a_man_page(man: dict[str, str]) -> None:
    assert sorted(man) == sorted(["treeglot.1", *(f"treeglot-{path.replace(' ', '-')}.1" for path in PATHS)])
    assert all(f"\\fBtreeglot {path.replace('-', chr(92) + '-')}\\fR" in man["treeglot.1"] for path in PATHS)
    for section in ("COMMANDS", "OPTIONS", "FILES", "EXIT CODES", "ENVIRONMENT", "SEE ALSO"):
        assert f"\n.SH {section}\n" in man["treeglot.1"]


def test_a_man_page_has_all_options(man: dict[str, str]) -> None:
    page = man["treeglot-lm-train.1"]
    assert page.startswith(
        '.TH TREEGLOT\\-LM\\-TRAIN 1 "" "treeglot 1.2" "Treeglot"\n.SH NAME\ntreeglot\\-lm\\-train \\- '
    )
    shown = re.search(r"### `treeglot lm train`\n(.*?)\n### ", PAGE, re.DOTALL)
    assert shown is not None
    names = re.findall(r"^\| `(.*)` \|", shown[1], re.MULTILINE)
    assert len(names) > 5
    assert [name for name in names if f"\\fB{name.replace('-', chr(92) + '-')}\\fR" not in page] == []


def test_groff_reads_man_pages(man: dict[str, str]) -> None:
    if not os.environ.get("CI") and shutil.which("groff") is None:  # `.ci/run` installs it
        pytest.skip("there is no groff here")
    text = "".join(man.values())
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8", "-Kutf8", "-z"], input=text, capture_output=True, text=True, check=True
    )
    assert [line for line in done.stderr.splitlines() if "cannot break" not in line and "adjust" not in line] == []


def test_man_pages_need_the_standard_library_alone(tmp_path: Path) -> None:
    script = str(DOCS / "make_man.py")
    subprocess.run([sys.executable, "-I", "-S", script, str(tmp_path / "man1"), "0.2.0"], check=True)
    assert (tmp_path / "man1/treeglot.1").read_text(encoding="utf-8").startswith(".TH TREEGLOT 1")


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("al", ["align", "align-sentences"]),
        ("lm tr", ["train"]),
        ("tune --me", ["--method"]),
        ("tune --method m", ["mert", "mira"]),
        ("serve ke", ["keys"]),
        ("serve keys a", ["add"]),
        ("serve --po", ["--port"]),
    ],
)
def test_bash_completes(words: str, wanted: list[str]) -> None:
    told = {
        "_TREEGLOT_COMPLETE": "complete_bash",
        "COMP_WORDS": f"treeglot {words}",
        "COMP_CWORD": str(words.count(" ") + 1),
    }
    assert _completed(told) == wanted


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_complete(shell: str) -> None:
    told = {"_TREEGLOT_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": "treeglot ali"}
    found = " ".join(_completed(told | {"_TYPER_COMPLETE_FISH_ACTION": "get-args"}))
    assert "align-sentences" in found and "Align the words of a parallel corpus" in found


def _completed(told: dict[str, str]) -> list[str]:
    """What a shell is told; the environment is the one that its script sets."""
    done = subprocess.run(
        [sys.executable, "-m", "treeglot"], env={**os.environ, **told}, capture_output=True, text=True, check=True
    )
    return done.stdout.split("\n")[:-1] if done.stdout else []
