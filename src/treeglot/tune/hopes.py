"""Finds hopes and fears in a search: high-scoring translations with a large or small gain (Chiang et al. 2009).

A k-best list contains the model's favourites. Better translations are often further down, so they are searched for in
the hypergraph of the search. There, the gain must be a sum over words and n-grams. So BLEU is approximated by a linear
function near the current output.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from treeglot.base.errors import UsageError
from treeglot.evaluate import Bleu
from treeglot.evaluate.metrics import Metric, Statistics

Share: TypeAlias = tuple[str, float]  # a text, and how much its n-grams count: 1 for a reference


@dataclass(frozen=True)
class Hopes:
    """The number of hopes and fears per sentence, and the gains of words and n-grams."""

    size: int
    scale: float  # of scores beside gains
    per_word: float
    by_order: tuple[float, ...]  # of n-grams that references have, times their shares
    fold: bool  # the metric does not regard case
    references: Sequence[Sequence[Share]]  # of each sentence
    margin: float = 5.0  # derivations that score so far below the best are left out
    beam: int = 10  # parts of a hypothesis that differ in the words at their ends
    fears: bool = True  # beside hopes


def linear_gains(metric: Bleu, rows: Statistics) -> tuple[float, tuple[float, ...]]:
    """Return the gain in BLEU for one more word, and for one more matching n-gram of each order.

    Gains are derivatives of BLEU, at output with these statistics. They are multiplied by the references' length, so
    their unit is a word of the corpus.

    >>> bleu = Bleu(order=2)
    >>> word, orders = linear_gains(bleu, bleu.statistics(["a b c d"], [["a b c e"]]))
    >>> round(word, 3), [round(gain, 3) for gain in orders]
    (-0.825, [0.471, 0.707])
    """
    order = metric.order
    total = rows.sum(axis=0)
    words, wanted = total[:2]
    matches, ngrams = np.maximum(total[2 : 2 + order], 0.5), np.maximum(total[2 + order : 2 + 2 * order], 1.0)
    short = 0 < words < wanted
    penalty = np.exp(1 - wanted / words) if short else 1.0
    level = wanted * penalty * np.exp(np.mean(np.log(matches / ngrams)))
    per_word = level * ((wanted / words**2 if short else 0.0) - np.mean(1 / ngrams))
    return float(per_word), tuple((level / (order * matches)).tolist())


def hopes_for(metric: Metric, references: Sequence[Sequence[str]], rows: Statistics, size: int, scale: float) -> Hopes:
    """Describe what the next search should find, given output with these statistics. `references` are whole texts."""
    if not isinstance(metric, Bleu):
        raise UsageError(f"hopes are for BLEU; expected hopes = 0 with {metric.name}")
    per_word, by_order = linear_gains(metric, rows)
    folded = [[line.lower() if metric.lowercase else line for line in one] for one in zip(*references, strict=True)]
    lines = [[(line, 1.0) for line in one] for one in folded]
    return Hopes(size, scale, per_word, by_order, metric.lowercase, lines)
