"""Checks that the files of a corpus fit together: the same number of sentences, and the same words."""

from __future__ import annotations

import json
import warnings
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

from treeglot.base.errors import FormatError
from treeglot.base.files import iterate_lines, write_binary
from treeglot.corpus.files import MORE_LINKS, NOUNS, is_parsed, side_of
from treeglot.corpus.pairs import check_links
from treeglot.decode.translation import tokens
from treeglot.experiment.step import Step, Task
from treeglot.syntax import Alignment, read
from treeglot.syntax.formats import find_format, missing_hint, read_text
from treeglot.syntax.same_words import difference

COUNTS = "counts.json"
END = object()  # of a file that is shorter than others


def check_step(name: str, files: Mapping[str, Path], words: Collection[str], *, refuse: bool = True) -> Step:
    """Return a step that compares files with their source sentences. `files` maps roles in a corpus to files.

    All files must have the same number of sentences. The parses named in `words` must have the words of the text.
    Different words are an error or, without `refuse`, a warning that counts them. Because the check is a step, it runs
    only once for unchanged files, for all systems together. It runs before words are aligned or parsers are trained, so
    each new file is read twice.
    """
    settings: dict[str, Any] = {"words": sorted(words), "refuse": refuse}
    return Step(f"check {name}", partial(_check, list(files), **settings), files, settings)


def _check(names: list[str], task: Task, words: Collection[str], refuse: bool) -> None:
    files = {name: task.inputs[name] for name in ["source", *names]}
    found = _read(files, words)
    wanted = found["source"].records
    if wanted == 0:
        raise FormatError(str(files["source"]), 0, "is empty; expected one sentence per line")
    for name, seen in found.items():
        path, one = files[name], _noun(name, files[name])
        hint = missing_hint(path) if is_parsed(name) else ""
        if seen.records != wanted:
            problem = f"has {seen.records:,} {one}s; expected {wanted:,}, as {files['source']} has lines"
            if seen.problem:
                problem += f"; the first that differs is {one} {seen.problem}"
            raise FormatError(str(path), 0, f"{problem}{hint}")
        if seen.bad_link:
            raise seen.bad_link
        if seen.problem and refuse:
            raise FormatError(str(path), 0, f"{one} {seen.problem}{hint}")
        if seen.problem:
            said = f"{seen.different:,} of {wanted:,} {one}s have other words than {files[side_of(name)]}"
            warnings.warn(f"{path}: {said}; the first is {one} {seen.problem}", stacklevel=2)
    counts = {name: seen.counts(is_parsed(name), name in words) for name, seen in found.items()}
    with write_binary(task.out / COUNTS) as stream:
        stream.write((json.dumps(counts, indent=1) + "\n").encode())
    task.report(f"{wanted:,} sentences")


@dataclass
class _Seen:
    """The counts of one file, and the first problem that was found in it."""

    records: int = 0
    unparsed: int = 0  # parses without words
    different: int = 0
    problem: str = ""  # of the first that differs
    bad_link: FormatError | None = None

    def counts(self, parsed: bool, compared: bool) -> dict[str, int]:
        """Return the counts for the result of the step."""
        out = {"records": self.records}
        out |= {"unparsed": self.unparsed} if parsed else {}
        return out | ({"different": self.different} if compared else {})


def _read(files: Mapping[str, Path], words: Collection[str]) -> dict[str, _Seen]:
    """Read all files side by side, and compare the parses named in `words` with their texts."""
    strict = "target" in files  # training data only: one bad line to translate must not end a run
    found = {name: _Seen() for name in files}
    for row in zip_longest(*(_values(name, path, strict) for name, path in files.items()), fillvalue=END):
        values = dict(zip(files, row, strict=True))
        for name, value in values.items():
            if value is END:
                continue
            seen, text = found[name], values[side_of(name)] if name in words else END
            seen.records += 1
            if _is_links(name) and not seen.bad_link and END not in (values["source"], values["target"]):
                try:
                    check_links(value, values["source"], values["target"], files[name], seen.records)
                except FormatError as error:
                    seen.bad_link = error
            if isinstance(value, str | list | Alignment):
                continue
            if not value.words:
                seen.unparsed += 1
            elif isinstance(text, list):
                place = f"line {seen.records} of {files[side_of(name)]}"
                if problem := difference(value.words, text, place):
                    seen.different += 1
                    seen.problem = seen.problem or f"{seen.records}: {problem}"
    return found


def _values(name: str, path: Path, strict: bool) -> Iterable[Any]:
    """Yield the values of a file, one for each sentence. The role of the file determines their type."""
    if _is_links(name):
        return read(path, "pharaoh")
    if name.startswith("reference "):
        return iterate_lines(path)
    if is_parsed(name):
        return read(path)
    return read_text(path) if strict else map(tokens, iterate_lines(path, errors="replace"))


def _is_links(name: str) -> bool:
    return name == "alignments" or name.startswith(MORE_LINKS)


def _noun(name: str, path: Path) -> str:
    plural = NOUNS[find_format(path).holds] if is_parsed(name) else "lines"
    return {"dependencies": "dependency tree"}.get(plural, plural.removesuffix("s"))
