"""Both languages of a model, as a model's folder holds them.

text.toml            tables source and target: language, tokeniser, case
source.segmenter     the learnt tokeniser, if there is one; likewise target.segmenter
source.spacer        what stands between words
source.caser         the case of words
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from treeglot.base.files import PathLike, write_binary
from treeglot.base.options import Options, load_options, required
from treeglot.base.toml import format_value
from treeglot.text.side import Learnt, TextSettings, TextSide

TEXT_FILE = "text.toml"


@dataclass(frozen=True)
class TextFile(Options):
    """What `text.toml` says."""

    source: TextSettings = required("the source language")
    target: TextSettings = required("the target language")


@dataclass(frozen=True)
class TextPipeline:
    """How a model reads and writes text."""

    source: TextSide
    target: TextSide

    def write(self, directory: PathLike) -> None:
        """Write the files into a folder, `text.toml` last."""
        folder = Path(directory)
        lines: list[str] = []
        for name, side in (("source", self.source), ("target", self.target)):
            side.learnt.write(folder, name)
            settings = dataclasses.asdict(side.settings).items()
            lines += [f"[{name}]", *(f"{key} = {format_value(value)}" for key, value in settings), ""]
        with write_binary(folder / TEXT_FILE) as stream:
            stream.write("\n".join(lines).encode())

    @staticmethod
    def load(directory: PathLike) -> TextPipeline:
        """That of a folder."""
        folder = Path(directory)
        file = load_options(TextFile, folder / TEXT_FILE)
        return TextPipeline(
            TextSide(file.source, Learnt.load(folder, "source")), TextSide(file.target, Learnt.load(folder, "target"))
        )
