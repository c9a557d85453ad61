"""Differences between any two systems of a run, with intervals over sentences and seeds and the papers' sign test.

python bench/differences.py WORK c2d:c2s c2d-s2d:c2s-wf [--test test] --json bench/results/kind-differences.json

WORK is the folder of a finished `treeglot run`. Its report compares all systems with one baseline. Papers' claims also
need other pairs. Each pair is SYSTEM:BASELINE; the p-values are corrected for all pairs given (Holm).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from record import add_option, column, record

from treeglot.base.files import read_lines
from treeglot.evaluate import Bleu
from treeglot.evaluate.means import compare_means, holm
from treeglot.evaluate.significance import sign_test

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
    pairs = [tuple(pair.split(":")) for pair in given.pairs]
    if bad := [text for text, pair in zip(given.pairs, pairs, strict=True) if len(pair) != 2]:
        parser.error(f"{bad[0]!r} is not a pair; expected SYSTEM:BASELINE such as c2d:c2s")
    cards = {name: card(given.work, name, given.test) for pair in pairs for name in pair}
    options = [one["options"] for one in cards.values()]
    if any(one != options[0] for one in options):
        parser.error("the cards differ in the options of scoring; expected the same")
    metric = Bleu(lowercase=options[0]["lowercase"])
    rows = {name: statistics(metric, given.work, one) for name, one in cards.items()}
    tests = {pair: compare_means(metric, rows[pair[1]], rows[pair[0]]) for pair in pairs}
    adjusted = holm({f"{a}:{b}": test.p for (a, b), test in tests.items()})
    table = []
    for (system, baseline), test in tests.items():
        means = [sum(map(metric.score, rows[name])) / len(rows[name]) for name in (system, baseline)]
        both = zip(rows[baseline], rows[system], strict=False)
        table.append(
            [
                f"`{system}`",
                f"`{baseline}`",
                min(len(rows[system]), len(rows[baseline])),
                *means,
                {"mean": test.difference, "low": test.interval.low, "high": test.interval.high},
                test.p,
                adjusted[f"{system}:{baseline}"],
                [sign_test(metric, old, new).p for old, new in both],
            ]
        )
        print(table[-1])
    record(given.json, COLUMNS, table)


def card(work: Path, name: str, test: str) -> dict[str, Any]:
    """What the card of a system says of a test set."""
    found: dict[str, Any] = json.loads((work / "cards" / f"{name}.json").read_text())["scores"][test]
    return found


def statistics(metric: Bleu, work: Path, scores: dict[str, Any]) -> list[Any]:
    """The statistics of each tuning's output. Paths in cards are relative to the run's folder."""
    references = metric.prepare([list(read_lines(work / path)) for path in scores["references"]])
    return [references.statistics(list(read_lines(work / one["file"]))) for one in scores["outputs"]]


if __name__ == "__main__":
    main()
