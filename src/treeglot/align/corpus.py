"""Aligning a corpus: both directions, symmetrised."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Lock
from typing import Any

from treeglot.align.aligners import ALIGNERS, DEFAULT, Aligner, Sentences, Tick
from treeglot.align.symmetrize import symmetrize
from treeglot.base.errors import UsageError
from treeglot.syntax import Alignment

LONGEST = 200  # words; longer sentences have no alignment, and the library would leave them out without a word


def align_corpus(
    source: Sentences,
    target: Sentences,
    method: str = DEFAULT,
    symmetrization: str = "grow-diag-final-and",
    *,
    options: Mapping[str, Any] | None = None,
    threads: int = 1,
    report: Callable[[int, int], None] = lambda done, of: None,
) -> list[Alignment]:
    """Align every sentence pair; `options` are those of the aligner, `report` is told how far it is, in percent of 100.

    A pair with an empty side, or one of more than 200 words, has no links. The result is the same for any number of
    threads; the program eflomal alone gives another one every time.
    """
    forward, backward = align_directions(source, target, method, options=options, threads=threads, report=report)
    return symmetrize(forward, backward, symmetrization)


def align_directions(
    source: Sentences,
    target: Sentences,
    method: str = DEFAULT,
    *,
    options: Mapping[str, Any] | None = None,
    threads: int = 1,
    report: Callable[[int, int], None] = lambda done, of: None,
) -> tuple[list[Alignment], list[Alignment]]:
    """The two alignments that are symmetrised, both from source to target.

    In the first each target word has one link at most, in the second each source word.
    """
    if len(source) != len(target):
        raise UsageError(f"there are {len(source)} source sentences and {len(target)} target sentences")
    aligner = ALIGNERS.make(method, options or {})
    lengths = [(len(s), len(t)) for s, t in zip(source, target, strict=True)]
    used = [i for i, pair in enumerate(lengths) if min(pair) > 0 and max(pair) <= LONGEST]
    long = sum(max(pair) > LONGEST for pair in lengths)
    if long:
        problem = f"{long} sentence pairs have a side of more than {LONGEST} words: they are not aligned"
        warnings.warn(problem, stacklevel=2)
    sides = [source[i] for i in used], [target[i] for i in used]
    shares, lock = [0.0, 0.0], Lock()

    def tick(direction: int, done: int, of: int) -> None:
        with lock:
            shares[direction] = done / of
            report(round(50 * sum(shares)), 100)

    with ThreadPoolExecutor(min(threads, 2)) as pool:
        pairs = enumerate((sides, sides[::-1]))
        runs = [pool.submit(_one_thread, aligner, *pair, partial(tick, number)) for number, pair in pairs]
        forward, backward = (run.result() for run in runs)
    return _spread(forward, used, len(source)), _spread([a.transpose() for a in backward], used, len(source))


def _one_thread(aligner: Aligner, source: Sentences, target: Sentences, tick: Tick) -> list[Alignment]:
    """The library's own threads add up in any order: with one, the result is always the same."""
    import thot.alignment  # noqa: F401 - loaded before its threads can be limited
    from threadpoolctl import threadpool_limits

    if not source:
        return []
    with threadpool_limits(1):
        return aligner(source, target, tick)


def _spread(found: Sequence[Alignment], used: Sequence[int], size: int) -> list[Alignment]:
    out = [Alignment()] * size
    for index, alignment in zip(used, found, strict=True):
        out[index] = alignment
    return out
