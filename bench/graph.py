"""Graph algorithms over forests with 1e6 edges.

`chart` is what a parser without a grammar makes of a sentence of 181 words: one node per span, one edge per split
point, and four edges for every word. `random` has 200,000 nodes with five edges of 0 to 3 tails each, anywhere below.
`chain` is a million nodes upon each other with two unary edges each: depth, not size.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
from record import add_option, column, record

from treeglot import graph as tg
from treeglot._core import GraphKBest


def chart(words: int) -> tg.Hypergraph:
    node = np.zeros((words + 1, words + 1), dtype=np.uint32)
    first_edge, tails, arities = [0], [], []
    number = 0
    for width in range(1, words + 1):
        for begin in range(words - width + 1):
            end = begin + width
            node[begin, end] = number
            number += 1
            middles = np.arange(begin + 1, end)
            tails.append(np.stack([node[begin, middles], node[middles, end]], axis=1).ravel())
            arities.append(np.full(len(middles), 2) if len(middles) else np.zeros(4, dtype=np.int64))
            first_edge.append(first_edge[-1] + len(arities[-1]))
    first_tail = np.concatenate([[0], np.cumsum(np.concatenate(arities))])
    return tg.Hypergraph.from_arrays(
        np.array(first_edge, np.uint32), first_tail.astype(np.uint32), np.concatenate(tails), number - 1
    )


def scattered(nodes: int, per_node: int) -> tg.Hypergraph:
    random = np.random.default_rng(1)
    arities = random.integers(1, 4, size=(nodes, per_node))
    arities[: nodes // 3] = 0
    heads = np.repeat(np.arange(nodes), arities.sum(axis=1))
    # Half of the tails lie just below their head, so that most nodes are part of some derivation.
    near = np.maximum(heads - random.integers(1, 50, size=heads.size), 0)
    far = (random.random(heads.size) * heads).astype(np.int64)
    tails = np.where(random.random(heads.size) < 0.5, near, far)
    return tg.Hypergraph.from_arrays(
        np.arange(0, (nodes + 1) * per_node, per_node, dtype=np.uint32),
        np.concatenate([[0], np.cumsum(arities)]).astype(np.uint32),
        tails.astype(np.uint32),
        nodes - 1,
    )


def chain(nodes: int) -> tg.Hypergraph:
    return tg.Hypergraph.from_arrays(
        np.maximum(np.arange(-1, 2 * nodes, 2), 0).astype(np.uint32),
        np.maximum(np.arange(-1, 2 * nodes - 1), 0).astype(np.uint32),
        np.repeat(np.arange(nodes - 1), 2).astype(np.uint32),
        nodes - 1,
    )


def milliseconds(work: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return 1000 * float(np.median(times))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7, help="the median of so many runs is shown")
    add_option(parser)
    arguments = parser.parse_args()
    repeats = arguments.repeats
    rows = []
    graphs = {"chart": chart(181), "random": scattered(200_000, 5), "chain": chain(1_000_000)}
    for name, graph in graphs.items():
        scores = -3.0 - np.random.default_rng(2).exponential(2.0, graph.edges)
        print(f"{name}: {graph.nodes} nodes, {graph.edges} edges, {len(graph.tails)} tails")
        tails = np.diff(graph.first_tail.astype(np.int64))
        symbols = [s for edge, n in enumerate(tails.tolist()) for s in (*range(-1, -1 - n, -1), edge % 50)]
        yields = np.cumsum([0, *(tails + 1)]).astype(np.uint32), np.array(symbols, np.int32)
        works: dict[str, Callable[[], object]] = {
            "inside + outside, log": lambda g=graph, s=scores: tg.outside(g, s, "log"),
            "inside + outside, viterbi": lambda g=graph, s=scores: tg.outside(g, s, "viterbi"),
            "posteriors": lambda g=graph, s=scores: tg.posteriors(g, s),
            "viterbi": lambda g=graph, s=scores: tg.viterbi(g, s),
            "prune, margin 5": lambda g=graph, s=scores: tg.prune(g, s, 5.0),
        }
        # Derivations of the chain have a million edges each.
        for k in (5,) if name == "chain" else (1_000, 100_000):
            works[f"{k}-best"] = lambda g=graph, s=scores, k=k: tg.kbest(g, s, k)
            works[f"{k}-best, distinct"] = lambda g=graph, s=scores, y=yields, k=k: GraphKBest(g, s, *y).take(k)
        k = 5 if name == "chain" else 1_000
        works[f"{k} samples"] = lambda g=graph, s=scores, k=k: tg.sample_derivations(g, s, k, 1)
        for label, work in works.items():
            taken = milliseconds(work, repeats)
            rows.append([name, label, taken])
            print(f"  {label:28} {taken:8.1f} ms")
    record(arguments.json, [column("graph"), column("work"), column("ms", 1)], rows)


if __name__ == "__main__":
    main()
