"""The folders are the layers: each uses only those before it, in C++ and in Python."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS: list[set[str]] = [
    {"base"},
    {"graph"},
    {"syntax"},
    {"text", "lm", "evaluate", "align"},
    {"parse"},
    {"corpus"},
    {"rules"},
    {"decode"},
    {"tune", "neural", "documents"},
    {"models"},
    {"foreign", "analyse", "sample"},
    {"experiment"},
    {"web"},
    {"cli"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def allowed(user: str, used: str) -> bool:
    if used in {user, "_core"}:
        return True
    return LEVEL[used] < LEVEL[user]


def included(path: Path) -> set[str]:
    return {match[1] for match in re.finditer(r'^#include "(\w+)/', path.read_text(), re.MULTILINE)}


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    parts = [name.split(".") for name in names]
    return {p[1] for p in parts if p[0] == "treeglot" and len(p) > 1 and (p[1] in LEVEL or p[1] == "_core")}


CPP = sorted(p for p in (ROOT / "cpp").rglob("*.[hc]*") if p.relative_to(ROOT / "cpp").parts[0] != "bind")
PYTHON = sorted(p for p in (ROOT / "src/treeglot").rglob("*.py") if p.parent != ROOT / "src/treeglot")


@pytest.mark.parametrize("path", CPP, ids=lambda p: str(p.relative_to(ROOT)))
def test_includes_follow_the_layers(path: Path) -> None:
    folder = path.relative_to(ROOT / "cpp").parts[0]
    wrong = {used for used in included(path) if not allowed(folder, used)}
    assert not wrong, f"{folder} must not include {wrong}"


@pytest.mark.parametrize("path", PYTHON, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_follow_the_layers(path: Path) -> None:
    folder = path.relative_to(ROOT / "src/treeglot").parts[0]
    wrong = {used for used in imported(path) if not allowed(folder, used)}
    assert not wrong, f"{folder} must not import {wrong}"


def test_the_core_is_free_of_python() -> None:
    users = [p for p in CPP if re.search(r"nanobind|Python\.h", p.read_text())]
    assert not users


def test_the_check_can_fail() -> None:
    assert not allowed("graph", "syntax")
    assert not allowed("lm", "evaluate")
    assert not allowed("corpus", "rules")
    assert allowed("decode", "lm")


def test_patterns_are_those_of_the_oldest_python() -> None:
    """Python 3.10 refuses `a++`, and with it the module."""
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re."):
                values = [each.value for each in node.args[:1] if isinstance(each, ast.Constant)]
                patterns = [value.decode("latin-1") if isinstance(value, bytes) else value for value in values]
                assert not [p for p in patterns if re.search(r"[\w\])}][*+?]\+|\(\?>", p)], path
