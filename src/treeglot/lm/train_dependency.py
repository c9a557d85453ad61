"""Trains the dependency language model of Shen et al. (2008)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeAlias, get_args

from treeglot._core import (
    Dependency,
    DependencyConditioning,
    DependencyEstimate,
    DependencyTrainer,
    DependencyUnit,
    EstimatedNgrams,
)
from treeglot.base.errors import UsageError
from treeglot.base.options import Options, option
from treeglot.lm.text import Progress
from treeglot.lm.train import FALLBACK, DiscountWarning

Unit: TypeAlias = Literal["words", "tags"]
Conditioning: TypeAlias = Literal["sibling", "trigram"]

CONDITIONING: Conditioning = "trigram"
SENTENCES_AT_A_TIME = 1000


@dataclass(frozen=True)
class DependencyLmOptions(Options):
    """Options for training dependency language models."""

    conditioning: Conditioning = option(
        CONDITIONING, "context of a child: its head and last sibling, or the last two of head and siblings"
    )


@dataclass(frozen=True)
class DependencyTraining:
    """The result of training: models of left children, right children and roots, and counts of the data."""

    left: EstimatedNgrams
    right: EstimatedNgrams
    root: EstimatedNgrams
    unit: Unit
    conditioning: Conditioning
    sentences: int
    events: tuple[int, int, int]  # left children, right children, roots
    fallbacks: tuple[tuple[str, int, str], ...]  # model, order, why its discounts could not be estimated


def train_dependency(
    sentences: Iterable[Dependency],
    unit: Unit = "words",
    *,
    conditioning: Conditioning = CONDITIONING,
    fallback: tuple[float, float, float] = FALLBACK,
    progress: Progress | None = None,
) -> DependencyTraining:
    """Estimate a dependency language model over words or tags.

    Each of the three models is an n-gram model over windows. With the conditioning `trigram`, a window contains three
    neighbours in a sequence. The sequence consists of the head (marked with `<h>`) and its children on one side. The
    window of the first child contains only two. With `sibling`, a window contains the previous sibling (`<s>` for the
    first child), the head and the child. In any context, the probabilities of all known words and `<unk>` sum to 1. If
    discounts cannot be estimated, as is usual over tags, `fallback` replaces them with a `DiscountWarning`.

    >>> sentence = Dependency(["the", "old", "man", "saw", "her"], [2, 2, 3, -1, 3])
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     training = train_dependency([sentence])
    >>> training.events
    (3, 1, 1)
    >>> words = training.left.vocabulary
    >>> [" ".join(words[i] for i in window) for window in training.left.words(3).reshape(-1, 3)]
    ['<h>man old the']
    """
    for name, given, known in (("unit", unit, Unit), ("conditioning", conditioning, Conditioning)):
        if given not in get_args(known):
            raise UsageError(f"{name} is {given!r}; expected {' or '.join(map(repr, get_args(known)))}")
    trainer = new_trainer(unit, conditioning, fallback)
    rest = iter(sentences)
    while some := list(islice(rest, SENTENCES_AT_A_TIME)):
        trainer.add(some)
        if progress is not None:
            progress("counting", trainer.sentences, 0)
    return estimate_dependency(trainer, unit, conditioning, fallback)


def new_trainer(
    unit: Unit, conditioning: Conditioning, fallback: tuple[float, float, float] = FALLBACK
) -> DependencyTrainer:
    """Return a trainer that has seen no sentences yet."""
    return DependencyTrainer(DependencyUnit[unit], fallback, DependencyConditioning[conditioning])


def estimate_dependency(
    trainer: DependencyTrainer,
    unit: Unit,
    conditioning: Conditioning,
    fallback: tuple[float, float, float] = FALLBACK,
) -> DependencyTraining:
    """Estimate the model from a trainer's counts. The trainer cannot be used afterwards."""
    events = trainer.events
    estimate = trainer.finish()
    fallbacks = _fallbacks(estimate)
    if fallbacks:
        orders = ", ".join(f"{model} {order}" for model, order, _ in fallbacks)
        used = ", ".join(f"{amount:g}" for amount in fallback)
        warnings.warn(f"{fallbacks[0][2]}; fallback discounts {used} for: {orders}", DiscountWarning, stacklevel=3)
    return DependencyTraining(
        left=estimate.left.ngrams,
        right=estimate.right.ngrams,
        root=estimate.root.ngrams,
        unit=unit,
        conditioning=conditioning,
        sentences=trainer.sentences,
        events=events,
        fallbacks=fallbacks,
    )


def _fallbacks(estimate: DependencyEstimate) -> tuple[tuple[str, int, str], ...]:
    models = {"left": estimate.left, "right": estimate.right, "root": estimate.root}
    return tuple((name, order, problem) for name, model in models.items() for order, problem in model.fallbacks)
