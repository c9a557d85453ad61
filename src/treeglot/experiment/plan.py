"""Estimates the cost of a model: time, memory and disk of each step, from measured rates.

`rates.json` contains the measurements and their sources. The time and disk space of a step are proportional to the
number of words, at a rate that is interpolated between two measured sizes. Beyond the largest size, the rate stays the
same. A part of the memory does not grow, so memory is interpolated and continued on straight lines through the measured
sizes.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import groupby

from treeglot.base.errors import UsageError

_UNITS = {"": 1, "K": 1000, "M": 1000_000, "G": 1000_000_000}


@dataclass(frozen=True)
class Point:
    """One measurement of a step. `words` counts the target side; memory and disk are in MB."""

    text: str
    pairs: int
    words: int
    cpu: float
    memory: float
    disk: float
    source: str


@dataclass(frozen=True)
class Step:
    """A step on the way to a model, with its measurements. Those of one text are adjacent, smallest first."""

    name: str
    does: str
    points: tuple[Point, ...]
    constant: bool = False  # it costs the same for any corpus
    by_length: bool = False  # the rate depends on the words of a sentence, not on the words of the corpus
    fixed_memory: bool = False  # memory does not grow with the corpus
    instead: bool = False  # it takes the place of other steps, or not every model has it: no part of the sums


@dataclass(frozen=True)
class Estimate:
    """The estimated cost of a step: the smallest and largest value over the measured texts."""

    step: str
    does: str
    cpu: tuple[float, float]  # seconds
    memory: tuple[float, float]  # MB
    disk: tuple[float, float]  # MB
    beyond: float  # times the largest measured size; at most 1: measured
    sources: tuple[str, ...]
    summed: bool


def read_rates() -> tuple[Step, ...]:
    """Read the measured steps from `rates.json`."""
    data = json.loads(files("treeglot.experiment").joinpath("rates.json").read_text(encoding="utf-8"))
    return tuple(
        Step(**{**step, "points": tuple(Point(**point) for point in step["points"])}) for step in data["steps"]
    )


def parse_count(text: str) -> int:
    """Parse a count: digits, optionally followed by K, M or G (thousands, millions, billions).

    >>> parse_count("10M"), parse_count("2.5k"), parse_count("50,707")
    (10000000, 2500, 50707)
    """
    found = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)([KMG]?)", text.strip().replace(",", ""), re.IGNORECASE)
    number = round(float(found[1]) * _UNITS[found[2].upper()]) if found else 0
    if not 1 <= number <= 10**15:
        raise UsageError(f"{text[:60]!r} is not a number of pairs or words; expected one such as 50000 or 10M")
    return number


def plan(pairs: int, words: int, steps: Sequence[Step] | None = None) -> list[Estimate]:
    """Estimate the cost of each step for a number of sentence pairs and target words.

    >>> [estimate.step for estimate in plan(50_707, 533_041)][:3]
    ['align', 'parse', 'extract']
    """
    if pairs < 1 or words < pairs:
        raise UsageError(f"{words:,} words in {pairs:,} sentence pairs; expected at least a word for each pair")
    return [_estimate(step, pairs, words) for step in (read_rates() if steps is None else steps)]


def _estimate(step: Step, pairs: int, words: int) -> Estimate:
    texts = [list(points) for _, points in groupby(step.points, key=lambda point: point.text)]
    if step.by_length:
        texts = [sorted(step.points, key=_length)]
    place = words / pairs if step.by_length else float(words)

    def cost(name: str, *, grows: bool) -> tuple[float, float]:
        if not grows:
            known = [float(getattr(point, name)) for point in step.points]
            return min(known), max(known)
        if name == "memory":
            lines = [[(point.words, point.memory) for point in text] for text in texts]
            ends = [_on_line(words, [(0, 0.0), *line] if len(line) == 1 else line) for line in lines]
            return min(ends), max(ends)
        places = [[_length(point) if step.by_length else float(point.words) for point in text] for text in texts]
        rates = [[getattr(point, name) / point.words for point in text] for text in texts]
        found = [words * _between(place, at, rate) for at, rate in zip(places, rates, strict=True)]
        return min(found), max(found)

    largest = max(_length(point) if step.by_length else point.words for point in step.points)
    grows = not step.constant
    return Estimate(
        step.name,
        step.does,
        cost("cpu", grows=grows),
        cost("memory", grows=grows and not step.fixed_memory),
        cost("disk", grows=grows),
        0.0 if step.constant else place / largest,
        tuple(dict.fromkeys(point.source for point in step.points)),
        not step.instead,
    )


def _length(point: Point) -> float:
    return point.words / point.pairs


def _between(place: float, places: Sequence[float], values: Sequence[float]) -> float:
    """Interpolate a value linearly between known places. Beyond them, return the nearest known value.

    >>> [_between(place, [10.0, 20.0], [1.0, 3.0]) for place in (5, 10, 15, 40)]
    [1.0, 1.0, 2.0, 3.0]
    """
    after = bisect_left(places, place)
    if after in (0, len(places)):
        return values[min(after, len(places) - 1)]
    share = (place - places[after - 1]) / (places[after] - places[after - 1])
    return values[after - 1] + share * (values[after] - values[after - 1])


def _on_line(place: float, points: Sequence[tuple[float, float]]) -> float:
    """Interpolate a value linearly between points. Beyond them, continue the first or the last line.

    >>> [_on_line(place, [(10, 1.0), (20, 3.0), (30, 4.0)]) for place in (15, 25, 40)]
    [2.0, 3.5, 5.0]
    """
    after = min(max(bisect_left([at for at, _ in points], place), 1), len(points) - 1)
    (before, low), (behind, high) = points[after - 1 : after + 1]
    return max(0.0, low + (place - before) * (high - low) / (behind - before))


def total(estimates: Sequence[Estimate]) -> Estimate:
    """Add up the costs of the steps that count. The memory of the total is the maximum of the steps."""
    own = [each for each in estimates if each.summed]

    def sums(name: str) -> tuple[float, float]:
        pairs = [getattr(each, name) for each in own]
        return sum(low for low, _ in pairs), sum(high for _, high in pairs)

    memory = max(each.memory[0] for each in own), max(each.memory[1] for each in own)
    beyond = max(each.beyond for each in own)
    return Estimate("together", "a hiero model from text", sums("cpu"), memory, sums("disk"), beyond, (), True)


def rows(estimates: Sequence[Estimate]) -> list[list[str]]:
    """Return the costs as rows of a table, with a heading."""
    out = [["step", "CPU", "memory", "disk", "rates"]]
    for each in [*estimates, total(estimates)]:
        status = "measured" if each.beyond <= 1 else f"extrapolated: {shown(each.beyond)} times the measured words"
        cells = [_range(each.cpu, time_of), _range(each.memory, size_of), _range(each.disk, size_of)]
        out.append([each.step + ("" if each.summed else " (not in the sum)"), *cells, status])
    return out


def _range(values: tuple[float, float], show: Callable[[float], str]) -> str:
    low, high = show(values[0]), show(values[1])
    return low if low == high else f"{low} to {high}"


def shown(number: float) -> str:
    """Format a number with two significant digits.

    >>> shown(0.034), shown(1.26), shown(456.0)
    ('0.034', '1.3', '460')
    """
    rounded = float(f"{number:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def time_of(seconds: float) -> str:
    """Format a number of seconds for people.

    >>> time_of(42.0), time_of(600.0), time_of(9000.0)
    ('42 s', '10 min', '2.5 h')
    """
    for unit, name, most in ((1, "s", 120), (60, "min", 7200)):
        if seconds < most:
            return f"{shown(seconds / unit)} {name}"
    return f"{shown(seconds / 3600)} h"


def size_of(megabytes: float) -> str:
    """Format a number of megabytes for people.

    >>> size_of(44.0), size_of(1750.0), size_of(2_600_000.0)
    ('44 MB', '1.8 GB', '2.6 TB')
    """
    for unit, name in ((1, "MB"), (1000, "GB")):
        if megabytes < 1000 * unit:
            return f"{shown(megabytes / unit)} {name}"
    return f"{shown(megabytes / 1_000_000)} TB"
