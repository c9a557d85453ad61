"""docs/api.md has every public name, as the code has it; they are few, and each means one thing."""

import runpy
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import treeglot

DOCS = Path(__file__).parents[1] / "docs"
MOST_NAMES = 80
MADE = runpy.run_path(str(DOCS / "make_api.py"))
FOLDERS = {name.rpartition(".")[2] for name in MADE["MODULES"]} - {"treeglot"}


def test_it_is_what_the_code_says() -> None:
    assert (DOCS / "api.md").read_text(encoding="utf-8") == MADE["api"](), "run python docs/make_api.py"


def test_every_name_says_what_it_is() -> None:
    lines = (DOCS / "api.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith("- ") and line.rstrip().endswith("`:")] == []


def test_every_package_is_listed() -> None:
    folders = {path.parent.name for path in (DOCS.parent / "src/treeglot").glob("*/__init__.py")}
    assert folders - {"base", "cli", "web"} == FOLDERS


def test_there_are_few_names() -> None:
    lines = (DOCS / "api.md").read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith("- ") for line in lines) <= MOST_NAMES


def test_a_name_means_one_thing() -> None:
    meanings: dict[str, set[int]] = {folder: {id(getattr(treeglot, folder))} for folder in FOLDERS}
    for module in map(import_module, MADE["MODULES"]):
        for name in module.__all__:
            meanings.setdefault(name, set()).add(id(getattr(module, name)))
    assert [name for name, found in meanings.items() if len(found) > 1] == []


def test_every_folder_is_reachable_when_it_is_asked_for() -> None:
    later = sorted(FOLDERS - {"syntax"})  # which is always loaded
    code = (
        "import sys, treeglot\n"
        f"loaded = [name for name in {later!r} if f'treeglot.{{name}}' in sys.modules]\n"
        "assert not loaded, loaded\n"
        f"for name in {later!r}: assert getattr(treeglot, name).__name__ == f'treeglot.{{name}}'\n"
        "assert treeglot.train is treeglot.models.train and treeglot.Translation is treeglot.decode.Translation\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
