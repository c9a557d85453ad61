"""The best tree of a forest."""

from __future__ import annotations

from treeglot._core import ParseForest, Tree
from treeglot.graph import viterbi


def best_derivation(forest: ParseForest) -> list[int]:
    """Its edges in preorder."""
    best = viterbi(forest.graph, forest.scores)
    return [] if best is None else best.edges.tolist()


def best_tree(forest: ParseForest) -> Tree:
    """The tree."""
    graph = forest.graph
    edges = best_derivation(forest)
    labels = [forest.label(int(graph.heads[e])) for e in edges]
    arity = [int(graph.first_tail[e + 1] - graph.first_tail[e]) for e in edges]
    sizes = [1] * len(edges)
    stack: list[int] = []
    for i in reversed(range(len(edges))):
        for _ in range(arity[i]):
            sizes[i] += stack.pop()
        stack.append(sizes[i])
    return Tree(labels, sizes)
