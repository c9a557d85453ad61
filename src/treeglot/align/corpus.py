"""Aligns a whole corpus in both directions, and symmetrises the links."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from treeglot.align.aligner import METHODS, Aligner, alignable
from treeglot.align.aligners import ALIGNERS, DEFAULT, LONGEST, Eflomal, Sentences, Tick
from treeglot.align.symmetrize import symmetrize
from treeglot.base.errors import UsageError
from treeglot.base.files import PathLike
from treeglot.base.options import unknown
from treeglot.syntax import Alignment


def align_corpus(
    source: Sentences,
    target: Sentences,
    method: str = DEFAULT,
    symmetrization: str = "grow-diag-final-and",
    *,
    options: Mapping[str, Any] | None = None,
    threads: int = 1,
    folder: PathLike = "",
    report: Tick = lambda done, of: None,
    keep: Callable[[Aligner], None] = lambda aligner: None,
) -> list[Alignment]:
    """Align every sentence pair with the aligner's `options`. `report` gets the progress in percent, up to 100.

    A pair with an empty side, or with a side of more than 200 words, has no links. The result is the same for any
    number of threads, except with eflomal, whose results vary. A killed run resumes from `folder`. `keep` receives the
    trained aligner; eflomal has none.
    """
    if len(source) != len(target):
        raise UsageError(f"there are {len(source)} source sentences and {len(target)} target sentences")
    if symmetrization not in METHODS:
        raise UsageError(unknown("symmetrisation", symmetrization, METHODS))
    aligner = ALIGNERS.make(method, options or {})
    pairs = list(zip(source, target, strict=True))
    long = sum(max(len(s), len(t)) > LONGEST for s, t in pairs)
    if long:
        problem = f"{long} sentence pairs have a side of more than {LONGEST} words: they are not aligned"
        warnings.warn(problem, stacklevel=2)

    def percent(done: int, of: int) -> None:
        report(100 * done // of, 100)

    if isinstance(aligner, Eflomal):
        return _by_program(aligner, source, target, symmetrization, percent)
    trained = Aligner.train(pairs, method, options=options, threads=threads, folder=folder, report=percent)
    keep(trained)
    return list(trained.align_all(pairs, symmetrization, threads=threads))


def _by_program(
    aligner: Eflomal, source: Sentences, target: Sentences, symmetrization: str, tick: Tick
) -> list[Alignment]:
    used = [i for i, pair in enumerate(zip(source, target, strict=True)) if alignable(*pair)]
    sides = [source[i] for i in used], [target[i] for i in used]
    out = [Alignment()] * len(source)
    if not used:
        return out
    forward = aligner.align(*sides, lambda done, of: tick(done, 2 * of))
    backward = aligner.align(*sides[::-1], lambda done, of: tick(of + done, 2 * of))
    links = symmetrize(forward, [alignment.transpose() for alignment in backward], symmetrization)
    for index, alignment in zip(used, links, strict=True):
        out[index] = alignment
    return out
