"""What language models score word by word and piece by piece, with words in place of the core's numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from treeglot._core import ChartState, DependencySide, DependencyState, DependencyTally, NgramState
from treeglot.lm import DependencyModel, NgramModel
from treeglot.lm.ngram import WordScore

NO_SIBLING = 1  # the number of <s>


def ids(model: NgramModel, words: Iterable[str]) -> npt.NDArray[np.uint32]:
    return np.array([model.id(word) for word in words], np.uint32)


def score_word(model: NgramModel, state: NgramState, word: str) -> tuple[WordScore, NgramState]:
    """The score of a word after a state, and the state after it."""
    number = model.id(word)
    log10, length, after = model.core.score_word(state, number)
    return WordScore(log10, length, number == 0), after


def score_rule(
    model: NgramModel, parts: Sequence[str | ChartState], *, begins_sentence: bool = False
) -> tuple[float, ChartState]:
    """What words and pieces score when they are put together from left to right, and the state of the whole."""
    given = [model.id(part) if isinstance(part, str) else part for part in parts]
    return model.core.score_rule(given, begins_sentence)


def score_child(
    model: DependencyModel, side: str, child: str, head: str, sibling: str | None = None, before: str | None = None
) -> float:
    """The score of a left or right child of a head, after the sibling that is next to it on the head's side, if any.

    `before` is the sibling that is next to that one on the head's side, if any.
    """
    last, other = (NO_SIBLING if unit is None else model.id(unit) for unit in (sibling, before))
    return model.core.score_child(DependencySide[side], (last, other), model.id(head), model.id(child))[0]


def score_root(model: DependencyModel, word: str) -> float:
    return model.core.score_root(model.id(word))


def score_pieces(
    model: DependencyModel, items: Sequence[tuple[str | DependencyState, int]]
) -> tuple[float, DependencyState, DependencyTally]:
    """What words and pieces score when a rule puts them together; each has the position of its head, or -1."""
    parts = [model.id(item) if isinstance(item, str) else item for item, _ in items]
    return model.core.score_rule([head for _, head in items], parts)
