"""docs/api.md has every public name, as the code has it."""

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def test_it_is_what_the_code_says() -> None:
    made = runpy.run_path(str(DOCS / "make_api.py"))
    assert (DOCS / "api.md").read_text(encoding="utf-8") == made["api"](), "run python docs/make_api.py"


def test_every_name_says_what_it_is() -> None:
    lines = (DOCS / "api.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith("- ") and line.rstrip().endswith("`:")] == []


def test_every_package_is_listed() -> None:
    made = runpy.run_path(str(DOCS / "make_api.py"))
    folders = {path.parent.name for path in (DOCS.parent / "src/treeglot").glob("*/__init__.py")}
    assert folders - {"base", "cli", "web"} == {name.rpartition(".")[2] for name in made["MODULES"]} - {"treeglot"}
