"""Reranks k-best lists with any other model: a command or a Python function that scores translations.

The new score of a translation is its score in the list plus a weighted sum of the scorers' values. The weights are
tuned on sentences with references. A scorer gets all translations of a list at once, so it can work in batches.
"""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import PathLike
from treeglot.base.numbers import LARGEST, parse_number
from treeglot.base.options import unknown
from treeglot.decode.kbest import read_kbest
from treeglot.evaluate.metrics import Metric
from treeglot.tune.kbest import Hypothesis, KBest
from treeglot.tune.method import METHODS, Update
from treeglot.tune.pool import Pool

ENDS = str.maketrans("\t\r\n", "   ")  # characters that end a field or a line
SCORE = "score"  # the feature that is the list's own score
Pairs: TypeAlias = Sequence[tuple[str, str]]  # source sentences with translations
Scorer: TypeAlias = Callable[[Pairs], Sequence[float]]


def command_scorer(command: str) -> Scorer:
    """Create a scorer from a shell command, which reads lines SOURCE, tab, TRANSLATION and prints a number for each.

    >>> command_scorer("awk -F'\\t' '{print -length($2)}'")([("das", "the"), ("haus", "house")])
    [-3.0, -5.0]
    """

    def score(pairs: Pairs) -> list[float]:
        lines = "".join(f"{_field(source)}\t{_field(text)}\n" for source, text in pairs)
        done = subprocess.run(command, shell=True, input=lines.encode(), stdout=subprocess.PIPE, check=False)
        if done.returncode:
            raise UsageError(f"the scorer {command!r} ended with status {done.returncode}; expected 0")
        printed = done.stdout.decode(errors="replace").splitlines()
        if len(printed) != len(pairs):
            raise UsageError(f"the scorer {command!r} printed {len(printed):,} lines for {len(pairs):,} translations")
        scores = [parse_number(line.strip()) for line in printed]
        for number, (line, value) in enumerate(zip(printed, scores, strict=True), 1):
            if not math.isfinite(value):
                raise FormatError(command, number, f"{line[:40]!r} is not a score; expected a finite number")
        return scores

    return score


def command_scorers(given: Iterable[str]) -> dict[str, Scorer]:
    """Create scorers from texts of the form NAME=COMMAND.

    >>> list(command_scorers(["short=awk '{print -NF}'"]))
    ['short']
    """
    scorers: dict[str, Scorer] = {}
    for text in given:
        name, equals, command = text.partition("=")
        if not (name and equals and command) or name in scorers:
            raise UsageError(f"--scorer is {text!r}; expected NAME=COMMAND, and each name once")
        scorers[name] = command_scorer(command)
    return scorers


def _field(text: str) -> str:
    r"""Return a text in which blanks replace the characters that would end a field or a line.

    >>> _field("a\tb\u00a0c")
    'a b\xa0c'
    """
    return text.translate(ENDS)


def check_weights(weights: Iterable[str], known: Iterable[str]) -> None:
    """Refuse weights with names that no scorer has. A scorer without a weight is allowed; its weight is 0.

    >>> check_weights({"score": 1.0, "bigg": 0.5}, ["score", "big"])
    Traceback (most recent call last):
    treeglot.base.errors.UsageError: the weights have an unknown feature 'bigg'; did you mean 'big'? known: big, score
    """
    names = list(known)
    for name in weights:
        if name not in names:
            raise UsageError(f"the weights have an {unknown('feature', name, names)}")


