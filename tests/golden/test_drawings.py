"""The drawings in characters and as SVG, of the kinds of things that come up."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
from graph_pieces import assemble

from treeglot._core import ScoreKind
from treeglot.syntax import Alignment, Dependency, ParseForest, Tree
from treeglot.syntax.draw import Screen, page, to_html, to_svg, to_text

WORDS = ["布什", "与", "沙龙", "举行", "了", "会谈"]

CHINESE = Tree.parse(
    "(TOP (IP (NP (NR 布什)) (VP (PP (P 与) (NP (NR 沙龙))) (VP (VV 举行) (AS 了) (NP (NN 会谈)))) (PU 。)))"
)
ENGLISH = Tree.parse(
    "(S (NP (DT The) (JJ little) (NN bear)) (VP (VBD ate) (NP (NP (DT the) (JJ fresh) (NN fish))"
    " (PP (IN with) (NP (NNS chopsticks))))) (. .))"
)
UNEVEN = Tree.parse("(VERYLONGLABEL (X a) b (ANOTHERLONGLABEL (Y (Z c))))")


def forest() -> ParseForest:
    """与 as "and" or as "with"."""
    nodes = [(word, i, i + 1) for i, word in enumerate(WORDS)]
    edges: list[tuple[int, list[int], float]] = [(i, [], 0.0) for i in range(len(WORDS))]

    def node(label: str, begin: int, end: int) -> int:
        if (label, begin, end) not in nodes:
            nodes.append((label, begin, end))
        return nodes.index((label, begin, end))

    for line in [
        "NR 0 1 -0.1 布什 0 1",
        "CC 1 2 -0.9 与 1 2",
        "P 1 2 -0.2 与 1 2",
        "NR 2 3 -0.3 沙龙 2 3",
        "VV 3 4 -0.2 举行 3 4",
        "AS 4 5 -0.01 了 4 5",
        "NN 5 6 -0.7 会谈 5 6",
        "NP 0 1 -0.4 NR 0 1",
        "NP 2 3 -0.4 NR 2 3",
        "NP 5 6 -0.4 NN 5 6",
        "NP 0 3 -1.3 NP 0 1 CC 1 2 NP 2 3",
        "PP 1 3 -0.2 P 1 2 NP 2 3",
        "VP 3 6 -0.9 VV 3 4 AS 4 5 NP 5 6",
        "VP 1 6 -1.1 PP 1 3 VP 3 6",
        "IP 0 6 -0.3 NP 0 3 VP 3 6",
        "IP 0 6 -0.5 NP 0 1 VP 1 6",
        "TOP 0 6 0 IP 0 6",
    ]:
        label, begin, end, score, *rest = line.split()
        tails = [node(rest[i], int(rest[i + 1]), int(rest[i + 2])) for i in range(0, len(rest), 3)]
        edges.append((node(label, int(begin), int(end)), tails, float(score)))
    first_tail = [0]
    for _, tails, _ in edges:
        first_tail.append(first_tail[-1] + len(tails))
    mapped = assemble(
        len(nodes), [e[0] for e in edges], first_tail, [t for e in edges for t in e[1]], node("TOP", 0, 6)
    )
    order = mapped.node_map.tolist()
    return ParseForest(
        mapped.graph,
        [nodes[v][0] for v in order],
        [nodes[v][1:] for v in order],
        [edges[e][2] for e in mapped.edge_map.tolist()],
        ScoreKind.conditional,
    )


PROJECTIVE = Dependency(
    ["The", "little", "bear", "ate", "the", "fresh", "fish", "with", "chopsticks", "."],
    [2, 2, 3, -1, 6, 6, 3, 6, 7, 3],
    ["DT", "JJ", "NN", "VBD", "DT", "JJ", "NN", "IN", "NNS", "."],
    ["det", "amod", "nsubj", "root", "det", "amod", "obj", "prep", "pobj", "punct"],
)
CROSSING = Dependency(
    ["A", "hearing", "is", "scheduled", "on", "the", "issue", "today", "."],
    [1, 3, 3, -1, 1, 6, 4, 3, 3],
    None,
    ["det", "nsubj", "aux", "root", "nmod", "det", "pobj", "tmod", "punct"],
)
BARE = Dependency(WORDS, [3, 3, 1, -1, 3, 3], ["NR", "P", "NR", "VV", "AS", "NN"])
BROKEN = Dependency(["a", "b", "c", "d", "e"], [-1, 2, 1, -2, 0])  # a circle, a word without a head

PAIR = Alignment.parse("0-0 1-3 2-4 3-1 4-1 5-2")
ENGLISH_WORDS = ["Bush", "held", "talks", "with", "Sharon"]

DRAWN = {
    "tree-chinese": (CHINESE, {}),
    "tree-english": (ENGLISH, {}),
    "tree-uneven": (UNEVEN, {}),
    "tree-none": (Tree(), {}),
    "forest": (forest(), {}),
    "dependency": (PROJECTIVE, {}),
    "dependency-crossing": (CROSSING, {}),
    "dependency-bare": (BARE, {}),
    "dependency-broken": (BROKEN, {}),
    "alignment": (PAIR, {"source": WORDS, "target": ENGLISH_WORDS}),
    "alignment-numbers": (PAIR, {}),
}


@pytest.mark.parametrize("name", DRAWN)
def test_text(golden, name: str) -> None:
    value, words = DRAWN[name]
    parts = [
        to_text(value, Screen(), **words),
        to_text(value, Screen(), layout="down", **words),
        to_text(value, Screen(encoding="ascii", width=72), **words),
    ]
    golden(f"draw/{name}.txt", "\n\n".join(parts) + "\n")


@pytest.mark.parametrize("name", DRAWN)
def test_svg(golden, name: str) -> None:
    value, words = DRAWN[name]
    picture = to_svg(value, **words)
    ElementTree.fromstring(picture)
    golden(f"draw/{name}.svg", picture)


def test_colours(golden) -> None:
    golden("draw/tree-english.ansi", to_text(ENGLISH, Screen(colour=True)) + "\n")


def test_page(golden) -> None:
    sections = [("forest", to_html(forest())), ("alignment <1>", to_html(PAIR))]
    golden("draw/page.html", page("drawings & more", sections))
