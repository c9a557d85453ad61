"""Substitutions in the derivations of two systems of a run, all seeds: tables 4 to 6 of Chiang (2010).

python bench/rewrites.py WORK hiero-20 t2t-fuzzy DATA/test.zh --json bench/results/rewrites-shares.json \
    --labels bench/results/rewrites-labels.json

WORK is the folder of a finished `treeglot run`. The second system's rules have labels, and are the first one's. So the
second model with the first one's weights gives the first one's derivations, with labels. Intervals are over sentences
and seeds, as those of BLEU are. Holm's correction is for all rewrites of the second table.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from differences import SAMPLES
from record import add_option, column, record

from treeglot.analyse.rewrites import SHARES, SIDES, SUBSTITUTION, Side
from treeglot.base.errors import UsageError
from treeglot.base.files import read_lines
from treeglot.decode.weights import read_weights
from treeglot.evaluate.means import compare_means, holm
from treeglot.models import load

LEAST = 1.0  # per cent that a rewrite must reach in a system, in the mean


class Percentage:
    """A metric of two columns, a part and its whole."""

    name = "percentage"

    def scores(self, sums: Any) -> Any:
        return 100 * sums[:, 0] / np.maximum(sums[:, 1], 1)

    def score(self, rows: Any) -> float:
        return float(self.scores(rows.sum(axis=0, keepdims=True))[0])


@dataclass(frozen=True)
class Counted:
    """The substitutions of one tuning's derivations, sentence by sentence."""

    shares: Mapping[tuple[Side, str], np.ndarray]  # counts of each share by sentence
    rewrites: Mapping[tuple[Side, str], Mapping[int, int]]  # by sentence, where there are any

    def share(self, side: Side, kind: str) -> np.ndarray:
        """How many substitutions of a kind there are, and how many of all."""
        return np.stack([self.shares[side, kind], sum(self.shares[side, one] for one in SHARES)], axis=1)

    def rewrite(self, side: Side, rewrite: str) -> np.ndarray:
        """How often it happens, of all that is not glue."""
        all_but_glue = self.shares[side, "match"] + self.shares[side, "mismatch"]
        own = np.zeros(len(all_but_glue))
        for sentence, number in self.rewrites.get((side, rewrite), {}).items():
            own[sentence] = number
        return np.stack([own, all_but_glue], axis=1)


def counted(derivations: Sequence[Mapping[str, float]]) -> Counted:
    """Count the substitutions of derivations, each given by the features that fired in it.

    >>> found = counted([{"match_f": 1.0, "subst_f[NP→NP]": 1.0, "nomatch_e": 1.0, "glue": 1.0}])
    >>> found.share("source", "glue").tolist(), found.rewrite("source", "NP→NP").tolist()
    ([[2.0, 3.0]], [[1.0, 1.0]])
    """
    sides = {short: side for side, short in SIDES.items()}
    shares: dict[tuple[Side, str], np.ndarray] = {}
    for side, short in SIDES.items():
        # The first substitution of a sentence is put into S → X, which has no feature.
        glue = [features.get("glue", 0.0) + bool(features) for features in derivations]
        matches = ([features.get(f"{name}_{short}", 0.0) for features in derivations] for name in ("match", "nomatch"))
        shares |= {(side, kind): np.array(one) for kind, one in zip(SHARES, (glue, *matches), strict=True)}
    rewrites: dict[tuple[Side, str], Counter[int]] = {}
    for number, features in enumerate(derivations):
        for name, value in features.items():
            if found := SUBSTITUTION.fullmatch(name):
                rewrites.setdefault((sides[found[1]], found[2]), Counter())[number] += round(value)
    return Counted(shares, rewrites)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("baseline", help="the system without labels")
    parser.add_argument("system", help="the system whose rules have labels")
    parser.add_argument("input", type=Path)
    parser.add_argument("--labels", type=Path, help="where to write the table of rewrites")
    parser.add_argument("--threads", type=int, default=1)
    add_option(parser)
    given = parser.parse_args()
    model = load(given.work / "models" / given.system)
    if "match_f" not in model.translator.features:
        raise UsageError(f"the rules of {given.system} have no labels; expected a system such as t2t-fuzzy")
    lines = read_lines(given.input)
    both: list[list[Counted]] = []
    for name in (given.baseline, given.system):
        card = json.loads((given.work / "cards" / f"{name}.json").read_text())
        tunings = []
        for weights in card["weights"]:
            system = model.with_weights(read_weights(given.work / weights["file"]))
            found = system.translate_batch(lines, threads=given.threads)
            tunings.append(counted([translation.features for translation in found]))
        both.append(tunings)
    names = (given.baseline, given.system)
    rows = [[side, kind, *compared(*both, "share", side, kind)] for side in SIDES for kind in SHARES]
    for row in rows:
        print(row)
    record(given.json, columns("share of substitutions", *names), rows)
    common = [(side, rewrite) for side in SIDES for rewrite in common_rewrites(both, side)]
    rows = [[side, rewrite.replace("→", " → "), *compared(*both, "rewrite", side, rewrite)] for side, rewrite in common]
    adjusted = holm({f"{side} {rewrite}": row[-1] for (side, rewrite), row in zip(common, rows, strict=True)})
    rows = [[*row, adjusted[f"{side} {rewrite}"]] for (side, rewrite), row in zip(common, rows, strict=True)]
    record(given.labels, [*columns("rewrite", *names), column("p, Holm", 3)], rows)


def columns(what: str, *names: str) -> list[dict[str, Any]]:
    """Of a table: the means of both systems, and their difference."""
    means = [column(f"`{name}`, by seed, %", 1) for name in names]
    return [column("side"), column(what), *means, column("difference, 95 %", 1, signed=True), column("p", 3)]


def compared(old: Sequence[Counted], new: Sequence[Counted], what: str, side: Side, name: str) -> list[Any]:
    """The percentages of both systems by seed, and their difference."""
    rows = [[getattr(one, what)(side, name) for one in tunings] for tunings in (old, new)]
    test = compare_means(Percentage(), rows[0], rows[1], samples=SAMPLES)  # type: ignore[arg-type]
    interval = {"mean": test.difference, "low": test.interval.low, "high": test.interval.high}
    return [*([Percentage().score(one) for one in tunings] for tunings in rows), interval, test.p]


def common_rewrites(both: Sequence[Sequence[Counted]], side: Side) -> list[str]:
    """The rewrites that reach LEAST in the mean of a system's tunings, those of the first system first."""
    every = {name for tunings in both for one in tunings for of, name in one.rewrites if of == side}
    means = {
        name: [np.mean([Percentage().score(one.rewrite(side, name)) for one in tunings]) for tunings in both]
        for name in every
    }
    common = [name for name, found in means.items() if max(found) >= LEAST]
    return sorted(common, key=lambda name: ([-mean for mean in means[name]], name))


if __name__ == "__main__":
    main()
