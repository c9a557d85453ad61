"""The claims of the papers beside our figures, as docs/claims.md shows them; bench/claims.json holds them.

A claim names a cell of a table in bench/results. Our figures, their p-values and the verdict are computed from that
table. So a new measurement changes them. Only notes are written by hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from treeglot.evaluate.means import holm

SEEDS = 3  # fewer tunings give no verdict
LIKE = 1.5  # a ratio within this factor of the paper's is like it
CHANCE = 0.05
LESS, MORE = "less", "more"  # what a paper says without a figure
KEYS = {"claim", "paper", "expects", "margin", "from", "ratio", "note"}
FROM = {"file", "row", "figure", "means", "p", "as"}
RATIO = {"of", "to", "paper", "shown"}
CELL = {"file", "row", "figure"}
EXPECTED = ("above", "below", "similar", "ratio")
DIFFERENCE = "difference, 95 %"
ROUNDED = 0.02  # how far rounding may take a difference from that of the means
HEAD = """\
# The papers' claims

<!-- Made by `python bench/render.py` from bench/claims.json and bench/results: edit those files, not this page. -->

Each table lists the claims of one paper with its figures, our figures and a verdict. The papers train on 239,000 pairs
of news text or many more. We train on 50,707 pairs of everyday sentences and image captions, and test on 1,000
sentences of the same kind. So a verdict holds for this data only. It neither proves nor refutes the paper.

A program takes our figures from the tables of [the results](../bench/RESULTS.md), and derives each verdict by these
rules:

- *Confirmed*: the 95 % interval over sentences and seeds lies on the claimed side of 0. If the paper claims that two
  systems are *similar*, the interval lies within the margin of half a point.
- *Contradicted*: the interval lies on the other side of 0. For *similar*, it lies outside the margin.
- *Before correction* follows such a verdict if *p* is 0.05 or more after Holm's correction. The correction is for all
  claims of the paper that one system is above or below another.
- *Open*: the interval includes 0, or is wider than the margin, or there are fewer than three seeds.
- *Like the paper*, *same direction*, *other direction*: these verdicts are for counts, shares and times. They are not
  tested. *Like the paper* means in the same direction, and within a factor of 1.5.
- *Not measured*: we have no figure.

In the column *ours*, the difference comes first, with its 95 % interval, and then the two means. The p-values are
two-sided. The sign test is the papers' (Collins et al. 2005), for each seed alone. With three to five seeds, intervals
are a little too narrow.

