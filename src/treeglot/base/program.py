"""Identifies the running code. It is part of the keys of stored results, so other code does not reuse them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

import treeglot
from treeglot import _core

APART = {"cli", "web"}  # folders that only show what steps make


def code_files(folder: Path) -> list[Path]:
    """Return the files of the package that affect results: sources and data that steps run or read."""
    found = (path for path in folder.rglob("*") if path.suffix not in {".pyc", ".pyi", ".so"} and path.is_file())
    return sorted(path for path in found if path.relative_to(folder).parts[0] not in APART)


def code_digest(folder: Path, core: Path) -> str:
    """Return a digest of the code: the names and contents of the package in `folder`, and the compiled core."""
    sources = ((path.relative_to(folder).as_posix(), path) for path in code_files(folder))
    return _digest([*sources, ("core", core)])


def module_digest(module: str) -> str:
    """Return a digest of the code of a module. For a module in a package, the digest covers the whole package.

    >>> module_digest("json.decoder") == module_digest("json")
    True
    """
    top = find_spec(module.partition(".")[0])
    assert top is not None
    if top.submodule_search_locations is None:
        return _digest([(top.name, Path(top.origin or ""))])
    folders = [Path(folder) for folder in top.submodule_search_locations]
    found = sorted((path.relative_to(folder).as_posix(), path) for folder in folders for path in folder.rglob("*.py"))
    return _digest(found)


def _digest(files: Iterable[tuple[str, Path]]) -> str:
    digest = blake2b(digest_size=8)
    for name, path in files:
        content = path.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


@cache
def program() -> str:
    """Return the version and the digest of the running code. They are computed once per process."""
    assert _core.__file__
    return f"treeglot {treeglot.__version__} ({code_digest(Path(treeglot.__file__).parent, Path(_core.__file__))})"
