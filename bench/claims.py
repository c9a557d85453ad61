"""The claims of the papers beside our figures, as docs/claims.md shows them; bench/claims.json holds them.

A verdict is computed, never written: it follows from the interval and from the number of seeds.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SEEDS = 3  # fewer tunings give no verdict
LIKE = 1.5  # a ratio within this factor of the paper's is like it
KEYS = {"claim", "paper", "expects", "margin", "ours", "note"}
EXPECTED = ("above", "below", "similar", "ratio")
OURS = {"difference", "low", "high", "seeds", "test", "ratio", "paper_ratio", "shown"}
HEAD = """\
# The papers' claims

<!-- Made by `python bench/render.py` from bench/claims.json: edit that file, not this page. -->

Each table lists the claims of one paper with its figures, our figures and a verdict. The papers train on 239,000 to
1,250,000 pairs of news text. We train on 50,707 pairs of everyday sentences and image captions, and test on 1,000
sentences of the same kind. So a verdict holds for this data only. It neither proves nor refutes the paper.

We derive each verdict from the figures by these rules:

- *Confirmed*: the 95 % interval over sentences and seeds lies on the claimed side of 0. If the paper claims that two
  systems are *similar*, the interval lies within half a point of 0.
- *Contradicted*: the interval lies on the other side of 0. For *similar*, it lies more than half a point from 0.
- *Open*: the interval includes 0, or there are fewer than three seeds, or there is no interval.
- *Like the paper*, *same direction*, *other direction*: these verdicts are for counts, which do not vary by chance.
  *Like the paper* means within a factor of 1.5.
- *Not measured*: we have no figure.

[Measured results](../bench/RESULTS.md) describes how we obtained each of our figures.

"""


class BadClaimError(ValueError):
    """A claim that cannot be judged."""


def verdict(claim: dict[str, Any]) -> str:
    """What a claim's figures allow to say.

    >>> verdict({"expects": "above", "ours": {"difference": 0.7, "low": 0.1, "high": 1.2, "seeds": 3}})
    'confirmed'
    >>> verdict({"expects": "above", "ours": {"difference": 0.7, "low": 0.1, "high": 1.2, "seeds": 1}})
    'open: 1 seed'
    """
    ours = claim.get("ours")
    if ours is None:
        return "not measured"
    if claim["expects"] == "ratio":
        return _ratio(ours["ratio"], ours["paper_ratio"])
    if ours["seeds"] < SEEDS:
        return f"open: {ours['seeds']} seed{'s' if ours['seeds'] > 1 else ''}"
    if ours.get("low") is None:
        return "open: no interval"
    low, high = ours["low"], ours["high"]
    if claim["expects"] == "similar":
        if -claim["margin"] < low and high < claim["margin"]:
            return "confirmed"
        beyond = low > claim["margin"] or high < -claim["margin"]
        return "contradicted" if beyond else "open: the interval is wider than the margin"
    if claim["expects"] == "below":
        low, high = -high, -low
    return "confirmed" if low > 0 else "contradicted" if high < 0 else "open: the interval includes 0"


def _ratio(ours: float, paper: float) -> str:
    if 1 / LIKE <= ours / paper <= LIKE:
        return "like the paper"
    return "same direction" if (ours < 1) == (paper < 1) else "other direction"


def _ours(claim: dict[str, Any]) -> str:
    ours = claim.get("ours")
    if ours is None:
        return ""
    if "shown" in ours:
        return str(ours["shown"])
    parts = [f"{ours['difference']:+.2f}"]
    if ours.get("low") is not None:
        parts[0] += f" ({ours['low']:+.2f} to {ours['high']:+.2f})"
    parts[0] = parts[0].replace("-", "−")
    parts.append(f"{ours['seeds']} seed{'s' if ours['seeds'] > 1 else ''}")
    return ", ".join([*parts, *([ours["test"]] if ours.get("test") else [])])


def _check(claim: dict[str, Any], place: str) -> None:
    ours = claim.get("ours") or {}
    unknown = [*(claim.keys() - KEYS), *(ours.keys() - OURS)]
    if unknown:
        raise BadClaimError(f"{place}: unknown key {unknown[0]!r}")
    if claim.get("expects") not in EXPECTED:
        raise BadClaimError(f"{place}: expects is {claim.get('expects')!r}; expected one of {', '.join(EXPECTED)}")
    if (claim["expects"] == "similar") != ("margin" in claim):
        raise BadClaimError(f"{place}: expected a margin where the claim is 'similar', and only there")
    if ours and claim["expects"] == "ratio" and not {"ratio", "paper_ratio", "shown"} <= ours.keys():
        raise BadClaimError(f"{place}: expected ratio, paper_ratio and shown")
    if ours and claim["expects"] != "ratio" and not ("seeds" in ours and ("difference" in ours or "shown" in ours)):
        raise BadClaimError(f"{place}: expected seeds, and difference or shown")


def claims_page(path: Path) -> str:
    """The page of all claims."""
    parts = []
    for paper in json.loads(path.read_text(encoding="utf-8")):
        lines = [f"## {paper['paper']}", "", paper["setting"], ""]
        lines += ["| claim | the paper | ours | verdict | |", "|---|---|---|---|---|"]
        for claim in paper["claims"]:
            _check(claim, f"{path}: {claim.get('claim', paper['paper'])}")
            cells = [claim["claim"], claim["paper"], _ours(claim), f"**{verdict(claim)}**", claim.get("note", "")]
            lines.append(f"| {' | '.join(cells)} |")
        parts.append("\n".join([*lines, *(["", paper["missing"]] if paper.get("missing") else [])]))
    return HEAD + "\n\n".join(parts) + "\n"
