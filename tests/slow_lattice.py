"""The slow twin of decoding lattices: each path as a sentence."""

from collections.abc import Iterator
from typing import Any

from slow_chart import LIMIT, WEIGHTS, Made, Rule, compiled, enumerate_all
from small_lm import LM

from treeglot._core import ChartMatcher, Decoder, FeatureSet
from treeglot.decode import SearchOptions
from treeglot.syntax.lattice import Lattice

WEIGHT = 0.6  # of the feature lattice
ALL = {**WEIGHTS, "lattice": WEIGHT}


def lattice_decoder(grammar: list[Rule], lm: bool = True, **options: Any) -> Decoder:
    features = FeatureSet(compiled(grammar))
    if lm:
        features.add_ngram(LM)
    search = SearchOptions(**{"pop_limit": 0, "span_limit": LIMIT, "per_source": 0, **options})
    weights = [(name, value) for name, value in ALL.items() if lm or not name.startswith("lm")]
    return Decoder(features, ChartMatcher(features, search), weights, search)


def paths(lattice: Lattice) -> Iterator[tuple[tuple[int, ...], list[str], float]]:
    """All paths that have words: their arcs, their words and their scores."""
    arcs = lattice.arcs

    def following(node: int) -> Iterator[tuple[int, ...]]:
        if node == lattice.nodes - 1:
            yield ()
        for number, (begin, end, _, _) in enumerate(arcs):
            if begin == node:
                for rest in following(end):
                    yield (number, *rest)

    for path in following(0):
        words = [arcs[number][2] for number in path if arcs[number][2]]
        if words:
            yield path, words, sum(arcs[number][3] for number in path)


def enumerate_paths(grammar: list[Rule], lattice: Lattice, unknown: str = "X") -> list[tuple[Made, tuple[int, ...]]]:
    """All derivations of all paths, each with its path."""
    return [
        (Made(made.score + WEIGHT * score, made.words), path)
        for path, words, score in paths(lattice)
        for made in enumerate_all(grammar, words, unknown)
    ]