"""


class BadClaimError(ValueError):
    """A claim that cannot be judged."""


def verdict(expects: str, figures: Mapping[str, Any] | None, margin: float = 0.0) -> str:
    """What a claim's figures allow to say.

    >>> verdict("above", {"low": 0.1, "high": 1.2, "seeds": 3, "p": 0.01, "holm": 0.03})
    'confirmed'
    >>> verdict("above", {"low": 0.1, "high": 1.2, "seeds": 3, "p": 0.02, "holm": 0.06})
    'confirmed before correction'
    >>> verdict("above", {"low": 0.1, "high": 1.2, "seeds": 1})
    'open: 1 seed'
    """
    if figures is None:
        return "not measured"
    if expects == "ratio":
        return _of_counts(figures["ratio"], figures["paper"])
    if figures["seeds"] < SEEDS:
        return f"open: {figures['seeds']} seed{'s' if figures['seeds'] > 1 else ''}"
    low, high = figures["low"], figures["high"]
    if expects == "similar":
        if -margin < low and high < margin:
            return "confirmed"
        beyond = low > margin or high < -margin
        return "contradicted" if beyond else "open: the interval is wider than the margin"
    if low <= 0 <= high:
        return "open: the interval includes 0"
    holds = "confirmed" if (low > 0) == (expects == "above") else "contradicted"
    return f"{holds} before correction" if figures.get("holm", 0.0) >= CHANCE else holds


def _of_counts(ours: float, paper: float | str) -> str:
    if ours == 1 and paper != 1:
        return "no difference"
    if isinstance(paper, str):  # without a figure
        return "same direction" if (ours < 1) == (paper == LESS) else "other direction"
    near = 1 / LIKE <= ours / paper <= LIKE
    if paper == 1:
        return "like the paper" if near else "other direction"
    if (ours < 1) != (paper < 1):
        return "other direction"
    return "like the paper" if near else "same direction"


class Tables:
    """The tables of a folder of results, and the headings that show them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[str, dict[str, Any]] = {}
        self._shown: dict[str, str] = {}
        for path in sorted(folder.glob("[0-9]*.md")):
            heading = ""
            for line in path.read_text(encoding="utf-8").splitlines():
                if line.startswith("## "):
                    heading = line[3:]
                elif found := re.fullmatch(r"\[table\]\((.*)\)", line):
                    self._shown[found[1]] = heading

    def row(self, cell: Mapping[str, Any], place: str) -> dict[str, Any]:
        """The only row whose cells are those that are given."""
        name, given = cell["file"], cell["row"]
        if name not in self._read:
            try:
                self._read[name] = json.loads((self.folder / name).read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                raise BadClaimError(f"{place}: {error}") from None
        table = self._read[name]
        names = [column["name"] for column in table["columns"]]
        rows = [dict(zip(names, row, strict=True)) for row in table["rows"]]
        found = [row for row in rows if all(row.get(key) == value for key, value in given.items())]
        if len(found) != 1:
            raise BadClaimError(f"{place}: {name} has {len(found)} rows with {json.dumps(given)}; expected one")
        return found[0]

    def figure(self, cell: Mapping[str, Any], place: str) -> float:
        """A number of a table, or the number itself."""
        if isinstance(cell, int | float):
            return cell
        _check_keys(cell, CELL, place)
        value = self.row(cell, place).get(cell["figure"])
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise BadClaimError(f"{place}: {cell['figure']!r} is {value!r}; expected a number")
        return value

    def heading(self, name: str, place: str) -> str:
        """The heading of the section that shows a table."""
        if name not in self._shown:
            raise BadClaimError(f"{place}: no section of the results shows {name}")
        return self._shown[name]


def figures(claim: Mapping[str, Any], tables: Tables, place: str) -> dict[str, Any] | None:
    """What a claim's table says: an interval with its means and tests, or a ratio."""
    if claim["expects"] == "ratio":
        if "ratio" not in claim:
            return None
        given = claim["ratio"]
        of, to = (tables.figure(given[key], place) for key in ("of", "to"))
        return {"of": of, "to": to, "ratio": of / to, "paper": given["paper"], "file": given["of"]["file"]}
    if "from" not in claim:
        return None
    given = claim["from"]
    row = tables.row(given, place)

    def cell(name: str) -> Any:
        if row.get(name) is None:
            raise BadClaimError(f"{place}: the row has nothing in {name!r}; expected one of {', '.join(row)}")
        return row[name]

    found = cell(given.get("figure", DIFFERENCE))
    if not isinstance(found, dict):
        raise BadClaimError(f"{place}: {given.get('figure', DIFFERENCE)!r} is {found!r}; expected an interval")
    means = [cell(name) for name in given.get("means", ("BLEU", "baseline's BLEU"))]
    out: dict[str, Any] = {**found, "file": given["file"], "signs": row.get("sign test p, by seed")}
    out["p"] = cell(given.get("p", "p"))
    out["seeds"] = len(means[0]) if isinstance(means[0], list) else cell("seeds")
    out["means"] = [sum(one) / len(one) if isinstance(one, list) else one for one in means]
    system, baseline = out["means"]
    if abs(system - baseline - out["mean"]) > ROUNDED:
        raise BadClaimError(f"{place}: the means are {system} and {baseline}, and their difference is {out['mean']}")
    return out


def _shown(claim: Mapping[str, Any], found: Mapping[str, Any] | None) -> str:
    if found is None:
        return ""
    if claim["expects"] == "ratio":
        return claim["ratio"]["shown"].format(**found).replace("%", " %")
    rounded = (round(found[key], 2) + 0.0 for key in ("mean", "low", "high"))  # no −0.00
    mean, low, high = (f"{one:+.2f}".replace("-", "−") for one in rounded)
    system, baseline = (f"{one:.2f}" for one in found["means"])
    seeds = f"{found['seeds']} seed{'s' if found['seeds'] > 1 else ''}"
    parts = [f"{mean} ({low} to {high}): {system} and {baseline}", ", ".join([seeds, *claim["from"].get("as", [])])]
    parts.append(f"*p* {_p(found['p'])}")
    if "holm" in found:
        parts[-1] += f", {_p(found['holm'])} after Holm"
    if found["signs"]:
        parts.append(f"sign test {', '.join(map(_p, found['signs']))}")
    return "; ".join(parts)


def _p(value: float) -> str:
    """A p-value with as many digits as its size asks for.

    >>> _p(0.002), _p(0.0496), _p(0.731), _p(0.00001)
    ('0.002', '0.050', '0.73', '< 0.001')
    """
    if value < 0.001:
        return "< 0.001"
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}"


