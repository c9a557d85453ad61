"""Reads and writes text in the two languages of a model. The model's folder contains these files:

text.toml            tables source and target: language, tokeniser, case; numbers, if rules have variables for them
source.segmenter     the learnt tokeniser, if there is one; likewise target.segmenter
source.splitter      the words that ICU's words are split into, if the language has no blanks
source.spacer        what stands between words
source.caser         the case of words
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from treeglot.base.errors import UsageError
from treeglot.base.files import PathLike, write_binary
from treeglot.base.options import Options, load_options, option, required, unknown
from treeglot.base.toml import format_value
from treeglot.text.side import PARTS, Learnt, TextSettings, TextSide
from treeglot.text.variables import NumberVariables

TEXT_FILE = "text.toml"


@dataclass(frozen=True)
class SideTable(TextSettings):
    """The table of one side in `text.toml`: its settings, and the names of its learnt parts."""

    learnt: tuple[str, ...] = option((), "what was learnt: segmenter, splitter, spacer, caser")

    def __post_init__(self) -> None:
        """Refuse names of unknown parts."""
        super().__post_init__()
        for name in self.learnt:
            if name not in PARTS:
                raise UsageError(unknown("part", name, PARTS), ("learnt",))

    def load(self, folder: Path, side: str) -> TextSide:
        """Load the side and its learnt parts."""
        settings = {field.name: getattr(self, field.name) for field in dataclasses.fields(TextSettings)}
        return TextSide(TextSettings(**settings), Learnt.load(folder, side, self.learnt))


@dataclass(frozen=True)
class NumbersTable(Options):
    """The table `numbers` of `text.toml`. If it exists, rules have variables for numbers."""

    words: tuple[str, ...] = option((), "numbers of the source language that are words all the same")


@dataclass(frozen=True)
class TextFile(Options):
    """The whole content of `text.toml`."""

    source: SideTable = required("the source language")
    target: SideTable = required("the target language")
    numbers: NumbersTable | None = option(None, "numbers as variables; none: they are words like others")


@dataclass(frozen=True)
class TextPipeline:
    """Both languages of a model: converts source text to words, and target words to text."""

    source: TextSide
    target: TextSide
    numbers: NumberVariables | None = None  # None: numbers are words like others

    def write(self, directory: PathLike) -> None:
        """Write the files of the pipeline into a folder. `text.toml` comes last."""
        folder = Path(directory)
        lines: list[str] = []
        for name, side in (("source", self.source), ("target", self.target)):
            table = SideTable(**dataclasses.asdict(side.settings), learnt=side.learnt.write(folder, name))
            values = dataclasses.asdict(table).items()
            lines += [f"[{name}]", *(f"{key} = {format_value(value)}" for key, value in values), ""]
        if self.numbers is not None:
            lines += ["[numbers]", f"words = {format_value(tuple(sorted(self.numbers.words)))}", ""]
        with write_binary(folder / TEXT_FILE) as stream:
            stream.write("\n".join(lines).encode())

    @staticmethod
    def load(directory: PathLike) -> TextPipeline:
        """Load the pipeline from a folder."""
        folder = Path(directory)
        file = load_options(TextFile, folder / TEXT_FILE)
        source, target = file.source.load(folder, "source"), file.target.load(folder, "target")
        if file.numbers is None:
            return TextPipeline(source, target)
        words = frozenset(file.numbers.words)
        return TextPipeline(source, target, NumberVariables(source.language, target.language, words))
