"""The best tree of a forest."""

from __future__ import annotations

from treeglot._core import ParseForest, Tree
from treeglot.graph import prune


def best_derivation(forest: ParseForest) -> list[int]:
    """Its edges in preorder."""
    graph = forest.graph
    if graph.goal is None:
        return []
    mapped = prune(graph, forest.scores, 0.0)
    best = mapped.graph
    edges = []
    first = best.first_edge.tolist()
    ft, tails = best.first_tail.tolist(), best.tails.tolist()
    stack = [best.goal or 0]
    while stack:
        e = first[stack.pop()]
        edges.append(int(mapped.edge_map[e]))
        stack += reversed(tails[ft[e] : ft[e + 1]])
    return edges


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
