"""Export the phrases and pseudo rules of a forest model as Travatar rules for the nodes of given forests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from treeglot import _core
from treeglot.syntax import ParseForest

if TYPE_CHECKING:
    from treeglot.models import Model

MARGIN = 1e9  # all that a search kept


def rules_of_forests(
    model: Model, forests: Sequence[ParseForest], phrases: Sequence[int], style: _core.GrammarStyle
) -> Iterator[str]:
    """Yield rules for phrases, pseudo rules and unknown words, each rule once.

    A phrase on a node becomes a fragment of words alone: the best tree below the node, as the model scores it.
    """
    by_words: dict[tuple[str, ...], list[str]] = {}
    table = model.translator.table
    words = table.source_words
    lines = _core.write_rules(table, style, list(phrases)).decode().splitlines()
    for rule, line in zip(phrases, lines, strict=True):
        found = table.rule(rule)[1]
        if all(symbol < len(words) for symbol in found):
            by_words.setdefault(tuple(words[symbol] for symbol in found), []).append(line.split(" ||| ", 1)[1])
    searched = model.with_search(replace(model.translator.options, forest_margin=MARGIN))
    seen: set[str] = set()
    for forest in forests:
        if not forest.parsed:
            continue
        for line in (*_phrases(forest, by_words), *_local(searched, forest)):
            if line not in seen:
                seen.add(line)
                yield line


def _phrases(forest: ParseForest, phrases: dict[tuple[str, ...], list[str]]) -> Iterator[str]:
    trees = _best_trees(forest)
    for node, tree in enumerate(trees):
        begin, end = forest.span(node)
        if not forest.is_word(node) and tree:
            for rest in phrases.get(tuple(forest.words[begin:end]), ()):
                yield f"{tree} ||| {rest}"


def _best_trees(forest: ParseForest) -> list[str]:
    """Return the best tree below each node, written as a fragment of Travatar."""
    graph, scores = forest.graph, np.asarray(forest.scores)
    first_edge, first_tail, tails = graph.first_edge, graph.first_tail, graph.tails
    best = np.zeros(graph.nodes)
    trees: list[str] = []
    for node in range(graph.nodes):
        if forest.is_word(node):
            trees.append(quoted(forest.label(node)))
            continue
        chosen, top = -1, -np.inf
        for edge in range(int(first_edge[node]), int(first_edge[node + 1])):
            below = scores[edge] + sum(best[tail] for tail in tails[first_tail[edge] : first_tail[edge + 1]])
            if below > top:
                chosen, top = edge, below
        best[node] = top
        children = tails[first_tail[chosen] : first_tail[chosen + 1]] if chosen >= 0 else ()
        inside = " ".join(trees[child] for child in children)
        trees.append(f"{forest.label(node)} ( {inside} )" if inside else "")
    return trees


def _local(model: Model, forest: ParseForest) -> Iterator[str]:
    """Collect the pseudo rules and unknown words that the search of a forest used."""
    found = model.translate(forest).forest(MARGIN)
    graph = found.graph
    for edge, features in enumerate(found.features):
        label = found.labels[int(graph.heads[edge])]
        if features.get("pseudo"):
            tails = graph.tails[int(graph.first_tail[edge]) : int(graph.first_tail[edge + 1])]
            variables = [f"x{i}:{found.labels[int(tail)]}" for i, tail in enumerate(tails)]
            target = " ".join(f"x{i}" for i in range(len(variables)))
            yield f"{label} ( {' '.join(variables)} ) ||| {target} ||| pseudo=1"
        elif features.get("unknown") and label != "X":
            word = found.rules[edge].split(" ||| ")[2]
            yield f"{label} ( {quoted(word)} ) ||| {quoted(word, source=False)} ||| unknown=1 word_penalty=1"


def quoted(word: str, source: bool = True) -> str:
    """Quote a word in the way of Travatar. In trees, brackets are replaced by their names.

    >>> quoted('a"(')
    '"a\\\\"-LRB-"'
    """
    word = word.replace("\\", "\\\\").replace('"', '\\"')
    names = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"} if source else {}
    return '"' + "".join(names.get(character, character) for character in word) + '"'
