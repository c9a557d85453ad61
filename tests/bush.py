"""The worked example of the c2d paper: a forest, its translation, their alignment."""

from treeglot import Alignment, Dependency, ParseForest
from treeglot._core import ScoreKind
from treeglot.graph import Builder

SOURCE = ["Bùshí", "yǔ", "Shālóng", "jǔxíng", "le", "huìtán"]
TARGET = ["Bush", "held", "a", "talk", "with", "Sharon"]
ALIGNMENT = Alignment.parse("0-0 1-4 2-5 3-1 3-2 5-3")
DEPENDENCY = Dependency(TARGET, [1, -1, 3, 1, 1, 4], ["NNP", "VBD", "DT", "NN", "IN", "NNP"])

NODES = {
    "NPB1": ("NPB", 0, 1), "CC": ("CC", 1, 2), "P": ("P", 1, 2), "NPB2": ("NPB", 2, 3), "VV": ("VV", 3, 4),
    "AS": ("AS", 4, 5), "NPB3": ("NPB", 5, 6), "NP": ("NP", 0, 3), "PP": ("PP", 1, 3), "VPB": ("VPB", 3, 6),
    "VP": ("VP", 1, 6), "IP": ("IP", 0, 6),
}  # fmt: skip
EDGES = [
    ("NPB1", [0]), ("CC", [1]), ("P", [1]), ("NPB2", [2]), ("VV", [3]), ("AS", [4]), ("NPB3", [5]),
    ("NP", ["NPB1", "CC", "NPB2"]), ("PP", ["P", "NPB2"]), ("VPB", ["VV", "AS", "NPB3"]), ("VP", ["PP", "VPB"]),
    ("IP", ["NP", "VPB"]), ("IP", ["NPB1", "VP"]),
]  # fmt: skip


def forest(scores: dict[int, float] | None = None) -> ParseForest:
    """The forest, its edges with log probabilities `scores` (by place in EDGES) or, without one, 0."""
    names = list(NODES)
    number = {name: len(SOURCE) + i for i, name in enumerate(names)}
    builder = Builder()
    builder.add_nodes(len(SOURCE) + len(names))
    values = [0.0] * len(SOURCE)
    for word in range(len(SOURCE)):
        builder.add_edge(word, [])
    for place, (head, tails) in enumerate(EDGES):
        builder.add_edge(number[head], [tail if isinstance(tail, int) else number[tail] for tail in tails])
        values.append((scores or {}).get(place, 0.0))
    mapped = builder.freeze(number["IP"])
    spans = [(i, i + 1) for i in range(len(SOURCE))] + [(b, e) for _, b, e in NODES.values()]
    labels = [*SOURCE, *(label for label, _, _ in NODES.values())]
    ordered = [values[edge] for edge in mapped.edge_map]
    return ParseForest(mapped.graph, labels, spans, ordered, ScoreKind.posterior)
