"""Lazy imports: a command that does not use numpy starts without it."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Later:
    """A placeholder for a module. The module is imported when one of its names is first used.

    >>> math = Later("math")
    >>> math.sqrt(4)
    2.0
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)
        return value
