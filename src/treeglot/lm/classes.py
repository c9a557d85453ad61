"""Groups words with similar neighbours into classes, for language models over classes."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from treeglot import _core
from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import PathLike, read_lines, write_binary
from treeglot.base.options import Options, option
from treeglot.base.sizes import parse_size
from treeglot.lm.text import Line, Progress, feed

MOST_CLASSES = 4096  # of the core's
BLANKS = re.compile("[ \t\v\f]+")  # those that separate words, as in texts
SPECIAL = ("<unk>", "<s>", "</s>")


@dataclass(frozen=True)
class ClassOptions(Options):
    """Options for grouping words into classes."""

    classes: int = option(100, "classes of words", least=1, most=MOST_CLASSES)
    rounds: int = option(20, "rounds over all words, at most; it ends earlier when no word moves", least=1)


@dataclass(frozen=True)
class WordClasses:
    """A set of words, and the class of each word as a number from 0 on."""

    words: list[str]
    classes: list[int]
    likelihoods: tuple[float, ...] = ()  # log probability of the text before the first round and after each

    @cached_property
    def core(self) -> _core.WordClasses:
        """The classes in the form that the core needs."""
        return _core.WordClasses(self.words, self.classes)

    def write(self, path: PathLike) -> None:
        """Write the classes as lines of WORD CLASS, like mkcls."""
        with write_binary(path) as stream:
            lines = (f"{word} {number}\n" for word, number in zip(self.words, self.classes, strict=True))
            stream.write("".join(lines).encode())

    @staticmethod
    def read(path: PathLike) -> WordClasses:
        """Read classes from lines of WORD CLASS."""
        name = os.fspath(path)
        found: dict[str, int] = {}
        for number, line in enumerate(read_lines(path), 1):
            parts = BLANKS.split(line.strip(" \t\v\f"))
            if parts[0] in SPECIAL:
                raise FormatError(name, number, f"{parts[0]} is a word of models themselves; expected others")
            if len(parts) != 2 or not (parts[1].isascii() and parts[1].isdecimal()) or len(parts[1]) > 9:
                raise FormatError(name, number, f"{line[:60]!r} is not a word with its class; expected WORD CLASS")
            if parts[0] in found:
                raise FormatError(name, number, f"the word {parts[0]!r} comes twice; expected it once")
            found[parts[0]] = int(parts[1])
        return WordClasses(list(found), list(found.values()))


def learn_classes(
    text: PathLike | Iterable[Line],
    options: ClassOptions = ClassOptions(),
    *,
    memory: str | int = "2G",
    scratch: str | Path | None = None,
    name: str | None = None,
    progress: Progress | None = None,
) -> WordClasses:
    """Group the words of a text into classes that make the text likely under a bigram model of classes.

    Each word in turn moves to the class that makes the text most likely, until no word moves (Martin, Liermann and Ney
    1998). Bigrams that do not fit into `memory` are stored in files in the folder `scratch`, which is the system's
    temporary folder by default. The vocabulary needs additional memory. Values below `4M` have the effect of `4M`. The
    result depends only on the text.

    >>> lines = ["the dog sleeps", "the cat sleeps", "a dog runs", "a cat runs", "the cat runs", "a dog sleeps"]
    >>> made = learn_classes(lines, ClassOptions(classes=3))
    >>> of = dict(zip(made.words, made.classes))
    >>> of["dog"] == of["cat"], of["the"] == of["a"], of["runs"] == of["sleeps"], of["the"] == of["dog"]
    (True, True, True, False)
    """
    trainer = _core.WordClassTrainer(options, parse_size(memory), os.fspath(scratch or tempfile.gettempdir()))
    name = feed(trainer, text, name, progress)
    if not trainer.tokens:
        raise UsageError(f"{name} has no words; expected text to put words of into classes")
    words, classes, likelihoods, _ = trainer.finish(progress)
    return WordClasses(words, classes, tuple(likelihoods))
