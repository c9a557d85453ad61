"""Several grammars together: spans that most of them believe in, against gold dependencies or gold trees.

python bench/grammars.py GOLD GRAMMAR [GRAMMAR,GRAMMAR,…] [--characters TSCharacters.txt] [--json FILE]

GOLD is CoNLL-U, whose subtrees are the gold spans as in bench/gold_spans.py, or a treebank, for F1 of labelled
brackets. Each further argument is a grammar, or several with commas between them.

One grammar gives its tree with the fewest expected errors of spans, or of labelled brackets. Of several, `mean` keeps
what has a mean posterior above one half: no two such spans cross. `product` multiplies odds, as products of grammars do
with rules (Petrov 2010). It keeps what has odds above 1, the likeliest first, unless it crosses what is kept.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gold_spans import Spans, crosses, load_characters, read_gold, shares
from record import add_option, column, record

from treeglot._core import clean_tree
from treeglot.graph import posteriors
from treeglot.parse import ParsingOptions, load_parser
from treeglot.parse.brackets import compare
from treeglot.syntax import ParseForest, Tree
from treeglot.syntax.formats import read_trees

Bracket = tuple[int, int, str]  # a span and its label; without labels it is empty
Beliefs = Mapping[Bracket, float]
LEAST = 1e-6  # a posterior is never nearer to 0 or 1
TAG = "tag "  # before a word's tag


def beliefs(forest: ParseForest, labelled: bool) -> Counter[Bracket]:
    """The posteriors of spans of two words or more; with labels, of phrases and tags of any length.

    >>> forest = ParseForest.from_tree(Tree.parse("(S (NP (DT a) (NN b)) (VP (VB c)))"))
    >>> sorted(beliefs(forest, False))
    [(0, 2, ''), (0, 3, '')]
    >>> sorted(beliefs(forest, True).items())[:3]
    [((0, 1, 'tag DT'), 1.0), ((0, 2, 'NP'), 1.0), ((0, 3, 'S'), 1.0)]
    """
    graph, labels = forest.graph, forest.labels
    probabilities = np.exp(posteriors(graph, forest.scores)).tolist()
    heads, first, tails = graph.heads.tolist(), graph.first_tail.tolist(), graph.tails.tolist()
    spans = [tuple(map(int, span)) for span in forest.spans]
    found: Counter[Bracket] = Counter()
    if not labelled:
        found[(*spans[graph.goal], "")] = 1.0
    for edge, p in enumerate(probabilities):
        head, below = heads[edge], tails[first[edge] : first[edge + 1]]
        if labelled and below and labels[head] != "ROOT":
            tag = all(tail < len(forest.words) for tail in below) and len(below) == 1
            found[(*spans[head], (TAG if tag else "") + labels[head])] += p
        for tail in [] if labelled else below:
            if spans[tail] != spans[head] and spans[tail][1] - spans[tail][0] > 1:  # once for a chain of unary rules
                found[(*spans[tail], "")] += p
    return found


def chosen(several: Sequence[Beliefs], how: str) -> list[Bracket]:
    """What the grammars believe in together; brackets that do not cross each other."""
    every = sorted({bracket for one in several for bracket in one})
    if how == "mean":
        return [b for b in every if sum(one.get(b, 0.0) for one in several) > len(several) / 2]
    odds = {b: sum(map(logit, (one.get(b, 0.0) for one in several))) for b in every}
    kept: list[Bracket] = []
    for bracket in sorted((b for b in every if odds[b] > 0), key=lambda b: (-odds[b], b)):
        if not any(crosses(bracket[:2], other[:2]) for other in kept):
            kept.append(bracket)
    return sorted(kept)


def logit(p: float) -> float:
    """The logarithm of the odds."""
    bounded = min(max(p, LEAST), 1 - LEAST)
    return math.log(bounded / (1 - bounded))


def tree_of(brackets: Iterable[Bracket], several: Sequence[Beliefs], words: Sequence[str]) -> Tree:
    """A tree with these phrases, and the likeliest tag for each word."""
    tags: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for one in several:
        for (begin, _, label), p in one.items():
            if label.startswith(TAG):
                tags[begin][label.removeprefix(TAG)] += p
    nested: list[Any] = ["ROOT"]
    open_nodes: list[tuple[int, list[Any]]] = [(len(words), nested)]
    phrases = sorted((b for b in brackets if not b[2].startswith(TAG)), key=lambda b: (b[0], -b[1], b[2]))
    place = 0
    for word, text in enumerate(words):
        while open_nodes[-1][0] <= word:
            open_nodes.pop()
        while place < len(phrases) and phrases[place][0] == word:
            made: list[Any] = [phrases[place][2]]
            open_nodes[-1][1].append(made)
            open_nodes.append((phrases[place][1], made))
            place += 1
        tag = max(sorted(tags[word]), key=tags[word].__getitem__, default="X")
        open_nodes[-1][1].append([tag, text])
    return Tree.from_nested(nested)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold", type=Path)
    parser.add_argument("grammars", nargs="+", help="a grammar's folder, or several with commas between them")
    parser.add_argument("--characters", type=Path, metavar="FILE", help="OpenCC's TSCharacters.txt")
    parser.add_argument("--threads", type=int, default=1)
    add_option(parser)
    given = parser.parse_args()
    of_trees = ".conllu" not in given.gold.name
    gold: list[Any]
    if of_trees:
        gold = [clean_tree(tree) for tree in read_trees(given.gold)]
        text = [tree.words for tree in gold]
        columns = [column("grammars"), column("together"), column("F1", 2), column("exact, %", 1)]
    else:
        gold, text = read_gold(given.gold, load_characters(given.characters))
        columns = [column("grammars"), column("together"), column("not crossed, %", 1), column("found, %", 1)]
    known: dict[str, list[Beliefs]] = {}
    rows = []
    for group in given.grammars:
        names = group.split(",")
        for name in names:
            if name not in known:
                known[name] = parse_all(name, text, of_trees, given.threads)
        several = list(zip(*(known[name] for name in names), strict=True))
        for how in ("mean", "product") if len(names) > 1 else ("mean",):
            found = [chosen(one, how) for one in several]
            shown = ", ".join(Path(name).name for name in names)
            rows.append([shown, how if len(names) > 1 else None, *figures(gold, found, several, text, of_trees)])
            print(rows[-1], flush=True)
    record(given.json, columns, rows)


def parse_all(grammar: str, text: Sequence[list[str]], labelled: bool, threads: int) -> list[Beliefs]:
    """The beliefs of a grammar; of a sentence without a parse there are none."""
    made = load_parser(grammar, ParsingOptions(scores="probability", threads=threads))
    return [beliefs(one.value, labelled) if one.has_parse else Counter() for one in made.forests(text)]


def figures(
    gold: Sequence[Any], found: Sequence[list[Bracket]], several: Sequence[Any], text: Sequence[list[str]], trees: bool
) -> list[float]:
    """The figures of a row, in percent."""
    if trees:
        counts = compare(gold, [tree_of(*one) for one in zip(found, several, text, strict=True)])
        return [100 * counts.f1, 100 * counts.exact / counts.sentences]
    spans: list[Spans | None] = [{(begin, end) for begin, end, _ in one} or None for one in found]
    one = shares(gold, spans)
    return [100 * one.uncrossed, 100 * one.found]


if __name__ == "__main__":
    main()
