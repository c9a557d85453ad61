"""The slow twin of decoding lattices: each path as a sentence."""

from collections.abc import Iterator

from slow_chart import Made, Rule, enumerate_all

from treeglot.syntax.lattice import Lattice

WEIGHT = 0.6  # of the feature lattice


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


def enumerate_paths(grammar: list[Rule], lattice: Lattice) -> list[tuple[Made, tuple[int, ...]]]:
    """All derivations of all paths, each with its path."""
    return [
        (Made(made.score + WEIGHT * score, made.words), path)
        for path, words, score in paths(lattice)
        for made in enumerate_all(grammar, words)
    ]
