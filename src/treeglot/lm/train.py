"""Trains n-gram models with interpolated modified Kneser-Ney smoothing, as lmplz does."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from treeglot._core import EstimatedNgrams, NgramTrainer, NgramTrainReport, sort_ngrams
from treeglot.base.errors import UsageError
from treeglot.base.files import PathLike, write_binary
from treeglot.base.options import Range
from treeglot.base.shards import Machines, in_shards
from treeglot.base.sizes import parse_size
from treeglot.lm.classes import WordClasses
from treeglot.lm.text import Line, Progress, feed, feed_steps

HIGHEST_ORDER = 9  # of the core's
FALLBACK = (0.5, 1.0, 1.5)  # as lmplz --discount_fallback
BLOCK = 5_000_000  # words that a task sorts, about


class DiscountWarning(UserWarning):
    """Warns that the discounts of an order could not be estimated, so that fallback discounts replace them."""


@dataclass(frozen=True)
class Training:
    """The result of training an n-gram model."""

    report: NgramTrainReport
    estimate: EstimatedNgrams | None  # none when it was written to a file as it was made
    classes: WordClasses | None = None  # the model's words are the numbers of these classes


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
    classes: WordClasses | None = None,
    out: PathLike | None = None,
    name: str | None = None,
    progress: Progress | None = None,
    machines: Machines | None = None,
    parts: PathLike | None = None,
    report: Callable[[str], None] = lambda line: None,
) -> Training:
    """Estimate an n-gram model from a text: a file, `-` for standard input, or lines or lists of words.

    The model is written to `out` in the ARPA format, or kept in memory if `out` is missing. `prune` gives a count for
    each order: n-grams with at most this count are left out. Its last value also applies to all higher orders, so `[0,
    0, 1]` drops n-grams that occur once, from trigrams on. Data that does not fit into `memory` is sorted in the folder
    `scratch`, by default the system's temporary folder. If the text is too small or too repetitive to estimate
    discounts, `fallback` replaces them, with a `DiscountWarning`. Without `fallback`, this is an error. In messages,
    the text is called `name`. With `classes`, the model is over the classes of the words. The result does not depend on
    `memory` and `threads`. With `machines`, which need `out`, tasks count blocks of the text, and the counts are merged
    here (docs/scale.md). They exchange files beside `parts`, or beside `out`.

    >>> lines = ["a a a b", "a b b", "b a a c", "c d e", "d a f", "e f a g a", "b a"]
    >>> training = train_ngram(lines, order=2)
    >>> training.report.tokens, training.report.kept
    (24, [10, 23])
    >>> training.estimate.vocabulary[:5]
    ['<unk>', '<s>', '</s>', 'a', 'b']
    """
    options: dict[str, Any] = {"order": order, "prune": list(prune), "fallback": fallback, "threads": threads}
    options |= {"memory": parse_size(memory), "folder": os.fspath(scratch or tempfile.gettempdir())}
    try:
        trainer = NgramTrainer(options, classes.core if classes is not None else None)
    except ValueError as error:
        raise UsageError(str(error)) from error
    if machines is None:
        name = feed(trainer, text, name, progress)
    elif out is None:
        raise UsageError("machines count n-grams for a file; expected `out`")
    else:
        name = _count_elsewhere(trainer, options, text, name, progress, parts or out, machines, report)
    training = _finish(trainer, name, out, progress, classes)
    for failed, problem in training.report.fallbacks:
        used = ", ".join(f"{amount:g}" for amount in training.report.discounts[failed - 1])
        warnings.warn(
            f"{name}: {problem}; fallback discounts for order {failed}: {used}", DiscountWarning, stacklevel=2
        )
    return training


@dataclass(frozen=True)
class SortBlock:
    """Sorts and counts the n-grams of a block of text. Words are given by their numbers."""

    order: int

    def open(self) -> None:
        """Do nothing, because a block contains everything that it needs."""

    def run(self, opened: None, records: Any, first: int, threads: int, part: Path) -> dict[str, Any]:
        """Count the n-grams of a block, and write them as a sorted run."""
        import numpy as np

        with write_binary(part) as stream:
            sort_ngrams(np.frombuffer(records, dtype=np.uint32), self.order, stream.write)
        return {}


def _count_elsewhere(
    trainer: NgramTrainer,
    options: Mapping[str, Any],
    text: PathLike | Iterable[Line],
    name: str | None,
    progress: Progress | None,
    out: PathLike,
    machines: Machines,
    report: Callable[[str], None],
) -> str:
    """Number the words of a text here, and let machines count its blocks. Return the name of the text."""
    name, steps = feed_steps(trainer, text, name, progress)
    block = min(BLOCK, options["memory"] // 100)  # before the trainer sorts them itself for lack of memory

    def blocks() -> Iterator[tuple[bytes, int]]:
        for _ in steps:
            if trainer.waiting >= block:
                yield trainer.take_block().tobytes(), 1
        if trainer.waiting:
            yield trainer.take_block().tobytes(), 1

    with in_shards(SortBlock(options["order"]), blocks(), out, machines, report=report) as parts:
        for part in parts:
            trainer.add_run(os.fspath(part.path))
    return name


def _finish(
    trainer: NgramTrainer, name: str, out: PathLike | None, progress: Progress | None, classes: WordClasses | None
) -> Training:
    if out is None:
        estimate, report = trainer.estimate(name, progress)
        return Training(report, estimate, classes)
    with write_binary(out) as stream:
        report = trainer.write_arpa(name, stream.write, progress)
    return Training(report, None, classes)
