"""Draws shapes as SVG, and puts drawings on self-contained HTML pages."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from treeglot.syntax.draw.shapes import Arc, Band, Branch, Drawing, Fan, Metric, Role, Square, Text, pixels, printable

PICTURE = Metric(pixels, 18, False)

ROW = 24.0  # pixels
MARGIN = 16.0
SIZE = 15
FONTS = "'Noto Sans', 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', 'Helvetica Neue', Arial, sans-serif"

PALE = "#b8c0c8"
# Colours of groups, one after the other: they differ in brightness too, and all can be read on white.
GROUPS = ("#1f5fa8", "#b3401e", "#2e7d32", "#7b3fa0", "#8a6d00", "#00798c", "#ad1f6b", "#5d4a36", "#4b5dd6", "#596273")
HALO = ' stroke="#ffffff" stroke-width="4" paint-order="stroke"'  # keeps lines away from labels

# Role → fill, weight, size
INK: dict[Role, tuple[str, str, int]] = {
    "label": ("#1f4e79", "400", SIZE),
    "tag": ("#2e6b3e", "400", SIZE - 2),
    "word": ("#111111", "600", SIZE),
    "relation": ("#8a5a00", "400", SIZE - 3),
    "score": ("#6b2f7a", "400", SIZE - 3),
    "faint": ("#8a919a", "400", SIZE - 3),
    "strong": ("#b3261e", "600", SIZE),
}


def render(drawing: Drawing, title: str = "") -> str:
    """Return the drawing as an SVG document.

    >>> render(Drawing(20, 1, [Text(10, 0, "<s>", "word")])).splitlines()[3]
    '<text x="26" y="32.8" fill="#111111" font-weight="600" font-size="15" text-anchor="middle">&lt;s&gt;</text>'
    """
    width, height = drawing.width + 2 * MARGIN, drawing.height * ROW + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(width)}" height="{_n(height)}" '
        f'viewBox="0 0 {_n(width)} {_n(height)}" font-family="{FONTS}" role="img">',
        f"<title>{escape(printable(title))}</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    # What matters more is drawn later, and so on top: faint lines, strong lines, text.
    for shape in sorted(drawing.shapes, key=lambda s: (isinstance(s, Text), isinstance(s, Fan) and s.role == "strong")):
        match shape:
            case Text():
                parts.append(_text(shape))
            case Branch():
                parts += _branch(shape)
            case Arc():
                parts += _arc(shape)
            case Fan():
                parts.append(_fan(shape))
            case Square():
                parts.append(_square(shape))
            case Band():
                parts.append(_band(shape))
    return "\n".join([*parts, "</svg>", ""])


def group_colour(group: int) -> str:
    """Return the colour in which a group is drawn.

    >>> group_colour(0) == group_colour(len(GROUPS))
    True
    """
    return GROUPS[group % len(GROUPS)]


def _grouped(group: int | None, part: str) -> str:
    return part if group is None else f'<g class="part" data-part="{group}">{part}</g>'


def _n(value: float) -> str:
    """Format a number, rounded to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")


def _x(x: float) -> float:
    return x + MARGIN


def _baseline(y: float) -> float:
    return y * ROW + MARGIN + 0.7 * ROW


def _text(text: Text) -> str:
    x, y = _n(_x(text.x)), _n(_baseline(text.y))
    turn = f' transform="rotate(-60 {x} {y})"' if text.turned else ""
    if text.node is not None:
        kinds = ["strong"] * (text.role == "strong") + ["several"] * (text.node[1] > 1)
        turn += f' data-node="{text.node[0]}" class="{" ".join(kinds)}"'
    colour = None if text.group is None else group_colour(text.group)
    return _grouped(text.group, _written(x, y, text.text, text.role, text.anchor, turn, colour))


def _written(
    x: str, y: str, text: str, role: Role, anchor: str = "middle", extra: str = "", colour: str | None = None
) -> str:
    fill, weight, size = INK[role]
    fill = colour or fill
    return (
        f'<text x="{x}" y="{y}" fill="{fill}" font-weight="{weight}" font-size="{size}" '
        f'text-anchor="{anchor}"{HALO if role in ("label", "strong") else ""}{extra}>{escape(printable(text))}</text>'
    )


