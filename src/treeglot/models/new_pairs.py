"""Reads sentence pairs from files, for models that learn from them or find their rules on demand."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from treeglot.align import Aligner
from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import PathLike, read_lines
from treeglot.corpus import Corpus, Needs
from treeglot.corpus.pairs import Pair

if TYPE_CHECKING:
    from treeglot.models.model import Model


def line_pairs(source: PathLike, target: PathLike) -> Iterator[tuple[str, str]]:
    """Yield the lines of two files side by side. Files of different lengths are refused."""
    sides = read_lines(source), read_lines(target)
    if len(sides[0]) != len(sides[1]):
        problem = f"has {len(sides[1]):,} lines; expected {len(sides[0]):,}, as {os.fspath(source)} has"
        raise FormatError(os.fspath(target), 0, problem)
    yield from zip(*sides, strict=True)


def read_pairs(
    model: Model,
    source: PathLike,
    target: PathLike,
    alignments: PathLike | None = None,
    aligner: Aligner | PathLike | None = None,
) -> Iterator[Pair]:
    """Read the sentence pairs of two files, with the words in the form that a model's rules use.

    Errors name the line.
    """
    if alignments is not None:
        if model.text is not None:
            raise UsageError(f"alignments are for words, and {model.directory} takes text; expected no alignments")
        if aligner is not None:
            raise UsageError("alignments and an aligner were given; expected one or the other")
        corpus = Corpus(source=Path(source), target=Path(target), alignments=Path(alignments))
        corpus.check_formats()
        yield from corpus.pairs(Needs())
        return
    own = Aligner.load(aligner) if isinstance(aligner, str | os.PathLike) else aligner or model.learner.aligner
    for number, (one, other) in enumerate(line_pairs(source, target), start=1):
        try:
            yield model.learner.pair(one, other, None, own)
        except UsageError as error:
            raise FormatError(os.fspath(source), number, str(error)) from error
