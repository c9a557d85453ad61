"""What the adapters share."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from treeglot._core import Dependency
from treeglot.base.errors import TreeglotError, UsageError

BATCH = 64  # sentences that a package is given at a time


def require(module: str, extra: str) -> Any:
    """A package that may not be installed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UsageError(f"{module} is not installed: pip install treeglot[{extra}]") from error


def batches(sentences: Iterable[Sequence[str]]) -> Iterator[list[list[str]]]:
    """The sentences, a few at a time."""
    rest = iter(sentences)
    while some := [list(words) for words in islice(rest, BATCH)]:
        yield some


def checked(parser: str, words: Sequence[str], heads: Sequence[int], tags: Sequence[str | None]) -> Dependency:
    """The dependencies of a sentence, from heads that count from 1 (0 for roots); refuses other words than were given.

    >>> checked("p", ["go", "on"], [0, 1], ["VB", None]).heads.tolist()
    [-1, 0]
    """
    if len(heads) != len(words):
        raise TreeglotError(f"{parser} gave {len(heads)} heads for {len(words)} words: it must not split or join them")
    own = [head - 1 if 0 <= head <= len(words) and head != place else Dependency.NO_HEAD
           for place, head in enumerate(heads, 1)]  # fmt: skip
    return Dependency(words, own, [tag or "_" for tag in tags] if any(tags) else None)
