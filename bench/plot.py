"""Plots of figures as SVG: points by two numbers, from 0 to the largest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

WIDTH, HEIGHT, MARGIN = 640, 360, 48
COLOURS = ("#1f5fa8", "#a8431f", "#2e7d32", "#7b3fa0", "#8a6d00")


def plot(series: Mapping[str, Sequence[tuple[float, float]]], x_axis: str, y_axis: str, *, lines: bool = True) -> str:
    """Each series has a colour; with `lines`, a line joins its points."""
    most_x = max(x for points in series.values() for x, _ in points)
    most_y = max(y for points in series.values() for _, y in points)

    def place(x: float, y: float) -> tuple[str, str]:
        right = MARGIN + x / most_x * (WIDTH - 2 * MARGIN)
        return f"{right:.1f}", f"{HEIGHT - MARGIN - y / most_y * (HEIGHT - 2 * MARGIN):.1f}"

    font = 'font-family="sans-serif" font-size="12"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {font}>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<path d="M{MARGIN} {MARGIN}V{HEIGHT - MARGIN}H{WIDTH - MARGIN}" fill="none" stroke="#777777"/>',
        f'<text x="{MARGIN}" y="{MARGIN - 12}">{y_axis}, up to {most_y:,.0f}</text>',
        f'<text x="{WIDTH - MARGIN}" y="{HEIGHT - 24}" text-anchor="end">{x_axis}, up to {most_x:,.0f}</text>',
    ]
    for number, (name, points) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        places = [place(x, y) for x, y in points]
        if lines:
            path = "L".join(" ".join(one) for one in places)
            parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        parts += [f'<circle cx="{x}" cy="{y}" r="{3 if lines else 2}" fill="{colour}"/>' for x, y in places]
        parts.append(f'<text x="{MARGIN + 12}" y="{MARGIN + 16 * (number + 1)}" fill="{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])
