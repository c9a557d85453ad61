"""Makes the notebooks from docs/notebooks/*.md: python docs/make_notebooks.py

A page has Python in fences and below a fence what it prints, as text. `filled` runs the code in one namespace and puts
the outputs in; `notebook` makes the `.ipynb` file, without outputs, for people to run.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

PAGES = sorted((Path(__file__).parent / "notebooks").glob("*.md"))
CELL = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n.*?^```\n)?", re.DOTALL | re.MULTILINE)


def filled(page: str) -> str:
    """The page with what its code prints; the code runs in a folder of its own."""
    names: dict[str, Any] = {"__name__": "notebook"}

    def run(found: re.Match[str]) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            exec(compile(found[1], "notebook", "exec"), names)
        text = "\n".join(line.rstrip() for line in shown.getvalue().splitlines())
        return f"```python\n{found[1]}```\n" + (f"\n```text\n{text}\n```\n" if text else "")

    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return CELL.sub(run, page)
        finally:
            os.chdir(here)


def notebook(page: str) -> str:
    """The page as a notebook of Jupyter: its text and its code."""
    cells: list[dict[str, Any]] = []
    end = 0
    for found in (*CELL.finditer(page), None):
        text = page[end : found.start() if found else len(page)].strip()
        if text:
            cells.append({"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)})
        if found:
            code = found[1].rstrip().splitlines(keepends=True)
            cells.append({"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": code})
            end = found.end()
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    whole = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    for path in PAGES:
        text = filled(path.read_text(encoding="utf-8"))
        path.write_text(text, encoding="utf-8")
        path.with_suffix(".ipynb").write_text(notebook(text), encoding="utf-8")
