"""Speed of models of dependency trees, and how it grows with the length of sentences.

python bench/dependents.py models/dep2str-aug test.conllu --plot length.svg

CPU time of one thread at the model's own settings: sentences of the input by length, then longer ones, each made
of several sentences that hang from the last word of the one before.
"""

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from plot import plot
from record import add_option, column, record

from treeglot.models import load
from treeglot.syntax import Dependency


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("input", type=Path, help="dependency trees")
    parser.add_argument("--longest", type=int, default=320, help="words of the longest sentences that are made")
    parser.add_argument("--plot", type=Path, help="an SVG file")
    add_option(parser)
    arguments = parser.parse_args()
    model = load(arguments.model)
    trees = [tree for tree in model.read(arguments.input) if isinstance(tree, Dependency) and len(tree)]
    model.translate_batch(trees[:50])
    found = model.translate_batch(trees)
    seconds = sum(t.seconds for t in found)
    words = sum(map(len, trees))
    print(
        f"{len(trees):,} sentences of {words / len(trees):.1f} words: {1000 * seconds / len(trees):.2f} ms each, "
        f"{len(trees) / seconds:,.0f} sentences/s"
    )
    points = []
    for length in (40, 80, 160, 320):
        if length <= arguments.longest:
            joined = [hung(trees, start, length) for start in range(0, len(trees), max(1, len(trees) // 25))]
            points += [(len(tree), t.seconds) for tree, t in zip(joined, model.translate_batch(joined), strict=True)]
    points += [(len(tree), t.seconds) for tree, t in zip(trees, found, strict=True)]
    print(f"{'words':>9} {'sentences':>9} {'ms':>8} {'ms/word':>8}")
    bins: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for size, time in points:
        bins[size // 5 * 5 if size < 40 else size // 40 * 40].append((size, time))
    rows = []
    for first, inside in sorted(bins.items()):
        sizes, times = zip(*inside, strict=True)
        mean = 1000 * sum(times) / len(times)
        print(f"{first:>8}- {len(inside):>9} {mean:>8.2f} {1000 * sum(times) / sum(sizes):>8.3f}")
        rows.append([f"{first}–", len(inside), mean, 1000 * sum(times) / sum(sizes)])
    record(arguments.json, [column("words"), column("sentences"), column("ms", 2), column("ms a word", 3)], rows)
    if arguments.plot:
        arguments.plot.write_text(
            plot({"": [(words, 1000 * seconds) for words, seconds in points]}, "words", "ms", lines=False)
        )


def hung(trees: Sequence[Dependency], start: int, length: int) -> Dependency:
    """Sentences from `start` on, up to about `length` words: each depends on the last word of the one before it."""
    words: list[str] = []
    heads: list[int] = []
    tags: list[str] = []
    at = start
    while len(words) < length:
        tree = trees[at % len(trees)]
        first = len(words)
        heads += [head + first if head >= 0 else first - 1 for head in tree.heads.tolist()]
        words += tree.words
        tags += tree.tags or []
        at += 1
    heads[: len(trees[start])] = trees[start].heads.tolist()
    return Dependency(words, heads, tags)


if __name__ == "__main__":
    main()
