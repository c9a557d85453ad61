"""Reads input that will be translated: sentences, or parses of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from treeglot.base.errors import UsageError
from treeglot.base.files import iterate_lines, logical_suffix
from treeglot.corpus.files import NOUNS
from treeglot.syntax import FORMATS
from treeglot.syntax.formats import READ_ONLY, Records, find_format


def read_sources(path: Path, format: str | None, *holds: type[Any], skip_bad: bool = False) -> Iterator[Any]:
    """Yield the values of a file, which must have one of these types. `format`, or else the suffix, names the format.

    In the format `text`, or with an unknown suffix, each line is a sentence. Lines are not checked here, so a bad line
    never ends a long run. A format with other types is refused. With `skip_bad`, a bad record becomes None.
    """
    known = {suffix: f.name for f in (*FORMATS.values(), *READ_ONLY.values()) for suffix in f.suffixes}
    chosen = find_format(path, format or known.get(logical_suffix(path), "text"))
    if chosen.holds is list:
        return iterate_lines(path, errors="replace")
    if chosen.holds not in holds:
        wanted = " or ".join(["text", *(NOUNS[each] for each in holds)])
        raise UsageError(f"{path} is in the format {chosen.name}: {NOUNS[chosen.holds]}; the model translates {wanted}")
    return Records(path, chosen, skip_bad, {}, holes=skip_bad)
