"""Trained aligners: saved, loaded, updated, and applied to any text."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from treeglot import _core
from treeglot.align.aligners import ALIGNERS, DEFAULT, LONGEST, Eflomal, Tick
from treeglot.align.symmetrize import SYMMETRIZATIONS
from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import PathLike, batches, read_json, write_binary
from treeglot.base.options import options_in, resolved, unknown
from treeglot.syntax import Alignment, ParseForest, Tree

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")
Pair: TypeAlias = tuple[Sequence[str], Sequence[str]]

AGREEMENT = "agreement"
METHODS = (*SYMMETRIZATIONS, AGREEMENT)  # how an aligner makes links of the posteriors of two directions
BATCH = 2000  # pairs that cross into the core at once
MODEL, FACTS = "aligner.bin", "aligner.json"


class Aligner:
    """Word alignment models for both directions, which align and score sentence pairs.

    >>> pairs = [("das Haus".split(), "the house".split()), ("das Buch".split(), "the book".split())] * 20
    >>> aligner = Aligner.train(pairs)
    >>> str(aligner.align(["ein", "Buch"], ["a", "book"]))
    '0-0 1-1'
    >>> aligner.score(["das", "Haus"], ["the", "house"]) > aligner.score(["das", "Haus"], ["the", "book"])
    True
    """

    def __init__(self, core: _core.Aligner, facts: Mapping[str, Any]) -> None:
        self.core = core
        self.facts = dict(facts)  # how it was made

    @classmethod
    def train(
        cls,
        pairs: Iterable[Pair],
        method: str = DEFAULT,
        *,
        options: Mapping[str, Any] | None = None,
        threads: int = 1,
        folder: PathLike = "",
        report: Tick = lambda done, of: None,
    ) -> Aligner:
        """Train an aligner with the options of a method.

        `report` is called with the number of finished rounds and of all rounds.

        Pairs with an empty side, or with a side of more than 200 words, are left out, and `facts` counts them. The
        result is the same for any number of threads. `folder` stores the state of the sampler, so a killed run can
        resume.
        """
        made = ALIGNERS.make(method, options or {})
        if isinstance(made, Eflomal):
            raise UsageError("eflomal is a program of its own and leaves no aligner; expected another method")
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
        corpus = _fill(_core.SentencePairs(LONGEST), pairs)
        core = made(corpus, threads, os.fspath(folder), report)
        facts = {"method": method, "options": resolved(ALIGNERS[method], options or {}), "pairs": len(corpus)}
        return cls(core, facts | {"empty": corpus.empty, "long": corpus.long})

    @classmethod
    def load(cls, folder: PathLike) -> Aligner:
        """Load the aligner that `save` wrote to a folder."""
        path = Path(folder, FACTS)
        facts = read_json(path, method=str, options=dict, pairs=int, empty=int, long=int)
        if facts["method"] not in ALIGNERS:
            raise FormatError(str(path), 0, f"has no method of an aligner; expected one of {', '.join(ALIGNERS)}")
        _trainer(facts, path)
        return cls(_core.Aligner.open(os.fspath(Path(folder, MODEL))), facts)

    def save(self, folder: PathLike) -> None:
        """Write the aligner into a folder. The folder is created if needed."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        (place / FACTS).unlink(missing_ok=True)  # the folder is complete when this file is there
        self.core.save(os.fspath(place / MODEL))
        with write_binary(place / FACTS) as stream:
            stream.write((json.dumps(self.facts, indent=1, ensure_ascii=False) + "\n").encode())

    def align(
        self, source: Sequence[str], target: Sequence[str], symmetrization: str = "grow-diag-final-and"
    ) -> Alignment:
        """Return the word links of one sentence pair."""
        return next(self.align_all([(source, target)], symmetrization))

    def align_all(
        self,
        pairs: Iterable[Pair],
        symmetrization: str = "grow-diag-final-and",
        *,
        agreement: float = 0.5,
        threads: int = 1,
    ) -> Iterator[Alignment]:
        """Yield the links of each pair. Pairs with an empty side or more than 200 words have no links.

        With the symmetrisation `agreement`, a link is kept if its posteriors in the two directions have a geometric
        mean of at least the number `agreement`.
        """
        if symmetrization not in METHODS:
            raise UsageError(unknown("symmetrisation", symmetrization, METHODS))

        def links(batch: list[tuple[list[str], list[str]]]) -> list[Alignment]:
            if symmetrization == AGREEMENT:
                return self.core.agreed(batch, agreement, threads)
            return self.core.align(batch, _core.Symmetrization[symmetrization.replace("-", "_")], threads)

        return _each(pairs, links, Alignment())

    def mend(
        self,
        pairs: Iterable[Pair],
        links: Iterable[Alignment],
        source_parses: Iterable[Tree | ParseForest] | None = None,
        target_parses: Iterable[Tree | ParseForest] | None = None,
        *,
        cost: float = 1.0,
        threads: int = 1,
    ) -> Iterator[Alignment]:
        """Remove doubtful links that break constituents (after Fossum et al. 2008).

        The translation of a constituent extends from the first to the last word that it is linked to. The constituent
        is broken if a word of its translation is linked to a word outside it. Removing a link of probability p costs
        -log(1 - p), where p is the mean of its posteriors in the two directions. Each repaired constituent gains `cost`
        nats. Links are removed one by one while the gain exceeds the cost. A constituent of a forest counts by its
        probability. An empty tree has no constituents.
        """
        given = [parses for parses in (source_parses, target_parses) if parses is not None]
        sides = [side for side, parses in enumerate((source_parses, target_parses)) if parses is not None]
        for batch in batches(zip(pairs, links, *given, strict=True), BATCH):
            used = [row for row in batch if alignable(*row[0])]
            parses: list[list[Tree | ParseForest]] = [[Tree()] * len(used), [Tree()] * len(used)]
            for k, side in enumerate(sides):
                parses[side] = [_fitting(row[2 + k], row[0][side]) for row in used]
            text = [(list(source), list(target)) for (source, target), *_ in used]
            old = [row[1] for row in used]
            mended = iter(self.core.mended(text, old, parses[0], parses[1], cost, threads) if used else ())
            for row in batch:
                yield next(mended) if alignable(*row[0]) else row[1]

    def directions(self, pairs: Iterable[Pair], threads: int = 1) -> Iterator[tuple[Alignment, Alignment]]:
        """Yield the links of both directions before they are symmetrised. In both, links run from source to target.

        In the first direction, each target word has at most one link. In the second, each source word has at most one.
        """
        return _each(pairs, lambda batch: self.core.directions(batch, threads), (Alignment(), Alignment()))

    def posteriors(
        self, source: Sequence[str], target: Sequence[str]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the link probabilities in both directions, with a row per source word and a column per target word.

        Columns of the first matrix and rows of the second sum to at most one.
        """
        if not alignable(source, target):
            raise UsageError(f"the pair has {len(source)} and {len(target)} words; expected 1 to {LONGEST}")
        return self.core.posteriors(list(source), list(target))

    def likely(
        self, pairs: Iterable[Pair], least: float = 0.05, threads: int = 1
    ) -> Iterator[list[tuple[int, int, float, float]]]:
        """Yield the links whose posterior is at least `least` in one of the directions, for each pair.

        A link is a tuple: source position, target position, and the posteriors of both directions.
        """
        return _each(pairs, lambda batch: self.core.likely(batch, least, threads), [])

    def score(self, source: Sequence[str], target: Sequence[str]) -> float:
        """Score a pair, in nats per word: how much better the two sides predict each other than word frequencies do.

        Translations score above 0, and unrelated sentences score below 0.
        """
        return next(self.score_all([(source, target)]))

    def score_all(self, pairs: Iterable[Pair], threads: int = 1) -> Iterator[float]:
        """Score several pairs. A pair that cannot be aligned gets the score minus infinity."""
        return _each(pairs, lambda batch: self.core.scores(batch, threads).tolist(), float("-inf"))

    def lexicon(self) -> Iterator[tuple[str, str, float, float]]:
        """Yield the word pairs that have links: source, target, p(target | source), p(source | target)."""
        for first in range(0, self.core.source_words, BATCH):
            yield from self.core.lexicon(first, BATCH)

    def update(self, pairs: Iterable[Pair], *, threads: int = 1, report: Tick = lambda done, of: None) -> Aligner:
        """Return an aligner that has also learnt from `pairs`. Training starts from this aligner's counts.

        The counts include its lexicon, so the lexicon file is not read again.
        """
        if not self.core.can_be_updated:
            raise UsageError("only an aligner trained by the method sampler can be updated")
        corpus = _fill(self.core.new_pairs(LONGEST), pairs)
        train = _trainer(self.facts, Path(FACTS))
        core = train(corpus, threads, "", report, self.core)
        seen = {"pairs": len(corpus), "empty": corpus.empty, "long": corpus.long}
        return Aligner(core, self.facts | {name: self.facts[name] + count for name, count in seen.items()})


def _trainer(facts: Mapping[str, Any], path: Path) -> Any:
    """Return a trainer with the settings of this aligner, without a lexicon."""
    options = {name: value for name, value in facts["options"].items() if name != "lexicon"}
    made = options_in(path, ALIGNERS[facts["method"]], options, table_name=facts["method"])
    if isinstance(made, Eflomal):
        raise FormatError(str(path), 0, "has the method eflomal, which leaves no aligner; expected another method")
    return made


def alignable(source: Sequence[str], target: Sequence[str]) -> bool:
    """Return whether a pair can be aligned: no side is empty or too long."""
    return 0 < len(source) <= LONGEST and 0 < len(target) <= LONGEST


def _fitting(parse: Tree | ParseForest, words: Sequence[str]) -> Tree | ParseForest:
    failed = not parse.parsed if isinstance(parse, ParseForest) else not parse.size
    if not failed and len(parse.words) != len(words):
        problem = f"a parse has {len(parse.words)} words; expected {len(words)}, as its sentence has"
        raise UsageError(f"{problem}: {' '.join(words)}")
    return parse


def _fill(corpus: _core.SentencePairs, pairs: Iterable[Pair]) -> _core.SentencePairs:
    for batch in batches(pairs, BATCH):
        corpus.extend([(list(source), list(target)) for source, target in batch])
    return corpus


def _each(
    pairs: Iterable[Pair], call: Callable[[list[tuple[list[str], list[str]]]], Sequence[T]], otherwise: T
) -> Iterator[T]:
    """Yield the results of `call` for the pairs that can be aligned, in batches, and `otherwise` for the others."""
    for batch in batches(pairs, BATCH):
        usable = [alignable(*pair) for pair in batch]
        used = [(list(s), list(t)) for (s, t), good in zip(batch, usable, strict=True) if good]
        found = iter(call(used) if used else ())
        for good in usable:
            yield next(found) if good else otherwise