def scores_of(scorers: Mapping[str, Scorer], pairs: Pairs, taken: Iterable[str] = ()) -> dict[str, list[float]]:
    """Return the scores of all pairs, for each scorer. Names in `taken` are refused, because other features have them.

    >>> scores_of({"short": lambda pairs: [-len(text) for _, text in pairs]}, [("das", "the"), ("haus", "house")])
    {'short': [-3.0, -5.0]}
    """
    known = set(taken)
    for name in scorers:
        if name in known:
            raise UsageError(f"a scorer is called {name}, which is a feature of its own; expected another name")
        if name.split() != [name] or name.startswith("#"):
            raise UsageError(f"a scorer is called {name!r}; expected a name without blanks and without # in front")
    values = {name: list(map(float, scorer(pairs))) for name, scorer in scorers.items()}
    for name, given in values.items():
        if len(given) != len(pairs) or not all(map(math.isfinite, given)):
            raise UsageError(f"the scorer {name} gave no finite number for each of {len(pairs):,} translations")
        if (most := max(map(abs, given), default=0.0)) > LARGEST:
            raise UsageError(f"the scorer {name} gave {most:g}; expected numbers up to {LARGEST:g}")
    return values


class Reranked:
    """K-best lists of sentences, with the scorers' values for each translation.

    >>> lists = [[("a b", -1.0), ("a", -1.5)], [("c d e", -2.0), ("c", -2.25)]]
    >>> found = Reranked(["x", "y"], lists, {"short": lambda pairs: [-float(len(text)) for _, text in pairs]})
    >>> found.best({"score": 1.0}), found.best({"score": 1.0, "short": 0.3})
    (['a b', 'c d e'], ['a', 'c'])
    """

    def __init__(
        self, sources: Sequence[str], lists: Sequence[Sequence[tuple[str, float]]], scorers: Mapping[str, Scorer]
    ) -> None:
        if len(lists) > len(sources):
            raise UsageError(f"k-best lists of {len(lists):,} sentences; there are {len(sources):,} source sentences")
        self.names = [SCORE, *scorers]
        padded = [*lists, *([] for _ in range(len(sources) - len(lists)))]
        pairs = [(source, text) for source, found in zip(sources, padded, strict=True) for text, _ in found]
        values = scores_of(scorers, pairs, [SCORE])
        made: list[list[Hypothesis]] = []
        at = 0
        for found in padded:
            made.append([])
            for text, score in found:
                made[-1].append((text, {SCORE: score} | {name: given[at] for name, given in values.items()}))
                at += 1
        self.lists = made

    @staticmethod
    def read(path: PathLike, sources: Sequence[str], scorers: Mapping[str, Scorer], size: int = 0) -> Reranked:
        """Read k-best lists from a file. `size` limits the entries of each sentence; 0 means no limit."""
        lists: list[list[tuple[str, float]]] = [[] for _ in sources]
        for number, entry in enumerate(read_kbest(path), 1):
            if entry.score is None:
                raise FormatError(str(path), number, "has no score; expected SENTENCE ||| TRANSLATION ||| … ||| SCORE")
            if abs(entry.score) > LARGEST:
                raise FormatError(str(path), number, f"the score is {entry.score:g}; expected up to {LARGEST:g}")
            if entry.sentence >= len(sources):
                problem = f"sentence {entry.sentence}; there are {len(sources):,} source sentences, from 0 on"
                raise FormatError(str(path), number, problem)
            if not size or len(lists[entry.sentence]) < size:
                lists[entry.sentence].append((entry.text, entry.score))
        return Reranked(sources, lists, scorers)

    def best(self, weights: Mapping[str, float]) -> list[str]:
        """Return the best translation of each sentence.

        Ties go to the first. A sentence without translations gets an empty one.
        """
        check_weights(weights, self.names)

        def score(hypothesis: Hypothesis) -> float:
            return math.fsum(weights.get(name, 0.0) * value for name, value in hypothesis[1].items())

        return [max(found, key=score)[0] if found else "" for found in self.lists]

    def tuned(self, references: Iterable[Sequence[str]], metric: Metric, method: str = "mert", seed: int = 1) -> Update:
        """Tune the weights of the list's score and of the scorers on these lists."""
        pool = Pool(metric.prepare(list(references))).merged(KBest.of(self.lists))
        names = {name: None for found in self.lists for _, features in found for name in features}
        start = {name: 1.0 if name == SCORE else 0.1 for name in names}
        return METHODS.make(method, {}).update(pool, start, seed=seed)
