"""BLEU of the systems of a run on parts of the test set: by length, and by the origin of sentences.

python bench/by_part.py WORK dep2str:hiero paper:hiero paper:dep2str --source test.zh [--origin test.origin.xz]
    [--lengths 6,9,13] [--test test] [--json FILE]

WORK is the folder of a finished `treeglot run`. Each pair is SYSTEM:BASELINE. Means are over the seeds. Intervals are
over sentences and seeds, without a correction for several comparisons. --lengths are the longest sentences of all parts
but the last, in source words. The origin of a sentence is the first field of its line.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from differences import SAMPLES, check_seeds, interval, load_cards, mean_score, read_pair, statistics
from record import add_option, column, record

from treeglot.base.errors import UsageError
from treeglot.base.files import read_lines
from treeglot.evaluate.means import compare_means


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("pairs", nargs="+", help="SYSTEM:BASELINE")
    parser.add_argument("--source", type=Path, required=True, help="the source sentences of the test set")
    parser.add_argument("--origin", type=Path, help="where each comes from")
    parser.add_argument("--lengths", default="6,9,13")
    parser.add_argument("--test", default="test")
    add_option(parser)
    given = parser.parse_args()
    pairs = [read_pair(text) for text in given.pairs]
    parts = parts_of(given.source, given.origin, [int(number) for number in given.lengths.split(",")])
    metric, cards = load_cards(given.work, (name for pair in pairs for name in pair), given.test)
    rows = []
    for part, lines in parts.items():
        found = {name: statistics(metric, given.work, one, lines) for name, one in cards.items()}
        check_seeds(pairs, found)
        means = [mean_score(metric, one) for one in found.values()]
        tests = [compare_means(metric, found[baseline], found[system], samples=SAMPLES) for system, baseline in pairs]
        rows.append([part, len(lines), len(next(iter(found.values()))), *means])
        rows[-1] += [cell for test in tests for cell in (interval(test), test.p)]
        print(*rows[-1], sep="\t")
    columns = [
        column("part of test"),
        column("sentences"),
        column("seeds"),
        *(column(f"`{name}`", 2) for name in cards),
    ]
    for name in (f"`{system}` − `{baseline}`" for system, baseline in pairs):
        columns += [column(f"{name}, 95 %", 2, signed=True), column(f"{name}, p", 3)]
    record(given.json, columns, rows)


def parts_of(source: Path, origin: Path | None, lengths: list[int]) -> dict[str, list[int]]:
    """The numbers of the lines of each part; parts without a line are left out."""
    sizes = [len(line.split()) for line in read_lines(source)]
    parts: dict[str, list[int]] = {"all": list(range(len(sizes)))}
    if origin is not None:
        origins = read_lines(origin)
        if len(origins) != len(sizes):
            raise UsageError(f"{origin} has {len(origins)} lines; expected {len(sizes)}, as {source} has")
        for number, line in enumerate(origins):
            parts.setdefault(f"origin {line.split()[0]}", []).append(number)
    shortest = 1
    for longest in [*lengths, max([*sizes, *lengths])]:
        name = f"{shortest} to {longest} words"
        parts[name] = [number for number, size in enumerate(sizes) if shortest <= size <= longest]
        shortest = longest + 1
    return {name: lines for name, lines in parts.items() if lines}


if __name__ == "__main__":
    main()
