"""What the page of an experiment draws of a translation beside its derivation: forests and trees, in few bytes."""

from __future__ import annotations

from typing import Any

from treeglot.decode import Source, Translation
from treeglot.syntax import Dependency, ParseForest
from treeglot.syntax.draw.values import PICTURE_EDGES

SENTENCES = 200  # of a test set that are drawn


def drawn(source: Source, translation: Translation) -> dict[str, Any]:
    """The forest that was translated with the edges that the rules took, or the dependency tree."""
    if translation.tree is not None:
        return {"tree": _tree(translation.tree)}
    if not isinstance(source, ParseForest) or not source.parsed:
        return {}
    taken = [edge for step in translation.derivation.steps for edge in step.parse_edges]
    return packed(source, source.edges_with(taken) if taken else [])


def packed(forest: ParseForest, used: list[int]) -> dict[str, Any]:
    """A forest: words, nodes above them as [label, begin, end], edges as [head, tails …], goal; or its size.

    Nodes and edges of words are left out: node 0 is the first word. `used` are the places of those edges.

    >>> from treeglot.syntax import Tree
    >>> packed(ParseForest.from_tree(Tree.parse("(NP (NN w))")), [0, 1, 2])["forest"]
    {'words': ['w'], 'trees': 1.0, 'nodes': [['NN', 0, 1], ['NP', 0, 1]], 'edges': [[1, 0], [2, 1]], 'goal': 2}
    """
    graph, words = forest.graph, forest.words
    found: dict[str, Any] = {"words": words, "trees": forest.count()}
    if graph.edges > PICTURE_EDGES:
        return {"forest": found | {"size": graph.edges}, "used": []}
    first, tails, heads = graph.first_tail.tolist(), graph.tails.tolist(), graph.heads.tolist()
    kept = [edge for edge, head in enumerate(heads) if head >= len(words)]
    spans = forest.spans.tolist()
    found["nodes"] = [[forest.label(node), *spans[node]] for node in range(len(words), graph.nodes)]
    found["edges"] = [[heads[e], *tails[first[e] : first[e + 1]]] for e in kept]
    found["goal"] = graph.goal
    taken = set(used)
    return {"forest": found, "used": [place for place, edge in enumerate(kept) if edge in taken]}


def _tree(tree: Dependency) -> dict[str, Any]:
    return {"words": tree.words, "heads": tree.heads.tolist(), "tags": tree.tags or []}
