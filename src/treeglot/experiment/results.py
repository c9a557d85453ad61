"""Presents the results of an experiment to programs, on terminals and in notebooks."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from treeglot.base.errors import FormatError
from treeglot.base.files import PathLike, parse_json, read_json
from treeglot.evaluate.page import shown
from treeglot.syntax.draw.bars import columns, html_table

REPORT = "report.json"
SPEED = "ms_per_sentence"  # what a translation notes beside its result
_SINGLE = ("BLEU", "interval", "against BASELINE", "sign test p")
_MEANS = ("BLEU, mean", "seeds", "against BASELINE", "95 % interval", "p", "p, Holm", "sign test p")


@dataclass(frozen=True)
class Report:
    """The figures of a finished experiment. `print` and notebooks show them as tables."""

    folder: Path
    figures: dict[str, Any]  # as `report.json` has them
    timings: dict[str, dict[str, float]]  # of each step: wall, cpu, and what it measured

    @property
    def page(self) -> Path:
        """The page with the full report."""
        return self.folder / "report.html"

    @property
    def tests(self) -> list[str]:
        """The names of the test sets."""
        return list(self.figures["tests"])

    def table(self, test: str) -> list[list[str]]:
        """Return a table of a test set: scores, tests against the baseline, rules and speed.

        Its first row is the heading.

        With several seeds, scores are means. A star marks systems whose tuner or features differ from the baseline.
        """
        scores = self.figures["tests"][test]["scores"]
        several = any("tunings" in one for one in scores)
        rules = {system["name"]: system.get("rules") for system in self.figures["systems"]}
        rows = [["system", "rules", *(_MEANS if several else _SINGLE), "ms a sentence"]]
        rows[0] = [head.replace("BASELINE", self.figures["baseline"]) for head in rows[0]]
        for one in scores:
            name = one["system"]
            speed = self.timings.get(f"translate {name} {test}", {}).get(SPEED)
            cells = _mean_cells(one["tunings"]["BLEU"]) if several else _single_cells(one["scores"]["BLEU"])
            star = "*" if self._unlike(name) else ""
            known = rules.get(name)
            counted = f"{known:,}" if known is not None else "on demand" if name in rules else ""
            rows.append([name + star, counted, *cells, "" if speed is None else f"{speed:.1f}"])
        return rows

    def notes(self) -> list[str]:
        """Explain, in lines, which systems differ too much from the baseline, and what combinations contain."""
        baseline = self.figures["baseline"]
        out = [
            f"* {system['name']} is not comparable with {baseline}: {'; '.join(system['unlike'])}"
            for system in self.figures["systems"]
            if system["unlike"]
        ]
        combined = self.figures.get("combinations", ())
        return out + [f"{one['name']} combines {', '.join(one['systems'])}" for one in combined]

    def _unlike(self, name: str) -> bool:
        return any(system["name"] == name and system["unlike"] for system in self.figures["systems"])

    def signature(self, test: str) -> str:
        """Return a line that describes how the scores were made."""
        scores = self.figures["tests"][test]["scores"]
        return f"BLEU {scores[0]['scores']['BLEU']['signature']}|{self.figures['signature'].replace(' ', ':')}"

    def __str__(self) -> str:
        tables = [f"{test}\n{columns(self.table(test))}\n{self.signature(test)}" for test in self.tests]
        return "\n\n".join([*tables, *(["\n".join(notes)] if (notes := self.notes()) else [])])

    def _repr_html_(self) -> str:
        parts = [f"<h3>{escape(self.figures['title'])}</h3>"]
        for test in self.tests:
            parts += [f"<h4>{escape(test)}</h4>", html_table(self.table(test))]
            parts.append(f"<small>{escape(self.signature(test))}</small>")
        parts += [f"<p>{escape(note)}</p>" for note in self.notes()]
        return "\n".join([*parts, f'<p><a href="{escape(str(self.page))}">{escape(str(self.page))}</a></p>'])


def _single_cells(bleu: dict[str, Any]) -> list[str]:
    low, high = bleu["interval"]
    cells = [f"{bleu['score']:.2f}", f"{low:.2f} to {high:.2f}"]
    against = bleu.get("against")
    return cells + ([f"{against['difference']:+.2f}", shown(against["sign_test"]["p"])] if against else ["", ""])


def _mean_cells(bleu: dict[str, Any]) -> list[str]:
    cells = [f"{bleu['mean']:.2f}", ", ".join(f"{score:.2f}" for score in bleu["scores"])]
    against = bleu.get("against")
    if not against:
        return [*cells, "", "", "", "", ""]
    low, high = against["interval"]
    cells += [f"{against['difference']:+.2f}", f"{low:+.2f} to {high:+.2f}"]
    cells += [shown(against["p"]), shown(against["adjusted_p"])]
    return [*cells, ", ".join(shown(p) for p in against["sign_tests"])]


def load_report(folder: PathLike) -> Report:
    """Return the report of a finished experiment from its folder."""
    place = Path(folder)
    if not (place / REPORT).is_file():
        raise FormatError(str(place), 0, f"has no {REPORT}: the experiment has not ended")
    timings = place / "timings.js"
    measured: dict[str, Any] = {"steps": {}}
    if timings.is_file():
        text = timings.read_bytes().partition(b"=")[2].rstrip(b"\n;")
        measured = parse_json(text, str(timings))
    report = Report(place, read_json(place / REPORT), measured.get("steps", {}))
    try:
        str(report)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise FormatError(str(place / REPORT), 0, f"is not a report of an experiment: {error!r}") from None
    return report
