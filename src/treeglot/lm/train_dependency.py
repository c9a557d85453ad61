"""Training the dependency language model of Shen et al. (2008)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from treeglot._core import Dependency, DependencyEstimate, DependencyTrainer, DependencyUnit, EstimatedNgrams
from treeglot.base.errors import UsageError
from treeglot.lm.text import Progress
from treeglot.lm.train import FALLBACK, DiscountWarning

SENTENCES_AT_A_TIME = 1000


@dataclass(frozen=True)
class DependencyTraining:
    """What training made: the models of left children, right children and roots, and what they were made from."""

    left: EstimatedNgrams
    right: EstimatedNgrams
    root: EstimatedNgrams
    unit: Literal["words", "tags"]
    sentences: int
    events: tuple[int, int, int]  # left children, right children, roots
    fallbacks: tuple[tuple[str, int, str], ...]  # model, order, why its discounts could not be estimated


def train_dependency(
    sentences: Iterable[Dependency],
    unit: Literal["words", "tags"] = "words",
    *,
    fallback: tuple[float, float, float] = FALLBACK,
    progress: Progress | None = None,
) -> DependencyTraining:
    """Estimate a dependency language model over words or tags.

    Each of the three models is an n-gram model over windows. A window has the previous sibling (`<s>` for the first
    child), the head (marked with `<h>`) and the child. In any context, the probabilities of all known words and `<unk>`
    sum to 1. If discounts cannot be estimated, as is usual over tags, `fallback` replaces them with a
    `DiscountWarning`.

    >>> sentence = Dependency(["she", "saw", "old", "dogs"], [1, -1, 3, 1])
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     training = train_dependency([sentence])
    >>> training.events
    (2, 1, 1)
    >>> words = training.left.vocabulary
    >>> [" ".join(words[i] for i in window) for window in training.left.words(3).reshape(-1, 3)]
    ['<s> <h>saw she', '<s> <h>dogs old']
    """
    if unit not in ("words", "tags"):
        raise UsageError(f"unit is {unit!r}; expected 'words' or 'tags'")
    trainer = DependencyTrainer(DependencyUnit[unit], fallback)
    rest = iter(sentences)
    while some := list(islice(rest, SENTENCES_AT_A_TIME)):
        trainer.add(some)
        if progress is not None:
            progress("counting", trainer.sentences, 0)
    return estimate_dependency(trainer, unit, fallback)


def estimate_dependency(
    trainer: DependencyTrainer, unit: Literal["words", "tags"], fallback: tuple[float, float, float] = FALLBACK
) -> DependencyTraining:
    """The model of what a trainer counted; the trainer is of no use afterwards."""
    events = trainer.events
    estimate = trainer.finish()
    fallbacks = _fallbacks(estimate)
    if fallbacks:
        orders = ", ".join(f"{model} {order}" for model, order, _ in fallbacks)
        used = ", ".join(f"{amount:g}" for amount in fallback)
        warnings.warn(f"{fallbacks[0][2]}; fallback discounts {used} for: {orders}", DiscountWarning, stacklevel=3)
    return DependencyTraining(
        estimate.left.ngrams, estimate.right.ngrams, estimate.root.ngrams, unit, trainer.sentences, events, fallbacks
    )


def _fallbacks(estimate: DependencyEstimate) -> tuple[tuple[str, int, str], ...]:
    models = {"left": estimate.left, "right": estimate.right, "root": estimate.root}
    return tuple((name, order, problem) for name, model in models.items() for order, problem in model.fallbacks)
