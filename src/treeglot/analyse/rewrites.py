"""Counts how often rules with one label fill a variable with another label (Chiang 2010, tables 4 to 6)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from treeglot.syntax.draw.bars import bars, columns
from treeglot.syntax.draw.page import document

Side = Literal["source", "target"]
SIDES: Mapping[Side, str] = {"source": "f", "target": "e"}
SHARES = ("glue", "match", "mismatch")
SUBSTITUTION = re.compile(r"subst_([fe])\[(.*)\]", re.DOTALL)


@dataclass(frozen=True)
class Rewrites:
    """The substitutions in a system's best derivations.

    A substitution into glue, S → X or S → S X, counts as glue. Every other substitution is a match or a mismatch, on
    each side.
    """

    system: str
    sentences: int
    glue: int
    match: Mapping[Side, int]
    mismatch: Mapping[Side, int]
    rewrites: Mapping[Side, Mapping[str, int]]  # "NP→VP": a VP where an NP was asked for

    def share(self, side: Side, kind: str) -> float:
        """Return the percentage of glue, matches or mismatches among all substitutions."""
        counts = {"glue": self.glue, "match": self.match[side], "mismatch": self.mismatch[side]}
        total = sum(counts.values())
        return 100 * counts[kind] / total if total else 0.0

    def frequency(self, side: Side, rewrite: str) -> float:
        """Return how often a category replaces another, in percent of all substitutions that are not glue."""
        total = self.match[side] + self.mismatch[side]
        return 100 * self.rewrites[side].get(rewrite, 0) / total if total else 0.0

    def as_json(self) -> dict[str, Any]:
        """Return the counts as JSON values."""
        return {
            "system": self.system,
            "sentences": self.sentences,
            "glue": self.glue,
            "match": dict(self.match),
            "mismatch": dict(self.mismatch),
            "rewrites": {side: dict(sorted(counts.items())) for side, counts in self.rewrites.items()},
        }


def count_rewrites(system: str, derivations: Iterable[Mapping[str, float]]) -> Rewrites:
    """Count the substitutions in some derivations. Each derivation is given by the features that fired in it.

    >>> fired = {"match_f": 1.0, "subst_f[NP→NP]": 1.0, "nomatch_e": 1.0, "subst_e[NP→VP]": 1.0, "glue": 1.0}
    >>> found = count_rewrites("fuzzy", [fired])
    >>> found.glue, found.rewrites["target"], found.share("source", "match")
    (2, Counter({'NP→VP': 1}), 33.333333333333336)
    """
    sums: Counter[str] = Counter()
    rewrites: dict[Side, Counter[str]] = {"source": Counter(), "target": Counter()}
    names: dict[str, Side] = {short: side for side, short in SIDES.items()}
    sentences = 0
    for features in derivations:
        sentences += bool(features)
        for name, value in features.items():
            if found := SUBSTITUTION.fullmatch(name):
                rewrites[names[found[1]]][found[2]] += round(value)
            else:
                sums[name] += round(value)
    return Rewrites(
        system,
        sentences,
        sums["glue"] + sentences,  # the first of a sentence is put into S → X, which has no feature
        {side: sums[f"match_{short}"] for side, short in SIDES.items()},
        {side: sums[f"nomatch_{short}"] for side, short in SIDES.items()},
        rewrites,
    )


def common_rewrites(systems: Sequence[Rewrites], side: Side, least: float = 1.0) -> list[str]:
    """Return the rewrites that are at least `least` percent in some system, sorted by frequency in the first system."""
    found = {
        rewrite
        for system in systems
        for rewrite in system.rewrites[side]
        if any(other.frequency(side, rewrite) >= least for other in systems)
    }
    return sorted(found, key=lambda rewrite: ([-s.frequency(side, rewrite) for s in systems], rewrite))


def rewrites_text(systems: Sequence[Rewrites], least: float = 1.0) -> str:
    """Format the shares and the common rewrites of both sides as tables."""
    names = [system.system for system in systems]
    shares = [["side  kind, %", *names]]
    for side in SIDES:
        shares += [[f"{side} {kind}", *(f"{s.share(side, kind):.1f}" for s in systems)] for kind in SHARES]
    parts = [columns(shares)]
    for side in SIDES:
        rows = [[f"{side} rewrite, %", *names]]
        for rewrite in common_rewrites(systems, side, least):
            rows.append([rewrite.replace("→", " → "), *(f"{s.frequency(side, rewrite):.1f}" for s in systems)])
        parts.append(columns(rows))
    return "\n\n".join(parts)


def rewrites_plot(systems: Sequence[Rewrites], least: float = 1.0) -> str:
    """Draw the shares and the common rewrites as bars, on a self-contained HTML page."""
    names = [system.system for system in systems]
    drawings = [
        bars(
            "Glue, matching and mismatching substitutions",
            [f"{side} {kind}" for side in SIDES for kind in SHARES],
            names,
            [[s.share(side, kind) for s in systems] for side in SIDES for kind in SHARES],
            " %",
        )
    ]
    for side in SIDES:
        common = common_rewrites(systems, side, least)
        values = [[s.frequency(side, rewrite) for s in systems] for rewrite in common]
        title = f"Rewrites of the {side} side, without glue"
        drawings.append(bars(title, [r.replace("→", " → ") for r in common], names, values, " %"))
    return document("Substitutions", drawings, "body { max-width: 760px; }")
