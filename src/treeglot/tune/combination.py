"""Combines the k-best lists of several systems: chooses the text that they agree on most.

Every system with k-best lists can take part, also Moses and cdec. Scores of different models have different scales, so
each system's lists are rescaled. Features measure how much a text has in common with the lists. Scorers add further
features: they can be any model that scores a translation of a sentence. The weights are those of the linear gain, or
are tuned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import PathLike
from treeglot.decode.consensus import ORDER, Agreement, ConsensusOptions, Scored
from treeglot.decode.kbest import read_kbest
from treeglot.evaluate import Bleu
from treeglot.tune.hopes import Hopes
from treeglot.tune.kbest import KBest
from treeglot.tune.method import METHODS
from treeglot.tune.pool import Pool
from treeglot.tune.rerank import Scorer, check_weights, scores_of

Lists: TypeAlias = list[list[Scored]]  # by sentence

RANGE = 10.0  # log-probability between the best and the last of a list, in the mean, at a scale of 1


def read_lists(path: PathLike, size: int) -> Lists:
    """Read a k-best list. Return the first `size` entries of each sentence; sentences without entries get none."""
    lists: Lists = []
    for number, entry in enumerate(read_kbest(path), 1):
        if entry.score is None:
            raise FormatError(str(path), number, "has no score; expected SENTENCE ||| TRANSLATION ||| … ||| SCORE")
        if entry.sentence < len(lists) - 1:
            problem = f"sentence {entry.sentence} after sentence {len(lists) - 1}; expected them in order"
            raise FormatError(str(path), number, problem)
        lists += [[] for _ in range(entry.sentence + 1 - len(lists))]
        if len(lists[entry.sentence]) < size:
            lists[entry.sentence].append((entry.text, entry.score))
    return lists


def lists_of(found: KBest) -> Lists:
    """Return the texts and scores of a decoder's lists, by sentence."""
    if found.scores is None:
        raise ValueError("a k-best list without scores; expected those of a decoder")
    lists: Lists = [[] for _ in range(len(found))]
    for sentence, text, score in zip(found.sentences().tolist(), found.texts, found.scores.tolist(), strict=True):
        lists[sentence].append((text, score))
    return lists


def scaled(lists: Lists) -> Lists:
    """Rescale scores so that their range is `RANGE` on average.

    >>> scaled([[("a", 0.0), ("b", -1.0)], [("c", 7.0), ("d", 4.0)]])
    [[('a', 0.0), ('b', -5.0)], [('c', 35.0), ('d', 20.0)]]
    """
    scores = [[score for _, score in each] for each in lists if each]
    mean = float(np.mean([max(each) - min(each) for each in scores])) if scores else 0.0
    factor = RANGE / mean if mean > 0 else 1.0
    return [[(text, factor * score) for text, score in each] for each in lists]


def feature_names(systems: Iterable[str], scorers: Iterable[str] = ()) -> list[str]:
    """Return the names of the features of a combination of these systems and scorers."""
    names = ["words", *(f"ngram_{n + 1}" for n in range(ORDER))]
    return [*names, *(f"{kind}_{name}" for kind in ("agree", "own") for name in systems), *scorers]