def _check_keys(given: Mapping[str, Any], known: set[str], place: str) -> None:
    if unknown := sorted(given.keys() - known):
        raise BadClaimError(f"{place}: unknown key {unknown[0]!r}; expected {', '.join(sorted(known))}")


def _check(claim: Mapping[str, Any], place: str) -> None:
    _check_keys(claim, KEYS, place)
    expects = claim.get("expects")
    if expects not in EXPECTED:
        raise BadClaimError(f"{place}: expects is {expects!r}; expected one of {', '.join(EXPECTED)}")
    if (expects == "similar") != ("margin" in claim):
        raise BadClaimError(f"{place}: expected a margin where the claim is 'similar', and only there")
    if ("ratio" if expects != "ratio" else "from") in claim:
        raise BadClaimError(f"{place}: expected 'ratio' for a ratio, and 'from' for any other claim")
    if "from" in claim:
        _check_keys(claim["from"], FROM, place)
    if "ratio" in claim:
        _check_keys(claim["ratio"], RATIO, place)
        if RATIO - claim["ratio"].keys():
            raise BadClaimError(f"{place}: expected {', '.join(sorted(RATIO))}")
        paper = claim["ratio"]["paper"]
        of, to = claim["ratio"]["of"], claim["ratio"]["to"]
        if not isinstance(of, dict) or (isinstance(to, dict) and of.get("file") != to.get("file")):
            raise BadClaimError(f"{place}: expected 'of' and 'to' from one table, or a number as 'to'")
        if paper not in (LESS, MORE) and (isinstance(paper, bool) or not isinstance(paper, int | float)):
            raise BadClaimError(f"{place}: paper is {paper!r}; expected a number, {LESS!r} or {MORE!r}")


def _table(claims: list[dict[str, Any]], tables: Tables, path: Path) -> list[str]:
    """The rows of a paper. Its claims that one is above or below another are one family of tests."""
    found: dict[str, dict[str, Any] | None] = {}
    for claim in claims:
        place = f"{path}: {claim.get('claim', 'a claim without a text')}"
        _check(claim, place)
        if claim["claim"] in found:
            raise BadClaimError(f"{place}: this claim stands there twice")
        found[claim["claim"]] = figures(claim, tables, place)
    tested = {
        claim["claim"]: one["p"]
        for claim in claims
        if claim["expects"] in ("above", "below") and (one := found[claim["claim"]])
    }
    for name, p in holm(tested).items():
        found[name]["holm"] = p  # type: ignore[index]
    lines = ["| claim | the paper | ours | verdict | |", "|---|---|---|---|---|"]
    for claim in claims:
        one = found[claim["claim"]]
        shown = _shown(claim, one)
        if one is not None:
            heading = tables.heading(one["file"], f"{path}: {claim['claim']}")
            shown += f" ([table](../bench/RESULTS.md#{anchor(heading)}))"
        said = verdict(claim["expects"], one, claim.get("margin", 0.0))
        lines.append(f"| {claim['claim']} | {claim['paper']} | {shown} | **{said}** | {claim.get('note', '')} |")
    return lines


def anchor(heading: str) -> str:
    """The anchor of a heading, as GitHub makes it.

    >>> anchor("How good is German–English?")
    'how-good-is-germanenglish'
    """
    return "".join(char for char in heading.lower() if char.isalnum() or char in " -_").replace(" ", "-")


def claims_page(path: Path, results: Path) -> str:
    """The page of all claims, with figures from a folder of results."""
    tables = Tables(results)
    parts = []
    for paper in json.loads(path.read_text(encoding="utf-8")):
        lines = [f"## {paper['paper']}", "", paper["setting"], "", *_table(paper["claims"], tables, path)]
        parts.append("\n".join([*lines, *(["", paper["missing"]] if paper.get("missing") else [])]))
    return HEAD + "\n\n".join(parts) + "\n"
