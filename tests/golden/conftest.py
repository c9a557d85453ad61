"""Golden files: what was once looked at and found good.

`TREEGLOT_REWRITE=1 python -m pytest tests/golden` rewrites them all; then the diff is read.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """`golden("draw/tree.txt", text)`: the text is that of the file."""

    def check(name: str, text: str) -> None:
        path = HERE / name
        if os.environ.get("TREEGLOT_REWRITE"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"{path} is missing: TREEGLOT_REWRITE=1 writes it"
        assert text == path.read_text(encoding="utf-8")

    return check
