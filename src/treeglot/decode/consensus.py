"""Agreement among hypotheses: minimum Bayes risk for one list, and consensus among the lists of several systems.

The gain of a text is linear in its n-grams (Tromble et al. 2008). Each n-gram adds its probability among the
hypotheses, times a weight that grows with its length. Each word costs 1. The largest gain approximates the highest
expected BLEU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from treeglot import _core
from treeglot.base.later import Later
from treeglot.base.options import Options, option

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = Later("numpy")

ORDER = 4  # of the longest n-grams that count, as in BLEU

Scored: TypeAlias = tuple[str, float]  # a text with its model's score (natural log)


@dataclass(frozen=True)
class ConsensusOptions(Options):
    """Options that define how much a text gains from n-grams that others agree on."""

    scale: float = option(1.0, "scores times this are log-probabilities: the smaller, the more the last count", above=0)
    # The paper has 0.7. On zh-en dev that makes the output of five systems 4 to 7 % too short (bench/RESULTS.md).
    precision: float = option(0.5, "how many of an output's words are expected in a reference", above=0, most=1)
    ratio: float = option(
        0.6, "how many n-grams of n + 1 words, for one of n words", above=0, most=1, paper="Tromble et al. 2008"
    )
    found: int = option(20, "texts that a search forest adds, those that gain most (--again)", least=1)
    margin: float = option(
        5.0, "derivations that score so far below the forest's best are left out", least=0, infinite=True
    )

    def ngram_weights(self) -> list[float]:
        """Return the weights of n-grams by their length, beginning with single words.

        >>> ConsensusOptions(precision=0.5, ratio=0.5).ngram_weights()
        [0.5, 1.0, 2.0, 4.0]
        """
        return [1 / (ORDER * self.precision * self.ratio**n) for n in range(ORDER)]


@dataclass(frozen=True, eq=False)
class Agreement:
    """The distinct texts in the lists of one sentence, and how far each list agrees with them."""

    texts: list[str]
    words: npt.NDArray[np.float64]  # by text
    own: npt.NDArray[np.float64]  # by text and list: the text's probability
    ngrams: npt.NDArray[np.float64]  # by text, list and order: the sum of its n-grams' probabilities

    @staticmethod
    def of(lists: Sequence[Sequence[Scored]], scale: float = 1.0) -> Agreement:
        """Collect the texts of one sentence from all lists.

        >>> found = Agreement.of([[("a b", 0.0), ("a c", 0.0)], [("a b", -3.0)]])
        >>> found.texts, found.own.tolist()
        (['a b', 'a c'], [[0.5, 1.0], [0.5, 0.0]])
        >>> found.ngrams[0].tolist()  # in the first list a is certain, b and a b as likely as not
        [[1.5, 0.5, 0.0, 0.0], [2.0, 1.0, 0.0, 0.0]]
        """
        texts, values = _core.agreement([list(each) for each in lists], ORDER, scale)
        rows = values.reshape(len(texts), 1 + len(lists) * (1 + ORDER))
        each = rows[:, 1:].reshape(len(texts), len(lists), 1 + ORDER)
        return Agreement(texts, rows[:, 0], each[:, :, 0], each[:, :, 1:])

    def of_first(self, lists: int) -> Agreement:
        """Let only the first lists vote. The texts of other lists remain, but do not count."""
        return Agreement(self.texts, self.words, self.own[:, :lists], self.ngrams[:, :lists])

    def gains(self, options: ConsensusOptions) -> npt.NDArray[np.float64]:
        """Return the gain of each text, with equal weight for all lists."""
        return np.asarray(self.ngrams.mean(axis=1) @ options.ngram_weights() - self.words)


def ranked(texts: Sequence[Scored], options: ConsensusOptions) -> list[int]:
    """Rank the distinct texts of one list by their gain, and return their places, with the largest gain first.

    >>> ranked([("a b c d", -1.0), ("a x c e", -1.1), ("a x c d", -1.2)], ConsensusOptions())
    [2, 1, 0]
    """
    gains = Agreement.of([texts], options.scale).gains(options)
    return sorted(range(len(texts)), key=lambda place: (-gains[place], place))
