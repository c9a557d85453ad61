"""Options for opening binary files."""

from __future__ import annotations

from treeglot._core import Opening


def opening(verify: bool, wait: bool) -> Opening:
    """Choose how a file is checked: `verify` turns checks on, and `wait` finishes them before the file opens."""
    if not verify:
        return Opening.trusted
    return Opening.verified if wait else Opening.background
