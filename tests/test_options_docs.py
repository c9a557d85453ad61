"""The tables of options in the docs are what the code declares, and the example of a new option works."""

import re
import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
MADE = runpy.run_path(str(DOCS / "make_options.py"))


@pytest.mark.parametrize("path", MADE["PAGES"], ids=lambda path: path.name)
def test_tables_are_what_the_code_says(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    assert page == MADE["made"](page), "run python docs/make_options.py"


def test_a_table_is_replaced() -> None:
    page = "a\n<!-- options: treeglot.tune.mert:Mert -->\nold\n<!-- end of options -->\nb\n"
    made = MADE["made"](page)
    assert "old" not in made and "| `restarts` | an integer, at least 0 | 20 |" in made
    assert MADE["made"](made) == made


def test_the_example_of_a_new_option_runs() -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    [example] = re.findall(r"<!-- example: an option -->\n```python\n(.*?)```", page, re.DOTALL)
    exec(compile(example, "docs/architecture.md", "exec"), {"__name__": "example"})
