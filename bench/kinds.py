"""The table of all kinds: runs a recipe with several seeds, and writes what its report and cards have.

python bench/kinds.py recipes/zh-en.toml --data DATA/zh-en --work zh-en --json bench/results/all-kinds.json
python bench/kinds.py recipes/zh-en.toml --data DATA/zh-en --work zh-en --again hiero,c2s

A run that was ended goes on where it was. `--pairs N` trains on the first N pairs, for systems that are slow with all.
`--again` runs some systems once more in a folder of their own, and compares the bytes of tables, weights and outputs.
Run it on a machine without other work: times are part of the table.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from record import add_option, column, record

from treeglot.base.errors import UsageError
from treeglot.base.files import iterate_lines, write_binary
from treeglot.cli import main as treeglot
from treeglot.decode.weights import read_weights
from treeglot.experiment import load_report
from treeglot.experiment.recipe import load_recipe
from treeglot.experiment.results import SPEED, Report

LINES = ("source", "target", "alignments", "source_trees", "target_trees")  # files with a line for each pair
SCORED = ("rules.table", "weights.txt")  # of a model


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", type=Path)
    parser.add_argument("--data", type=Path, action="append", default=[])
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--systems", default="", help="only these, by commas, and the baseline")
    parser.add_argument("--pairs", type=int, default=0, help="train on so many pairs, the first ones; 0: on all")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--jobs", type=int, default=1, help="steps that run at once")
    parser.add_argument("--memory", default="2G", help="approximate memory to use, which jobs share")
    parser.add_argument("--again", default="", help="systems, by commas, that are run once more and compared")
    add_option(parser)
    arguments = parser.parse_args()
    load = os.getloadavg()[1]
    if load > 1:
        print(f"the load is {load:.1f} before the run: times will be too long", file=sys.stderr)
    if arguments.pairs:
        arguments.data.insert(0, first_pairs(arguments.recipe, arguments.data, arguments.work, arguments.pairs))
    if code := run(arguments, arguments.work, arguments.systems):
        return code
    report = load_report(arguments.work)
    for test in report.tests:
        columns, rows = table(report, test)
        path = arguments.json if len(report.tests) == 1 else test_path(arguments.json, test)
        record(path, columns, rows)
    return again(arguments) if arguments.again else 0


def run(arguments: argparse.Namespace, work: Path, systems: str) -> int:
    command = ["run", str(arguments.recipe), "--work", str(work), "--seeds", arguments.seeds]
    command += [word for folder in arguments.data for word in ("--data", str(folder))]
    command += [
        "--threads",
        str(arguments.threads),
        "--jobs",
        str(arguments.jobs),
        "--memory",
        arguments.memory,
        *(["--systems", systems] if systems else []),
    ]
    return treeglot(command)


def first_pairs(recipe: Path, data: Sequence[Path], work: Path, pairs: int) -> Path:
    """A folder with the first pairs of the recipe's corpus. Its files need a line for each pair."""
    corpus = load_recipe(recipe, data).corpus
    folder = work / f"first-{pairs}"
    folder.mkdir(parents=True, exist_ok=True)
    for name, path in corpus.given().items():
        if name not in LINES:
            raise UsageError(f"corpus.{name} is given; --pairs expects none but {', '.join(LINES)}")
        lines = list(itertools.islice(iterate_lines(path), pairs))
        if len(lines) < pairs:
            raise UsageError(f"{path} has {len(lines)} lines; expected {pairs} or more, because of --pairs")
        with write_binary(folder / path.name) as stream:
            stream.writelines(f"{line}\n".encode() for line in lines)
    return folder


def test_path(path: Path | None, test: str) -> Path | None:
    return None if path is None else path.with_name(f"{path.stem}-{test}{path.suffix}")


