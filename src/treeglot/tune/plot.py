"""Draws the scores of a tuning run by iteration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 320, 56, 120, 24, 40
SERIES = (  # key of the log, words, colour
    ("score", "decoded", "#1f5fa8"),
    ("held_out", "held out", "#a8431f"),
    ("pool_after", "on the pool", "#777777"),
)


def plot(log: Sequence[Mapping[str, Any]], title: str = "BLEU") -> str:
    """Draw the scores of a log, and return an SVG document.

    >>> plot([{"iteration": 1, "score": 20.0}, {"iteration": 2, "score": 22.5}]).count("<circle")
    2
    """
    import math

    drawn = [entry for entry in log if "mean_of" not in entry]  # the mean of all updates is no iteration
    series = []
    for key, words, colour in SERIES:
        points = [(int(entry["iteration"]), float(entry[key])) for entry in drawn if key in entry]
        if points:
            series.append((words, colour, points))
    values = [value for _, _, points in series for _, value in points] or [0.0]
    last = max((int(entry["iteration"]) for entry in drawn), default=1)
    low, high = math.floor(min(values)), math.ceil(max(values))
    high = max(high, low + 1)
    step = max(1, math.ceil((high - low) / 8))

    def x(iteration: float) -> float:
        return LEFT + (iteration - 1) * (WIDTH - LEFT - RIGHT) / max(last - 1, 1)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (value - low) * (HEIGHT - TOP - BOTTOM) / (high - low)

    font = 'font-family="sans-serif" font-size="12"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {font}>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="16">{title} by iteration</text>',
    ]
    for tick in range(low, high + 1, step):
        parts.append(f'<path d="M{LEFT} {y(tick):.1f}H{WIDTH - RIGHT}" stroke="#dddddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick}</text>')
    for iteration in range(1, last + 1, max(1, math.ceil(last / 12))):
        parts.append(f'<text x="{x(iteration):.1f}" y="{HEIGHT - 16}" text-anchor="middle">{iteration}</text>')
    for number, (words, colour, points) in enumerate(series):
        path = "L".join(f"{x(i):.1f} {y(v):.1f}" for i, v in points)
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x(i):.1f}" cy="{y(v):.1f}" r="3" fill="{colour}"/>' for i, v in points]
        place = TOP + 16 * number + 12
        parts.append(f'<text x="{WIDTH - RIGHT + 12}" y="{place}" fill="{colour}">{words}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"
