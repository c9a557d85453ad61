"""Systems of a finished run against one of them, over sentences and seeds: two-sided intervals, Holm and sign tests.

python bench/against.py zh-en c2s c2s-wf c2s-wf-s2s c2d-s2d c2d --json bench/results/rule-sets.json

The first name is the baseline. Scores are of the outputs that the cards name, with the cards' options.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from record import add_option, column, record

from treeglot.evaluate.means import score_tunings
from treeglot.evaluate.report import ReportOptions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path, help="the run's folder")
    parser.add_argument("baseline")
    parser.add_argument("systems", nargs="+")
    parser.add_argument("--test", default="test", help="the test set's name")
    add_option(parser)
    given = parser.parse_args()
    names = [given.baseline, *given.systems]
    cards = {
        name: json.loads((given.work / "cards" / f"{name}.json").read_text())["scores"][given.test] for name in names
    }
    if any(card["options"] != cards[given.baseline]["options"] for card in cards.values()):
        parser.error("the cards differ in the options of scoring; expected the same")
    first = cards[given.baseline]
    references = [lines(given.work / path) for path in first["references"]]
    outputs = {name: [lines(given.work / one["file"]) for one in card["outputs"]] for name, card in cards.items()}
    options = ReportOptions(**first["options"])
    found = score_tunings(outputs, references, baseline=given.baseline, metrics=["bleu"], options=options)
    scores = "BLEU, by seed"
    columns = [
        column("system"),
        column(scores, 2),
        column("mean", 2) | {"mean_of": scores},
        column(f"against {given.baseline}, 95 %", 2, signed=True),
        column("p", 3),
        column("p, Holm", 3),
        column("sign test p, by seed", 3),
    ]
    rows: list[list[Any]] = []
    for name, [one] in found.items():
        row: list[Any] = [f"`{name}`", [round(score, 4) for score in one.scores], None]
        if one.against is None:
            row += [None] * 4
        else:
            mean = {"mean": one.against.difference, "low": one.against.interval.low, "high": one.against.interval.high}
            row += [mean, one.against.p, one.adjusted_p, list(one.sign_tests)]
        rows.append(row)
        print(row)
    record(given.json, columns, rows)


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    main()