def _branch(branch: Branch) -> Iterable[str]:
    """Draw lines from below the label, along a bar, down to each child. Corners are rounded."""
    x, y = _x(branch.x), _baseline(branch.y) + 5
    bar = _baseline(branch.y) + 0.55 * ROW
    stroke = INK[branch.role][0] if branch.group is None else group_colour(branch.group)
    for end_x, end_y in branch.ends:
        to, foot = _x(end_x), _baseline(end_y) - SIZE
        if abs(to - x) < 6:
            path = f"M{_n(x)} {_n(y)}L{_n(to)} {_n(foot)}"
        else:
            bend = min(8.0, abs(to - x)) * (1 if to > x else -1)
            path = f"M{_n(x)} {_n(y)}V{_n(bar)}H{_n(to - bend)}Q{_n(to)} {_n(bar)} {_n(to)} {_n(bar + 8)}V{_n(foot)}"
        line = f'<path d="{path}" fill="none" stroke="{stroke}" stroke-width="{1.2 if branch.group is None else 2}"/>'
        yield _grouped(branch.group, line)


def _arc(arc: Arc) -> Iterable[str]:
    """Draw a curve with an arrowhead at the dependent, and the relation on a patch of paper at the top."""
    head, dependent = _x(arc.head), _x(arc.dependent)
    top, foot = _baseline(arc.y), _baseline(arc.foot) - SIZE - 3
    middle = (head + dependent) / 2
    if arc.head == arc.dependent:
        path = f"M{_n(head)} {_n(top)}V{_n(foot - 4)}"
        top += 2
    else:
        bend = min(24.0, abs(dependent - head) / 2) * (1 if dependent > head else -1)
        up, over = f"{_n(head)} {_n(top)}", f"{_n(dependent)} {_n(top)}"
        path = f"M{_n(head)} {_n(foot)}C{up} {up} {_n(head + bend)} {_n(top)}"
        path += f"H{_n(dependent - bend)}C{over} {over} {_n(dependent)} {_n(foot - 4)}"
    stroke = INK[arc.role][0]
    yield f'<path d="{path}" fill="none" stroke="{stroke}" stroke-width="1.2"/>'
    tip = f"M{_n(dependent - 3.5)} {_n(foot - 7)}H{_n(dependent + 3.5)}L{_n(dependent)} {_n(foot)}Z"
    yield f'<path d="{tip}" fill="{stroke}"/>'
    if arc.text:
        width = pixels(arc.text) * (SIZE - 3) / SIZE + 6
        yield f'<rect x="{_n(middle - width / 2)}" y="{_n(top - 8)}" width="{_n(width)}" height="16" fill="#ffffff"/>'
        yield _written(_n(middle), _n(top + 4), arc.text, "relation")


def _fan(fan: Fan) -> str:
    """Draw a dot below the head, and curves from it to the tails. The name shows under the mouse."""
    x, y = _x(fan.x), _baseline(fan.y) + 5
    dot_x, dot_y = x + fan.shift, y + 0.6 * ROW
    stroke, width = (INK["strong"][0], 2) if fan.role == "strong" else (PALE, 1)
    path = [f"M{_n(x)} {_n(y)}L{_n(dot_x)} {_n(dot_y)}"]
    for end_x, end_y in fan.ends:
        to, foot = _x(end_x), _baseline(end_y) - SIZE
        middle = (dot_y + foot) / 2
        path.append(f"M{_n(dot_x)} {_n(dot_y)}C{_n(dot_x)} {_n(middle)} {_n(to)} {_n(middle)} {_n(to)} {_n(foot)}")
    return (
        f'<g class="edge{" strong" if fan.role == "strong" else ""}" data-head="{fan.head}" '
        f'data-tails="{" ".join(map(str, fan.tails))}"><title>{escape(printable(fan.name))}</title>'
        f'<path d="{"".join(path)}" fill="none" stroke="{stroke}" stroke-width="{width}"/>'
        f'<circle cx="{_n(dot_x)}" cy="{_n(dot_y)}" r="3" fill="{stroke}"/></g>'
    )


def _square(square: Square) -> str:
    x, y = _x(square.x), _baseline(square.y) - 0.7 * ROW
    fill = INK["label"][0] if square.filled else "#f2f4f6"
    return f'<rect x="{_n(x + 1)}" y="{_n(y + 1)}" width="{_n(ROW - 2)}" height="{_n(ROW - 2)}" rx="3" fill="{fill}"/>'


def _band(band: Band) -> str:
    """Draw a bracket that is open upwards."""
    left, right, y = _n(_x(band.left)), _n(_x(band.right)), _baseline(band.y) - 0.4 * ROW
    path = f"M{left} {_n(y - 5)}V{_n(y)}H{right}V{_n(y - 5)}"
    line = f'fill="none" stroke="{group_colour(band.group)}" stroke-width="{4 if band.bold else 1.5}"'
    return _grouped(band.group, f'<path d="{path}" {line}/>')
