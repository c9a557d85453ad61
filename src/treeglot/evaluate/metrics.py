"""Metrics: BLEU, chrF and TER. They count statistics for each sentence, and score a sum of statistics.

Scores that a user sees come from sacreBLEU (`treeglot.evaluate.report`). Tuning needs many scores, so the core counts
the statistics of BLEU. sacreBLEU counts those of chrF and TER.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from treeglot import _core
from treeglot.base.later import Later
from treeglot.base.options import Options, option

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from sacrebleu.metrics.base import Metric as SacreMetric
else:
    np = Later("numpy")

Statistics: TypeAlias = "npt.NDArray[np.float64]"  # a row per sentence
Length: TypeAlias = Literal["closest", "shortest"]
Smooth: TypeAlias = Literal["none", "exp", "add-one", "add-one-length"]


@dataclass(frozen=True)
class Metric(Options, ABC):
    """The interface of a metric: it counts statistics of sentences, and scores sums of statistics."""

    name: ClassVar[str]
    lowercase: bool = option(False, "compare without regard to case")

    @property
    @abstractmethod
    def core(self) -> _core.Metric:
        """The implementation of this metric in the core."""

    @property
    def higher_is_better(self) -> bool:
        """Whether a better translation has a higher score."""
        return self.core.higher_is_better

    @abstractmethod
    def prepare(self, references: Sequence[Sequence[str]]) -> References:
        """Prepare references for repeated use. Each reference translation is one list of sentences."""

    def statistics(self, translations: Sequence[str], references: Sequence[Sequence[str]]) -> Statistics:
        """Count statistics: one row for each sentence.

        >>> Ter().statistics(["the cat sat", "a dog"], [["sat the cat", "a dog"], ["the cat sat .", "the dog"]])
        array([[1. , 3.5],
               [0. , 2. ]])
        """
        return self.prepare(references).statistics(translations)

    def score(self, statistics: npt.ArrayLike) -> float:
        """Return the score of one row of statistics, or of the sum of many rows.

        >>> rows = Bleu().statistics(["the cat sat on it", "a dog"], [["the cat sat on a mat", "the dog"]])
        >>> round(Bleu().score(rows), 2)
        53.29
        """
        rows = np.asarray(statistics, dtype=np.float64)
        return float(self.scores(rows if rows.ndim == 1 else rows.sum(axis=0))[0])

    def score_of_part(self, statistics: Statistics, part: npt.NDArray[np.bool_]) -> float:
        """Return the score of some sentences.

        Properties of the whole text, such as its length for BLEU, come from all rows.

        >>> rows = Bleu().statistics(["a b c d e", "f g h i"], [["a b c d e", "f g h i j k"]])
        >>> first = np.array([True, False])
        >>> round(Bleu().score(rows[first]), 2), round(Bleu().score_of_part(rows, first), 2)
        (100.0, 80.07)
        """
        return self.core.score_of_part(statistics[part].sum(axis=0), statistics.sum(axis=0))

    def scores(self, statistics: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the score of every row of statistics.

        >>> bleu = Bleu(smooth="add-one")
        >>> bleu.scores(bleu.statistics(["the cat sat", "a dog"], [["the cat sat", "the dog"]])).round(2)
        array([100.  ,  70.71])
        """
        rows = np.atleast_2d(np.asarray(statistics, dtype=np.float64))
        if rows.shape[1] != self.core.width:
            raise ValueError(f"rows of {rows.shape[1]} statistics; {self.name} has {self.core.width}")
        return self.core.scores(np.ascontiguousarray(rows).ravel())


@dataclass(frozen=True)
class Bleu(Metric):
    """BLEU (Papineni et al. 2002) of words separated by blanks, the same as sacreBLEU's with `tokenize="none"`.

    The statistics of a sentence are its length and the length of the reference. For n = 1, 2, …, they also contain the
    number of matching n-grams and of all n-grams.

    There are three smoothings:

    - `exp` is that of sacreBLEU and NIST for corpora.
    - `add-one` adds one match and one n-gram to every order above 1. This is the usual BLEU+1 of single sentences (Lin
      and Och 2004).
    - `add-one-length` also makes the reference one word longer. Without this, tuning towards BLEU+1 leads to short
      output (Nakov et al. 2012).

    >>> Bleu().statistics(["the cat sat on it"], [["the cat sat on a mat"]])
    array([[5., 6., 4., 3., 2., 1., 5., 4., 3., 2.]])
    >>> Bleu(length="shortest").statistics(["a b c"], [["a b c d"], ["a"]])[0, :2]
    array([3., 1.])
    """

    name: ClassVar[str] = "BLEU"
    length: Length = option("closest", "which reference's length counts: the closest or the shortest")
    smooth: Smooth = option("exp", "what is done about n-grams without a match")
    order: int = option(4, "the longest n-grams", least=1, most=32)

    @cached_property
    def core(self) -> _core.BleuMetric:
        """The implementation of this metric in the core."""
        return _core.BleuMetric(self)

    def prepare(self, references: Sequence[Sequence[str]]) -> References:
        """Prepare references for repeated use. Each reference translation is one list of sentences."""
        return BleuReferences(self, references)


