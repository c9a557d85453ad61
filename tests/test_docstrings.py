"""The examples in the docstrings run, and importing the package is light."""

import doctest
import importlib
import pkgutil
import subprocess
import sys

import pytest

import treeglot

MODULES = sorted(
    info.name
    for info in pkgutil.walk_packages(treeglot.__path__, "treeglot.")
    if not info.name.startswith("treeglot._")
)


@pytest.mark.parametrize("name", ["treeglot", *MODULES])
def test_examples(name: str) -> None:
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


def test_import_is_light() -> None:
    code = "import sys, treeglot; print(*sorted(m for m in sys.modules if '.' not in m))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"typer", "rich", "pyarrow", "duckdb", "zstandard", "sacrebleu", "scipy", "tomllib"}
    assert not heavy & set(loaded)
