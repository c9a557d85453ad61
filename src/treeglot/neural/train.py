"""Training joint models from aligned sentence pairs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from treeglot import _core
from treeglot._core import JointCorpus, JointEpoch, JointModel
from treeglot.base.errors import TreeglotError, UsageError
from treeglot.base.files import PathLike
from treeglot.neural.options import JointOptions
from treeglot.syntax import Alignment

LinkedPair: TypeAlias = tuple[Sequence[str], Sequence[str], Alignment]
Progress: TypeAlias = Callable[[int, int, int], None]  # epoch, examples done, of how many


def train_joint(
    pairs: Iterable[LinkedPair],
    options: JointOptions | None = None,
    *,
    dev: Iterable[LinkedPair] | None = None,
    threads: int = 1,
    state: PathLike | None = None,
    progress: Progress = lambda epoch, done, total: None,
    report: Callable[[JointEpoch], None] = lambda epoch: None,
) -> JointModel:
    """Train a joint model; each pair has source words, target words and their links.

    Epochs are judged by their perplexity on `dev`, or on the pairs that the option `held_out` takes from `pairs`.
    The result is that of the best epoch, the same for any number of threads. A run that was killed continues from
    the file `state`, which remains for the caller to remove. `report` is told of each epoch.

    >>> pairs = [(["das", "haus"], ["the", "house"], Alignment([(0, 0), (1, 1)]))] * 60
    >>> tiny = JointOptions(embedding=16, hidden=16, epochs=2, batch=16)
    >>> model = train_joint(pairs, tiny)
    >>> scores, _ = model.score(["das", "haus"], ["the", "house"], Alignment([(0, 0), (1, 1)]))
    >>> len(scores)
    3
    """
    options = options or JointOptions()
    every = options.held_out if dev is None else 0
    corpus, held_out = _corpora(pairs, every)
    if dev is not None:
        held_out, _ = _corpora(dev, 0)
    elif len(corpus) and not len(held_out):
        raise UsageError(f"there are {len(corpus)} sentence pairs, and one of {every} is held out: none is")
    try:
        return _core.train_joint(
            corpus, held_out, options.for_core(), threads, os.fspath(state or ""), progress, report
        )
    except TreeglotError:  # a damaged state is a FormatError, which is a ValueError too
        raise
    except ValueError as error:
        raise UsageError(str(error)) from error


def _corpora(pairs: Iterable[LinkedPair], every: int) -> tuple[JointCorpus, JointCorpus]:
    """The pairs, and those that are held out: each `every`th, none if it is 0."""
    both = JointCorpus(), JointCorpus()
    for number, pair in enumerate(pairs, start=1):
        try:
            both[every > 0 and number % every == 0].add(*pair)
        except ValueError as error:
            raise UsageError(f"sentence pair {number}: {error}") from error
    return both


def load_joint(path: PathLike, *, verify: bool = True) -> JointModel:
    """Map a model's file. `verify=False` opens it without reading it through; damage then goes unnoticed."""
    return JointModel.open(os.fspath(path), verify)
