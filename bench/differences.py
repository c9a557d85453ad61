"""Differences between any two systems of a run, with intervals over sentences and seeds and the papers' sign test.

python bench/differences.py WORK c2d:c2s c2d-s2d:c2s-wf [--test test] --json bench/results/kind-differences.json

WORK is the folder of a finished `treeglot run`. Its report compares all systems with one baseline. Papers' claims also
need other pairs. Each pair is SYSTEM:BASELINE; the p-values are corrected for all pairs given (Holm).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from record import add_option, column, record

from treeglot.base.errors import UsageError
from treeglot.base.files import read_lines
from treeglot.evaluate import Bleu
from treeglot.evaluate.means import MeanDifference, compare_means, holm
from treeglot.evaluate.significance import sign_test

SAMPLES = 10_000  # a corrected p-value of many comparisons needs small ones
COLUMNS = [
    column("system"),
    column("baseline"),
    column("seeds"),
    column("BLEU", 2),
    column("baseline's BLEU", 2),
    column("difference, 95 %", 2, signed=True),
    column("p", 3),
    column("p, Holm", 3),
    column("sign test p, by seed", 3),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("pairs", nargs="+", help="SYSTEM:BASELINE")
    parser.add_argument("--test", default="test")
    add_option(parser)
    given = parser.parse_args()
    pairs = [read_pair(text) for text in given.pairs]
    record(given.json, COLUMNS, compared(given.work, pairs, given.test))


def compared(work: Path, pairs: Sequence[tuple[str, str]], test_set: str) -> list[list[Any]]:
    """A row for each pair of a system and its baseline. The p-values are corrected for all pairs."""
    metric, cards = load_cards(work, (name for pair in pairs for name in pair), test_set)
    rows = {name: statistics(metric, work, one) for name, one in cards.items()}
    check_seeds(pairs, rows)
    tests = {pair: compare_means(metric, rows[pair[1]], rows[pair[0]], samples=SAMPLES) for pair in pairs}
    adjusted = holm({f"{a}:{b}": test.p for (a, b), test in tests.items()})
    table = []
    for (system, baseline), test in tests.items():
        both = zip(rows[baseline], rows[system], strict=True)
        table.append(
            [
                f"`{system}`",
                f"`{baseline}`",
                len(rows[system]),
                mean_score(metric, rows[system]),
                mean_score(metric, rows[baseline]),
                interval(test),
                test.p,
                adjusted[f"{system}:{baseline}"],
                [sign_test(metric, old, new).p for old, new in both],
            ]
        )
        print(table[-1])
    return table


def read_pair(text: str) -> tuple[str, str]:
    """A system and its baseline."""
    system, colon, baseline = text.partition(":")
    if not (system and colon and baseline) or ":" in baseline:
        raise UsageError(f"{text!r} is not a pair; expected SYSTEM:BASELINE such as c2d:c2s")
    return system, baseline


def load_cards(work: Path, names: Iterable[str], test: str) -> tuple[Bleu, dict[str, dict[str, Any]]]:
    """BLEU by the options of the cards, and what each card says of a test set. The cards must have the same options."""
    cards = {}
    for name in dict.fromkeys(names):
        scores = json.loads((work / "cards" / f"{name}.json").read_text())["scores"]
        if test not in scores:
            raise UsageError(f"the card of {name} has no test set {test!r}; expected one of {', '.join(scores)}")
        cards[name] = scores[test]
    first = next(iter(cards))
    for name, one in cards.items():
        if one["options"] != cards[first]["options"]:
            raise UsageError(
                f"the card of {name} has the options of scoring {one['options']}; "
                f"expected those of {first}: {cards[first]['options']}"
            )
    return Bleu(lowercase=cards[first]["options"]["lowercase"]), cards


def statistics(metric: Bleu, work: Path, scores: Mapping[str, Any], lines: Sequence[int] | None = None) -> list[Any]:
    """The statistics of each tuning's output, or of some lines. Paths in cards are relative to the run's folder."""

    def read(path: str) -> list[str]:
        found = read_lines(work / path)
        return found if lines is None else [found[line] for line in lines]

    references = metric.prepare([read(path) for path in scores["references"]])
    return [references.statistics(read(one["file"])) for one in scores["outputs"]]


def check_seeds(pairs: Iterable[tuple[str, str]], rows: Mapping[str, Sequence[Any]]) -> None:
    """Refuse pairs of systems with different numbers of seeds."""
    for system, baseline in pairs:
        if len(rows[system]) != len(rows[baseline]):
            raise UsageError(
                f"{system} has {len(rows[system])} outputs and {baseline} has {len(rows[baseline])}; "
                "expected as many seeds of both"
            )


def mean_score(metric: Bleu, rows: Sequence[Any]) -> float:
    """The mean over the seeds."""
    return sum(map(metric.score, rows)) / len(rows)


def interval(test: MeanDifference) -> dict[str, float]:
    """A difference as a cell of a table."""
    return {"mean": test.difference, "low": test.interval.low, "high": test.interval.high}


if __name__ == "__main__":
    main()
