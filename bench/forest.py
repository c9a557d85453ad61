"""Translating forests: CPU time a sentence, and how it grows with the forest.

python bench/forest.py test.zh.forest.xz --models models/c2s models/c2d [--pops 100] [--plot bench/forest.svg]

First every forest of the file is translated as it is. Then forests are put side by side below one node, so that a
sentence has 1, 2, 4 … of them: edges (of the pruned forests) and milliseconds, and the same as a plot. The time is that
of the thread which matches and searches.
"""

import argparse
import statistics
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from plot import plot
from record import add_option, column, record

from treeglot._core import ScoreKind
from treeglot.graph import Builder
from treeglot.models import Model, load
from treeglot.syntax import ParseForest
from treeglot.syntax.formats import read_forests


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("forests", type=Path)
    parser.add_argument("--models", type=Path, nargs="+", required=True)
    parser.add_argument("--pops", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3, help="the least of so many times is taken")
    parser.add_argument("--most", type=int, default=256, help="forests side by side")
    parser.add_argument("--plot", type=Path)
    add_option(parser)
    given = parser.parse_args()

    forests = [forest for forest in read_forests(given.forests) if forest.parsed]
    margin = ParseForest.DECODING_MARGIN
    small = [forest.prune(margin) for forest in forests]
    edges = sum(forest.graph.edges for forest in small) / len(small)
    print(f"{len(forests):,} forests, {edges:.0f} edges each when pruned to {margin:g}")
    sizes = [2**i for i in range(given.most.bit_length())]
    together = {size: [joined(small[i * size : (i + 1) * size]) for i in range(max(1, 64 // size))] for size in sizes}
    series: dict[str, list[tuple[float, float]]] = {}
    for path in given.models:
        model = searched(load(path), given.pops)
        milliseconds = min(timed(model, forests) for _ in range(given.rounds))
        print(f"{path.name}: {milliseconds:.2f} ms a sentence at {given.pops} pops", flush=True)
        points = []
        for size, many in together.items():
            mean = statistics.mean(forest.graph.edges for forest in many)
            points.append((mean, min(timed(model, many) for _ in range(given.rounds))))
            each = 1000 * points[-1][1] / mean
            print(
                f"  {size:4} side by side: {mean:8,.0f} edges {points[-1][1]:9.2f} ms, {each:.1f} µs an edge",
                flush=True,
            )
        series[path.name] = points
    rows = [[name, edges, taken, 1000 * taken / edges] for name, points in series.items() for edges, taken in points]
    record(given.json, [column("model"), column("edges"), column("ms", 1), column("µs an edge", 1)], rows)
    if given.plot:
        given.plot.write_text(plot(series, "edges", "milliseconds of CPU"))


def searched(model: Model, pops: int) -> Model:
    return model.with_search(replace(model.translator.options, pop_limit=pops))


def timed(model: Model, forests: Sequence[ParseForest]) -> float:
    """Milliseconds of CPU a forest."""
    return 1000 * statistics.mean(found.seconds for found in model.translate_batch(forests))


def joined(forests: Sequence[ParseForest]) -> ParseForest:
    """One forest with the given ones side by side below its goal."""
    builder = Builder()
    words = [word for forest in forests for word in forest.words]
    labels, spans, scores = list(words), [(i, i + 1) for i in range(len(words))], []
    builder.add_nodes(len(words))
    for word in range(len(words)):
        builder.add_edge(word, [])
        scores.append(0.0)
    goals, offset = [], 0
    for forest in forests:
        graph, length = forest.graph, len(forest.words)
        first = builder.add_nodes(graph.nodes - length)
        number = [offset + v if v < length else first + v - length for v in range(graph.nodes)]
        labels += forest.labels[length:]
        spans += [(begin + offset, end + offset) for begin, end in forest.spans.tolist()[length:]]
        for edge, head in enumerate(graph.heads.tolist()):
            if head >= length:
                tails = graph.tails[graph.first_tail[edge] : graph.first_tail[edge + 1]]
                builder.add_edge(number[head], [number[tail] for tail in tails])
                scores.append(float(forest.scores[edge]))
        goals.append(number[graph.goal])
        offset += length
    top = builder.add_nodes(1)
    builder.add_edge(top, goals)
    mapped = builder.freeze(top)
    scores.append(0.0)
    ordered = [scores[edge] for edge in mapped.edge_map]
    return ParseForest(mapped.graph, [*labels, "TOP"], [*spans, (0, offset)], ordered, ScoreKind.posterior)


if __name__ == "__main__":
    main()
