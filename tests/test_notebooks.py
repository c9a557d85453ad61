"""The notebooks run, print what their pages say, and are what their pages hold."""

import json
import os
import runpy
from pathlib import Path

import pytest

MADE = runpy.run_path(str(Path(__file__).parents[1] / "docs/make_notebooks.py"))


@pytest.mark.filterwarnings("ignore::treeglot.lm.train.DiscountWarning")  # the corpora are small
@pytest.mark.parametrize("path", MADE["PAGES"], ids=lambda path: path.stem)
def test_they_print_what_the_page_says(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    shown = MADE["filled"](page)
    if os.environ.get("TREEGLOT_REWRITE"):
        path.write_text(shown, encoding="utf-8")
        path.with_suffix(".ipynb").write_text(MADE["notebook"](shown), encoding="utf-8")
    assert shown == page, "run python docs/make_notebooks.py and read the diff"


def test_there_are_six() -> None:
    assert [path.stem[0] for path in MADE["PAGES"]] == ["1", "2", "3", "4", "5", "6"]


@pytest.mark.parametrize("path", MADE["PAGES"], ids=lambda path: path.stem)
def test_they_end_with_two_exercises(path: Path) -> None:
    _, exercises = path.read_text(encoding="utf-8").split("## Exercises\n")
    assert [line[:2] for line in exercises.splitlines() if line[:1].isdigit()] == ["1.", "2."]


@pytest.mark.parametrize("path", MADE["PAGES"], ids=lambda path: path.stem)
def test_the_file_is_the_page(path: Path) -> None:
    made = path.with_suffix(".ipynb").read_text(encoding="utf-8")
    assert made == MADE["notebook"](path.read_text(encoding="utf-8")), "run python docs/make_notebooks.py"
    cells = json.loads(made)["cells"]
    assert {cell["cell_type"] for cell in cells} == {"markdown", "code"}
    assert all("```text" not in "".join(cell["source"]) for cell in cells)


def test_a_page_is_filled() -> None:
    page = "# A\n\n```python\na = 1\n```\n\n```python\nprint(a + 1)\n```\n\n```text\n3\n```\n\nEnd.\n"
    assert MADE["filled"](page) == page.replace("\n3\n", "\n2\n")
    cells = json.loads(MADE["notebook"](page))["cells"]
    assert [(cell["cell_type"], "".join(cell["source"])) for cell in cells] == [
        ("markdown", "# A"),
        ("code", "a = 1"),
        ("code", "print(a + 1)"),
        ("markdown", "End."),
    ]
