"""Fits the confidence of a model on sentences with references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from treeglot.base.errors import UsageError
from treeglot.decode.confidence import FILE, LIST, ConfidenceModel, Features, features

if TYPE_CHECKING:
    from treeglot.decode import Translation
    from treeglot.models.model import Model
    from treeglot.models.reading import Given

LEAST = 20  # sentences


@dataclass(frozen=True)
class Fitted:
    """The result of a fit: counts of the data, and how well each half predicts the other."""

    sentences: int
    words: int
    sentence_area: float
    word_area: float


@dataclass(frozen=True)
class Judged:
    """Translated sentences with their features, and the quality of their words and texts by the references."""

    rows: list[Features]
    chrf: npt.NDArray[np.float64]  # by sentence
    words: list[list[bool]]  # by sentence: which words of the output the reference has

    def some(self, chosen: Sequence[int]) -> Judged:
        """Return a selection of the sentences."""
        return Judged([self.rows[i] for i in chosen], self.chrf[list(chosen)], [self.words[i] for i in chosen])

    def fit(self, median: float) -> ConfidenceModel:
        """Fit one model for "chrF is at least `median`", and one for "the reference contains the word"."""
        good = (self.chrf >= median).astype(np.float64)
        return ConfidenceModel.fit(self.rows, good, [one for each in self.words for one in each])


def judge(model: Model, sources: Sequence[Given], references: Sequence[str], threads: int = 1) -> Judged:
    """Translate sentences, and compute their quality by their references."""
    from treeglot.evaluate import Chrf

    if len(sources) != len(references):
        raise UsageError(f"{len(sources):,} sentences and {len(references):,} references; expected as many")
    found = model.translate_batch(sources, LIST, True, threads)
    kept = [i for i, one in enumerate(found) if one.hypotheses and len(one.sentences) == 1]
    rows = [features(len(found[i].words), found[i].hypotheses, model.translator.rule_scores) for i in kept]
    metric = Chrf()
    statistics = metric.statistics([found[i].text for i in kept], [[references[i] for i in kept]])
    words: list[list[bool]] = []
    for i in kept:
        left = Counter(model.reader.target_words(references[i], sources[i]))
        words.append([])
        for word in filter(None, found[i].best.text.split(" ")):
            words[-1].append(left[word] > 0)
            left[word] -= 1
    return Judged(rows, metric.scores(statistics), words)


def fit_confidence(model: Model, sources: Sequence[Given], references: Sequence[str], threads: int = 1) -> Fitted:
    """Fit the confidence of a model, and write it into the model's folder."""
    judged = judge(model, sources, references, threads)
    if len(judged.rows) < LEAST:
        raise UsageError(f"{len(judged.rows)} sentences were translated; expected {LEAST} or more")
    median = float(np.median(judged.chrf))
    judged.fit(median).write(model.directory / FILE)
    halves = [judged.some(range(half, len(judged.rows), 2)) for half in (0, 1)]
    areas = [areas_of(one.fit(median), other, median) for one, other in (halves, halves[::-1])]
    sentence, word = (float(np.mean(column)) for column in zip(*areas, strict=True))
    return Fitted(len(judged.rows), sum(map(len, judged.words)), sentence, word)


def translate_sure(
    model: Model,
    least: float,
    sources: Iterable[Given],
    kbest: int = 1,
    distinct: bool = False,
    threads: int = 1,
) -> list[Translation]:
    """Translate like the model, but without an output for sentences whose confidence is below `least`."""
    alone = kbest == 1  # what confidence is judged from can be had with the translation
    found = model.translate_batch(sources, *((LIST, True) if alone else (kbest, distinct)), threads)
    note = f"left out: a confidence below {least:g}"
    sure = [one if one.confidence >= least else one.left_out(note) for one in found]
    return [one.with_hypotheses(one.hypotheses[:1]) if alone and len(one.sentences) == 1 else one for one in sure]


def areas_of(fitted: ConfidenceModel, judged: Judged, median: float) -> tuple[float, float]:
    """Return the ROC areas of a fitted model on other sentences: the area for sentences, and the area for words."""
    sentences = fitted.sentence([row for row, _ in judged.rows])
    words = fitted.word([word for _, each in judged.rows for word in each])
    good = [one for each in judged.words for one in each]
    return roc_area(sentences, judged.chrf >= median), roc_area(words, good)


def roc_area(scores: npt.ArrayLike, good: npt.ArrayLike) -> float:
    """Return the probability that a good item scores more than a bad one. A tie counts half.

    >>> roc_area([1, 2, 3, 4], [False, True, False, True])
    0.75
    """
    from scipy.stats import rankdata

    wanted = np.asarray(good, dtype=bool)
    positive, negative = int(wanted.sum()), int((~wanted).sum())
    if not positive or not negative:
        return 0.5
    ranks = rankdata(np.asarray(scores, dtype=float))
    return float((ranks[wanted].sum() - positive * (positive + 1) / 2) / (positive * negative))