class Combination:
    """The texts of all systems for the same sentences. Features measure how much the systems agree on each text.

    `best` chooses a text for each sentence. `candidates` are further texts that can be chosen, but do not vote.
    `scorers` score each text as a translation of its sentence in `sources`. Their weights are 0 until they are tuned.

    >>> lists = {"a": [[("x y", -1.0), ("x z", -2.0)]], "b": [[("x z", -1.0), ("w z", -1.5)]]}
    >>> Combination(lists).best()
    ['x z']
    >>> long = Combination(lists, sources=["s"], scorers={"long": lambda pairs: [len(text) for _, text in pairs]})
    >>> long.best({"long": -1.0, "own_a": 0.5})
    ['x y']
    """

    def __init__(
        self,
        systems: Mapping[str, Lists],
        options: ConsensusOptions = ConsensusOptions(),  # noqa: B008
        candidates: Sequence[Sequence[str]] = (),
        sources: Sequence[str] = (),
        scorers: Mapping[str, Scorer] | None = None,
    ) -> None:
        self.names, self.scorers = list(systems), list(scorers or ())
        self.options = options
        sentences = max((len(lists) for lists in systems.values()), default=0)
        ready = [scaled(lists) for lists in systems.values()]
        padded = [lists + [[] for _ in range(sentences - len(lists))] for lists in ready]
        more = [[(text, 0.0) for text in texts] for texts in candidates] or [[] for _ in range(sentences)]
        self.found = [
            Agreement.of([*(lists[i] for lists in padded), more[i]], options.scale).of_first(len(padded))
            for i in range(sentences)
        ]
        self.scored = self._scored(sources, scorers or {})

    def _scored(self, sources: Sequence[str], scorers: Mapping[str, Scorer]) -> list[npt.NDArray[np.float64]]:
        """Return the scorers' values for the texts of each sentence. All texts are scored at once."""
        if not scorers:
            return [np.zeros((len(one.texts), 0)) for one in self.found]
        if len(sources) != len(self.found):
            raise UsageError(f"there are {len(sources):,} source sentences; the lists have {len(self.found):,}")
        pairs = [(source, text) for source, one in zip(sources, self.found, strict=True) for text in one.texts]
        values = scores_of(scorers, pairs, feature_names(self.names))
        rows = np.column_stack([values[name] for name in scorers])
        ends = np.cumsum([0, *(len(one.texts) for one in self.found)]).tolist()
        return [rows[begin:end] for begin, end in pairwise(ends)]

    def __len__(self) -> int:
        return len(self.found)

    @property
    def features(self) -> list[str]:
        """The names of the features that describe each text.

        - `words`: the number of words.
        - `ngram_1` …: the n-grams' probabilities, averaged over all systems.
        - `agree_NAME`: the gain by the n-grams of one system.
        - `own_NAME`: the probability that the system gives the text.
        - the scorers' names: what they say of the text.
        """
        return feature_names(self.names, self.scorers)

    def rows(self, sentence: int) -> npt.NDArray[np.float64]:
        """Return the features of one sentence's texts, row by row."""
        found = self.found[sentence]
        means, each = found.ngrams.mean(axis=1), found.ngrams @ self.options.ngram_weights()
        return np.column_stack([found.words, means, each, found.own, self.scored[sentence]])

    def hopes(self) -> Hopes:
        """Describe what a search in the systems' forests should find: texts with a high gain, whatever their scores."""
        options = self.options
        shares = [
            [(text, float(share)) for text, share in zip(found.texts, found.own.mean(axis=1), strict=True) if share > 0]
            for found in self.found
        ]
        gains = -1.0, tuple(options.ngram_weights())
        return Hopes(options.found, 0.0, *gains, False, shares, margin=options.margin, fears=False)

    def candidates(self, found: Iterable[KBest]) -> list[list[str]]:
        """Return the texts that searches for `hopes` found, without duplicates, by sentence."""
        out: list[dict[str, None]] = [{} for _ in self.found]
        for each in found:
            for sentence, text in zip(each.sentences().tolist(), each.texts, strict=True):
                out[sentence].setdefault(text)
        return [list(texts) for texts in out]

    def kbest(self) -> KBest:
        """Return all texts with their features, as a k-best list."""
        names, texts = self.features, [text for found in self.found for text in found.texts]
        first = np.cumsum([0, *(len(found.texts) for found in self.found)], dtype=np.uint32)
        values = np.concatenate([np.zeros((0, len(names))), *map(self.rows, range(len(self)))]).astype(np.float32)
        ends = np.arange(len(texts) + 1, dtype=np.uint64) * len(names)
        features = np.tile(np.arange(len(names), dtype=np.uint32), len(texts))
        return KBest(names, first, texts, ends, features, values.ravel())

    def start(self) -> dict[str, float]:
        """Return the initial weights, which are those of the linear gain with equal weight for all systems."""
        return {"words": -1.0} | {f"ngram_{n + 1}": w for n, w in enumerate(self.options.ngram_weights())}

    def best(self, weights: Mapping[str, float] | None = None) -> list[str]:
        """Return the best text of each sentence, or an empty text if no system has one."""
        weighed = self.start() if weights is None else weights
        check_weights(weighed, self.features)
        each = np.array([weighed.get(name, 0.0) for name in self.features])
        return [one.texts[int(np.argmax(self.rows(i) @ each))] if one.texts else "" for i, one in enumerate(self.found)]

    def tuned(
        self, references: Sequence[Sequence[str]], metric: Bleu | None = None, method: str = "mira", seed: int = 1
    ) -> dict[str, float]:
        """Tune the weights on these references, and return them."""
        pool = Pool((metric or Bleu()).prepare(references)).merged(self.kbest())
        return METHODS.make(method, {}).update(pool, self.start(), seed=seed).weights