@dataclass(frozen=True)
class Chrf(Metric):
    """chrF (Popović 2015), or chrF++ with `word_order=2`: the F-score of character n-grams without blanks.

    For each order, the statistics of a sentence are the n-grams of the translation, those of the reference, and the
    matches.

    >>> Chrf().score(Chrf().statistics(["the cat"], [["the cat"]]))
    100.0
    """

    name: ClassVar[str] = "chrF"
    character_order: int = option(6, "the longest n-grams of characters", least=1, most=32)
    word_order: int = option(0, "the longest n-grams of words; 2 for chrF++", least=0, most=32)
    beta: float = option(2.0, "how many times recall counts as much as precision", above=0)

    @cached_property
    def core(self) -> _core.Metric:
        """The implementation of this metric in the core."""
        return _core.ChrfMetric(self)

    def prepare(self, references: Sequence[Sequence[str]]) -> References:
        """Prepare references for repeated use. Each reference translation is one list of sentences."""
        from sacrebleu.metrics.chrf import CHRF

        orders = {"char_order": self.character_order, "word_order": self.word_order}
        return SacreReferences(self, CHRF(beta=self.beta, lowercase=self.lowercase, **orders), references)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Ter(Metric):
    """TER (Snover et al. 2006): edits per reference word, including moves of blocks. Lower is better.

    The statistics of a sentence are the edits and the mean length of the references.
    """

    name: ClassVar[str] = "TER"
    lowercase: bool = option(True, "compare without regard to case, as is usual for TER")

    @cached_property
    def core(self) -> _core.Metric:
        """The implementation of this metric in the core."""
        return _core.TerMetric()

    def prepare(self, references: Sequence[Sequence[str]]) -> References:
        """Prepare references for repeated use. Each reference translation is one list of sentences."""
        from sacrebleu.metrics.ter import TER

        return SacreReferences(self, TER(case_sensitive=not self.lowercase), references)


class References(ABC):
    """The interface of prepared references: they count statistics of translations for a metric.

    >>> references = Bleu().prepare([["a b", "c d"]])
    >>> references.statistics(["a", "a b", "c"], sentences=[0, 0, 1])[:, :4]
    array([[1., 2., 1., 0.],
           [2., 2., 2., 1.],
           [1., 2., 1., 0.]])
    """

    metric: Metric

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of sentences that have references."""

    @abstractmethod
    def statistics(self, translations: Sequence[str], sentences: npt.ArrayLike | None = None) -> Statistics:
        """Count a row for each translation.

        `sentences` contains the numbers of the translated sentences. By default, these are all, in order.
        """


class BleuReferences(References):
    """References for BLEU, prepared in the core."""

    def __init__(self, metric: Bleu, references: Sequence[Sequence[str]]) -> None:
        """Prepare the references. Each reference translation is one list of sentences."""
        self.metric = metric
        self._core = metric.core.prepare([self._lines(lines) for lines in references])

    def __len__(self) -> int:
        return self._core.sentences

    def statistics(self, translations: Sequence[str], sentences: npt.ArrayLike | None = None) -> Statistics:
        """Count a row for each translation.

        `sentences` contains the numbers of the translated sentences. By default, these are all, in order.
        """
        numbers = np.arange(len(self)) if sentences is None else sentences
        rows = self._core.statistics(self._lines(translations), np.ascontiguousarray(numbers, dtype=np.uint32))
        return rows.reshape(-1, self._core.width)

    def _lines(self, lines: Sequence[str]) -> Sequence[str]:
        _check_lines(lines)
        return [line.lower() for line in lines] if self.metric.lowercase else lines


class SacreReferences(References):
    """References for a metric of sacreBLEU."""

    def __init__(self, metric: Metric, sacre: SacreMetric, references: Sequence[Sequence[str]]) -> None:
        """Prepare the references. Each reference translation is one list of sentences."""
        for lines in references:
            _check_lines(lines)
        self.metric = metric
        self._sacre = sacre
        self._references = list(zip(*references, strict=True))

    def __len__(self) -> int:
        return len(self._references)

    def statistics(self, translations: Sequence[str], sentences: npt.ArrayLike | None = None) -> Statistics:
        """Count a row for each translation.

        `sentences` contains the numbers of the translated sentences. By default, these are all, in order.
        """
        numbers = np.arange(len(self)) if sentences is None else np.asarray(sentences)
        chosen = [self._references[number] for number in numbers]
        _check_lines(translations)
        if len(chosen) != len(translations):
            raise ValueError(f"there are {len(translations)} translations of {len(chosen)} sentences")
        rows = self._sacre._extract_corpus_statistics(translations, list(zip(*chosen, strict=True))) if chosen else []
        return np.array(rows, dtype=np.float64).reshape(-1, self.metric.core.width)


def _check_lines(lines: Sequence[str]) -> None:
    if isinstance(lines, str):
        raise TypeError(f"{lines[:20]!r} is one text; expected a list of sentences")