def table(report: Report, test: str) -> tuple[list[dict[str, Any]], list[list[Any]]]:
    """The figures of a report on one test set, and how long each stage took."""
    figures = report.figures
    baseline = figures["baseline"]
    scores = "BLEU, by seed"
    columns = [
        column("system"),
        column("rules"),
        column("features"),
        column(scores, 2),
        column("mean", 2) | {"mean_of": scores},
        column(f"against {baseline}, 95 %", 2, signed=True),
        column("p, Holm", 3),
        column("sign test p, by seed", 3),
        column("train, CPU s", 1),
        column("tune, CPU s", 1),
        column("peak, GB", 1),
        column("ms a sentence", 1),
        column("not comparable"),
    ]
    by_name = {one["system"]: one for one in figures["tests"][test]["scores"]}
    rows: list[list[Any]] = []
    for system in figures["systems"]:
        name, one = system["name"], by_name[system["name"]]
        card = json.loads((report.folder / "cards" / f"{name}.json").read_text())
        steps = card["measured"]["steps"]
        rows.append(
            [
                f"`{name}`",
                system["rules"],
                features(report.folder, card),
                *judged_row(one),
                steps.get(f"train {name}", {}).get("cpu"),
                sum(step["cpu"] for title, step in steps.items() if title.startswith(f"tune {name}")) or None,
                max((step["peak_memory"] / 1e9 for step in steps.values() if "peak_memory" in step), default=None),
                steps.get(f"translate {name} {test}", {}).get(SPEED),
                "; ".join(system["unlike"]) or None,
            ]
        )
    for name in [one["name"] for one in figures.get("combinations", ())]:  # no models of their own
        rows.append([f"`{name}`", None, None, *judged_row(by_name[name]), *[None] * 5])
    return columns, rows


def features(folder: Path, card: dict[str, Any]) -> int | None:
    """How many weights are not 0, in the mean of the seeds."""
    found = [read_weights(folder / weights["file"]).values() for weights in card["weights"]]
    return round(sum(value != 0 for values in found for value in values) / len(found)) if found else None


def judged_row(one: dict[str, Any]) -> list[Any]:
    """The cells of a system's scores; the mean is left to the page."""
    found, against, adjusted, signs = judged(one)
    return [found, None, against, adjusted, signs]


def judged(one: dict[str, Any]) -> tuple[list[float], dict[str, float] | None, float | None, list[float] | None]:
    """The scores of a system, its difference from the baseline, and the tests."""
    if "tunings" not in one:
        bleu = one["scores"]["BLEU"]
        against = bleu.get("against")
        if not against:
            return [bleu["score"]], None, None, None
        low, high = against["difference_interval"]
        interval = {"mean": against["difference"], "low": low, "high": high}
        return [bleu["score"]], interval, None, [against["sign_test"]["p"]]
    bleu = one["tunings"]["BLEU"]
    against = bleu.get("against")
    if not against:
        return bleu["scores"], None, None, None
    low, high = against["interval"]
    interval = {"mean": against["difference"], "low": low, "high": high}
    return bleu["scores"], interval, against["adjusted_p"], against["sign_tests"]


def again(arguments: argparse.Namespace) -> int:
    """Run systems once more; 1 if a table, weights or an output has other bytes."""
    with tempfile.TemporaryDirectory(dir=arguments.work.parent) as folder:
        other = Path(folder)
        if code := run(arguments, other, arguments.again):
            return code
        names = arguments.again.split(",")
        differing = [difference for name in names for difference in compare(arguments.work, other, name)]
    for line in differing:
        print(f"differs: {line}")
    print(f"{len(names)} systems once more: {'the same bytes' if not differing else f'{len(differing)} files differ'}")
    return 1 if differing else 0


def compare(work: Path, other: Path, name: str) -> list[str]:
    """The files of a system that differ between two runs, by the digests of its cards."""
    cards = [json.loads((folder / "cards" / f"{name}.json").read_text()) for folder in (work, other)]
    digests: list[dict[str, str]] = []
    for card in cards:
        found = {path: digest for path, digest in card["model"].items() if Path(path).name in SCORED}
        found |= {f"weights {n}": one["digest"] for n, one in enumerate(card["weights"])}
        for test, scores in card["scores"].items():
            found |= {f"output {test} {n}": one["digest"] for n, one in enumerate(scores["outputs"])}
        digests.append(found)
    first, second = digests
    return [f"{name}: {path}" for path in {**first, **second} if first.get(path) != second.get(path)]


if __name__ == "__main__":
    sys.exit(main())
