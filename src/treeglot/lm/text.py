"""Passes text to trainers. The text is a file, or lines."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeAlias

from treeglot._core import NgramTrainer, TrainingText, WordClassTrainer
from treeglot.base.errors import FormatError
from treeglot.base.files import PathLike, read_chunks

Line: TypeAlias = str | Sequence[str]  # a line of text, or its words
Progress: TypeAlias = Callable[[str, int, int], None]  # the stage, how much is done, of how much (0: nobody knows)

LINES_AT_A_TIME = 10_000
OTHER_BLANKS = re.compile(r"[\t\n\v\f\r]")


def feed(
    trainer: NgramTrainer | WordClassTrainer,
    text: PathLike | Iterable[Line],
    name: str | None = None,
    progress: Progress | None = None,
) -> str:
    """Pass all words of a text to a trainer, and return the name of the text.

    The text is a file, `-` for standard input, lines, or lists of words.
    """
    name, steps = feed_steps(trainer, text, name, progress)
    for _ in steps:
        pass
    return name


def feed_steps(
    trainer: NgramTrainer | WordClassTrainer,
    text: PathLike | Iterable[Line],
    name: str | None = None,
    progress: Progress | None = None,
) -> tuple[str, Iterator[None]]:
    """Return the name of a text, and an iterator that feeds the text to the trainer step by step."""
    if isinstance(text, str | os.PathLike):
        name = name or os.fspath(text)
        chunks = read_chunks(text)
    else:
        name = name or "text"
        chunks = _encode(text, name)
    return name, _feed(trainer, chunks, name, progress)


def _feed(
    trainer: NgramTrainer | WordClassTrainer, chunks: Iterator[bytes], name: str, progress: Progress | None
) -> Iterator[None]:
    to = TrainingText(name, trainer)
    for chunk in chunks:
        to.feed(chunk)
        if progress is not None:
            progress("counting", trainer.tokens, 0)
        yield
    to.finish()
    yield


def _encode(lines: Iterable[Line], name: str) -> Iterator[bytes]:
    """Join many lines at a time, and yield them as the bytes of a file."""
    numbered = enumerate(lines, 1)
    while some := [_line(line, name, number) for number, line in islice(numbered, LINES_AT_A_TIME)]:
        yield ("\n".join(some) + "\n").encode("utf-8", "surrogatepass")  # lone surrogates: the core says where


def _line(line: Line, name: str, number: int) -> str:
    """Return a line without its line end. A line that a file would not give back unchanged is refused."""
    if isinstance(line, str):
        text = line.removesuffix("\n")
        if "\n" in text:
            raise FormatError(name, number, "a line break inside of a line; expected one line at a time")
        return text
    text = " ".join(line)
    if line and ("" in line or text.count(" ") != len(line) - 1 or OTHER_BLANKS.search(text)):
        bad = next(word for word in line if word == "" or " " in word or OTHER_BLANKS.search(word))
        raise FormatError(name, number, f"{bad!r} is not a word; expected words that are not empty and have no blanks")
    return text
