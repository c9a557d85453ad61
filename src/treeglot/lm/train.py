"""Training n-gram models: interpolated modified Kneser-Ney, as lmplz estimates it."""

from __future__ import annotations

import os
import re
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, TypeAlias

from treeglot._core import EstimatedNgrams, NgramText, NgramTrainer, NgramTrainReport
from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import PathLike, read_chunks, write_binary
from treeglot.base.options import Range
from treeglot.base.sizes import parse_size

Line: TypeAlias = str | Sequence[str]  # a line of text, or its words
Progress: TypeAlias = Callable[[str, int, int], None]  # the stage, how much is done, of how much (0: nobody knows)

HIGHEST_ORDER = 9  # of the core's
FALLBACK = (0.5, 1.0, 1.5)  # as lmplz --discount_fallback
LINES_AT_A_TIME = 10_000
OTHER_BLANKS = re.compile(r"[\t\n\v\f\r]")


class DiscountWarning(UserWarning):
    """The discounts of an order could not be estimated, and fallback discounts stand in for them."""


@dataclass(frozen=True)
class Training:
    """What training made."""

    report: NgramTrainReport
    estimate: EstimatedNgrams | None  # none when it was written to a file as it was made


def train_ngram(
    text: PathLike | Iterable[Line],
    order: Annotated[int, "words in the longest n-grams", Range(least=1, most=HIGHEST_ORDER)] = 5,
    *,
    prune: Annotated[Sequence[int], "counts up to which n-grams are left out, by order", Range(least=0)] = (),
    memory: Annotated[str | int, "what counting and estimating may take, about; the rest goes through the disk"] = "2G",
    fallback: Annotated[
        tuple[float, float, float] | None, "discounts for orders whose own cannot be estimated"
    ] = FALLBACK,
    scratch: Annotated[str | Path | None, "the folder for what does not fit; default: the system's"] = None,
    threads: Annotated[int, "they format the output; counting takes one", Range(least=1)] = 1,
    out: PathLike | None = None,
    name: str | None = None,
    progress: Progress | None = None,
) -> Training:
    """Estimate an n-gram model from a text: a file, `-` for standard input, or lines or lists of words.

    The model is written to `out` in the ARPA format, or kept in memory when there is no `out`.
    `prune` gives for each order the count up to which n-grams are left out, the last one for all orders above too:
    `[0, 0, 1]` drops what occurs once from trigrams on. What does not fit into `memory` is sorted in the folder
    `scratch` (the system's one for temporary files). Where discounts cannot be estimated, because the text is too
    small or too repetitive, `fallback` stands in for them and a `DiscountWarning` says so; None makes that an error.
    Messages call the text `name`. The result does not depend on `memory` and `threads`.

    >>> lines = ["a a a b", "a b b", "b a a c", "c d e", "d a f", "e f a g a", "b a"]
    >>> training = train_ngram(lines, order=2)
    >>> training.report.tokens, training.report.kept
    (24, [10, 23])
    >>> training.estimate.vocabulary[:5]
    ['<unk>', '<s>', '</s>', 'a', 'b']
    """
    options = {"order": order, "prune": list(prune), "fallback": fallback, "threads": threads}
    options |= {"memory": parse_size(memory), "folder": os.fspath(scratch or tempfile.gettempdir())}
    try:
        trainer = NgramTrainer(options)
    except ValueError as error:
        raise UsageError(str(error)) from error
    if isinstance(text, str | os.PathLike):
        name = name or os.fspath(text)
        chunks = read_chunks(text)
    else:
        name = name or "text"
        chunks = _encode(text, name)
    _feed(trainer, name, chunks, progress)
    training = _finish(trainer, name, out, progress)
    for failed, problem in training.report.fallbacks:
        used = ", ".join(f"{amount:g}" for amount in training.report.discounts[failed - 1])
        warnings.warn(
            f"{name}: {problem}; fallback discounts for order {failed}: {used}", DiscountWarning, stacklevel=2
        )
    return training


def _feed(trainer: NgramTrainer, name: str, chunks: Iterable[bytes], progress: Progress | None) -> None:
    text = NgramText(name, trainer)
    for chunk in chunks:
        text.feed(chunk)
        if progress is not None:
            progress("counting", trainer.tokens, 0)
    text.finish()


def _finish(trainer: NgramTrainer, name: str, out: PathLike | None, progress: Progress | None) -> Training:
    if out is None:
        estimate, report = trainer.estimate(name, progress)
        return Training(report, estimate)
    with write_binary(out) as stream:
        report = trainer.write_arpa(name, stream.write, progress)
    return Training(report, None)


def _encode(lines: Iterable[Line], name: str) -> Iterator[bytes]:
    """The lines as the bytes of a file, many at a time."""
    numbered = enumerate(lines, 1)
    while some := [_line(line, name, number) for number, line in islice(numbered, LINES_AT_A_TIME)]:
        yield ("\n".join(some) + "\n").encode("utf-8", "surrogatepass")  # lone surrogates: the core says where


def _line(line: Line, name: str, number: int) -> str:
    """A line without its end; refused when it would not come back as the same line, or the same words."""
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
