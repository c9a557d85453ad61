"""Files that belong together, checked before anything is made of them: as many sentences each, and the same words."""

from __future__ import annotations

import json
import warnings
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from treeglot.base.errors import FormatError
from treeglot.base.files import iterate_lines, write_binary
from treeglot.decode.translation import tokens
from treeglot.experiment.step import Step, Task
from treeglot.models.kind import NOUNS
from treeglot.models.parallel import check_links
from treeglot.syntax import Alignment, find_format, read, read_text
from treeglot.syntax.formats import missing_hint
from treeglot.syntax.same_words import difference

COUNTS = "counts.json"


def check_step(name: str, files: Mapping[str, Path], words: Collection[str], *, refuse: bool = True) -> Step:
    """A step that compares `files`, by what they are to a corpus, with their source sentences.

    All must have as many sentences, and the parses that `words` names the words of the text. Words that differ are an
    error or, without `refuse`, a warning that counts them. Being a step, it is done once for files that do not change.
    """
    settings: dict[str, Any] = {"words": sorted(words), "refuse": refuse}
    return Step(f"check {name}", partial(_check, list(files), **settings), files, settings)


def _check(names: list[str], task: Task, words: Collection[str], refuse: bool) -> None:
    strict = "target" in names  # what is trained on; of what is translated, one bad line must not end it all
    source = task.inputs["source"]
    wanted = sum(1 for _ in _sentences(source, strict))
    if wanted == 0:
        raise FormatError(str(source), 0, "is empty; expected a sentence a line")
    counts = {"source": {"records": wanted}}
    for name in names:
        if name == "source":
            continue
        path, values = task.inputs[name], _values(name, task.inputs[name], strict)
        text = task.inputs[name.partition("_")[0]] if name in words else None
        found = _count(values, str(text), () if text is None else _sentences(text, strict))
        one, hint = _noun(name, path), missing_hint(path) if is_parsed(name) else ""
        if found.records != wanted:
            problem = f"has {found.records:,} {one}s; expected {wanted:,}, as {source} has lines"
            if found.problem:
                problem += f"; the first that differs is {one} {found.problem}"
            raise FormatError(str(path), 0, f"{problem}{hint}")
        if found.problem and refuse:
            raise FormatError(str(path), 0, f"{one} {found.problem}{hint}")
        if found.problem:
            said = f"{found.different:,} of {wanted:,} {one}s have other words than {text}; the first is {one} "
            warnings.warn(f"{path}: {said}{found.problem}", stacklevel=2)
        if name == "alignments":
            _check_links(path, _sentences(source, strict), _sentences(task.inputs["target"], strict))
        counts[name] = {"records": found.records}
        if is_parsed(name):
            counts[name] |= {"unparsed": found.unparsed} | ({"different": found.different} if name in words else {})
    with write_binary(task.out / COUNTS) as stream:
        stream.write((json.dumps(counts, indent=1) + "\n").encode())
    task.report(f"{wanted:,} sentences")


@dataclass
class _Found:
    records: int = 0
    unparsed: int = 0  # parses without words
    different: int = 0
    problem: str = ""  # of the first that differs


def _count(values: Iterable[Any], file: str, sentences: Iterable[list[str]]) -> _Found:
    """How many values there are, and which have other words than the sentences, as far as there are any of these."""
    found = _Found()
    for value, words in zip(values, chain(sentences, repeat(None))):  # noqa: B905 - the second does not end
        found.records += 1
        if isinstance(value, str | list | Alignment):
            continue
        if not value.words:
            found.unparsed += 1
        elif words is not None and (problem := difference(value.words, words, f"line {found.records} of {file}")):
            found.different += 1
            found.problem = found.problem or f"{found.records}: {problem}"
    return found


def _check_links(path: Path, source: Iterable[list[str]], target: Iterable[list[str]]) -> None:
    lines = zip(read(path, "pharaoh"), source, target, strict=True)
    for number, (links, source_words, target_words) in enumerate(lines, 1):
        check_links(links, source_words, target_words, path, number)


def _values(name: str, path: Path, strict: bool) -> Iterable[Any]:
    """What a file has, by what it is to the corpus: a value for each sentence."""
    if name == "alignments":
        return read(path, "pharaoh")
    if name.startswith("reference "):
        return iterate_lines(path)
    return read(path) if is_parsed(name) else _sentences(path, strict)


def _sentences(path: Path, strict: bool) -> Iterable[list[str]]:
    return read_text(path) if strict else map(tokens, iterate_lines(path, errors="replace"))


def _noun(name: str, path: Path) -> str:
    plural = NOUNS[find_format(path).holds] if is_parsed(name) else "lines"
    return {"dependencies": "dependency tree"}.get(plural, plural.removesuffix("s"))


def is_parsed(name: str) -> bool:
    """Whether a file of a corpus, by what it is to it, has parses.

    >>> is_parsed("source_trees"), is_parsed("source")
    (True, False)
    """
    return "_" in name
