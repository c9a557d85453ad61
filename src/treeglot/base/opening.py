"""How binary files are opened."""

from __future__ import annotations

from treeglot._core import Opening


def opening(verify: bool, wait: bool) -> Opening:
    """How the checks of a file are made: `verify` asks for them, and `wait` for all of them before it opens."""
    if not verify:
        return Opening.trusted
    return Opening.verified if wait else Opening.background
