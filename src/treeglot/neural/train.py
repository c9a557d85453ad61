"""Trains joint models on aligned sentence pairs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from treeglot import _core
from treeglot._core import JointCorpus, JointEpoch, JointModel
from treeglot.base.errors import TreeglotError, UsageError
from treeglot.base.files import PathLike
from treeglot.base.opening import opening
from treeglot.neural.average import average
from treeglot.neural.learner import open_learner
from treeglot.neural.options import JointOptions
from treeglot.syntax import Alignment, Dependency, ParseForest, Tree

SourceParse: TypeAlias = Tree | ParseForest | Dependency
LinkedPair: TypeAlias = tuple[Sequence[str], Sequence[str], Alignment]
# With what models of parses and of heads learn from.
ParsedPair: TypeAlias = tuple[Sequence[str], Sequence[str], Alignment, SourceParse | None, Dependency | None]
Progress: TypeAlias = Callable[[int, int, int], None]  # epoch, examples of it done, of how many


def train_joint(
    pairs: Iterable[LinkedPair | ParsedPair],
    options: JointOptions | None = None,
    *,
    dev: Iterable[LinkedPair | ParsedPair] | None = None,
    threads: int = 1,
    state: PathLike | None = None,
    progress: Progress = lambda epoch, done, total: None,
    begin: Callable[[int], None] = lambda network: None,
    report: Callable[[JointEpoch], None] = lambda epoch: None,
) -> JointModel:
    """Train a joint model. Each pair consists of source words, target words and their links.

    With the option `parse`, a pair also contains the parse of its source sentence: a tree, a forest or a dependency
    tree. Pairs without a parse are used without one. With the option `heads`, the fifth part of a pair is the
    dependency tree of its target sentence. Pairs without this tree are left out.

    The best epoch is the one with the lowest perplexity on `dev`, or on the pairs that the option `held_out` takes from
    `pairs`. The result is the network of this epoch. If the core trains, it is the same for any number of threads. With
    the option `networks`, several networks are trained one after another, and the result is their mean.

    If a run is killed, the next run continues from the files in the folder `state`. The caller removes this folder.
    `begin` gets the number of each network, from 1. `report` gets each epoch of a network. `progress` counts the epochs
    of all networks.

    >>> pairs = [(["das", "haus"], ["the", "house"], Alignment([(0, 0), (1, 1)]))] * 60
    >>> tiny = JointOptions(embedding=16, hidden=16, epochs=2, batch=16)
    >>> model = train_joint(pairs, tiny)
    >>> scores, _ = model.score(["das", "haus"], ["the", "house"], Alignment([(0, 0), (1, 1)]))
    >>> len(scores)
    3
    """
    options = options or JointOptions()
    every = options.held_out if dev is None else 0
    corpus, held_out = _corpora(pairs, every, options)
    if dev is not None:
        held_out, _ = _corpora(dev, 0, options, "dev pair")
    elif len(corpus) and not len(held_out):
        _refuse_none_held_out(corpus, held_out, every)
    if state:
        Path(state).mkdir(parents=True, exist_ok=True)
        _tell_unused(Path(state), options.networks)
    try:
        return _trained(corpus, held_out, options, threads, state, progress, begin, report)
    finally:
        if state:
            with suppress(OSError):  # it has the state of a run that has begun
                Path(state).rmdir()


def _refuse_none_held_out(corpus: JointCorpus, held_out: JointCorpus, every: int) -> None:
    """Raise an error that explains why no pair is held out: there are too few pairs, or all were left out."""
    if left_out := held_out.treeless + held_out.empty:
        problem = f"one sentence pair of {every} is held out, {left_out:,} in all, and all of these were left out"
        reasons = f"{held_out.treeless:,} without a target dependency tree and {held_out.empty:,} with an empty side"
        raise UsageError(f"{problem}: {reasons}; expected dev pairs, or a smaller held_out")
    raise UsageError(f"there are {len(corpus)} sentence pairs, and one of {every} is held out: none is")


def _tell_unused(folder: Path, networks: int) -> None:
    used = {f"{number}.state" for number in range(1, networks + 1)}
    for path in sorted(folder.glob("*.state")):
        if path.name not in used:
            problem = f"{path}: the state of network {path.stem}, of which this run trains {networks}; it is not used"
            warnings.warn(problem, stacklevel=3)


def _trained(
    corpus: JointCorpus,
    held_out: JointCorpus,
    options: JointOptions,
    threads: int,
    state: PathLike | None,
    progress: Progress,
    begin: Callable[[int], None],
    report: Callable[[JointEpoch], None],
) -> JointModel:
    made = []
    for number, one in enumerate(options.each(), start=1):
        begin(number)
        file = os.fspath(Path(state) / f"{number}.state") if state else ""
        earlier = (number - 1) * options.epochs

        def count(epoch: int, done: int, total: int, earlier: int = earlier) -> None:
            progress(earlier + epoch, done, total)

        try:
            with open_learner(one, threads) as learner:
                made.append(_core.train_joint(corpus, held_out, one.for_core(), threads, file, count, report, learner))
        except TreeglotError:  # a damaged state is a FormatError, which is a ValueError too
            raise
        except ValueError as error:
            raise UsageError(str(error)) from error
    return average(made) if len(made) > 1 else made[0]


def _corpora(
    pairs: Iterable[LinkedPair | ParsedPair], every: int, options: JointOptions, called: str = "sentence pair"
) -> tuple[JointCorpus, JointCorpus]:
    """Split the pairs into training and held-out pairs. Every `every`th pair is held out; 0 holds out none."""
    both = [JointCorpus(options.lexical, options.heads) for _ in range(2)]
    for number, pair in enumerate(pairs, start=1):
        parse, tree = (*pair[3:], None, None)[:2]
        try:
            both[every > 0 and number % every == 0].add(
                *pair[:3], parse if options.parse else None, tree if options.heads else None
            )
        except ValueError as error:
            raise UsageError(f"{called} {number}: {error}") from error
    if missing := both[0].treeless + both[1].treeless:
        warnings.warn(f"{missing:,} {called}s have no target dependency tree, and are left out", stacklevel=3)
    return both[0], both[1]


def load_joint(path: PathLike, *, verify: bool = True, wait: bool = True) -> JointModel:
    """Map the file of a model into memory. With `verify=False`, it is not checked, so damage goes unnoticed.

    `wait=False` opens a large file at once. Translations then verify the blocks that they use, and damage raises
    `FormatError`.
    """
    return JointModel.open(os.fspath(path), opening(verify, wait))
