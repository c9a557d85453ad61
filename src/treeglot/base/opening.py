"""Options for opening binary files, such as rule tables and language models."""

from __future__ import annotations

from treeglot._core import Opening


def opening(verify: bool, wait: bool) -> Opening:
    """Return options for opening a file: `verify` turns checks on, and `wait` finishes them before the file opens."""
    if not verify:
        return Opening.trusted
    return Opening.verified if wait else Opening.background
