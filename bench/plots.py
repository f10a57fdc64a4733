"""Draws the figures of bench/scale.py.

    python bench/plots.py FIGURES.json docs/images/scale.svg

Processor time of a recall over the number of facts, both logarithmic: a line for each kind of
search and number of tenants.
"""

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 360, 60, 40, 170, 45
COLOURS = ("#b45309", "#1d4ed8", "#047857", "#7e22ce")


def main() -> None:
    """Read, draw, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figures", type=Path)
    parser.add_argument("picture", type=Path)
    given = parser.parse_args()
    rows = json.loads(given.figures.read_text(encoding="utf-8"))
    lines: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        tenants = "1 tenant" if row["tenants"] == 1 else f"{row['tenants']} tenants"
        lines.setdefault(f"{row['search']}, {tenants}", []).append(
            (row["facts"], row["processor_ms"])
        )
    given.picture.write_text(draw(lines), encoding="utf-8")


def draw(lines: dict[str, list[tuple[float, float]]]) -> str:
    """An SVG of these lines, over logarithmic axes that hold whole powers of ten."""
    points = [point for line in lines.values() for point in line]
    across = _decades([x for x, _ in points])
    up = _decades([y for _, y in points])
    parts: list[str] = []
    for power in range(across[0], across[1] + 1):
        x = _place(10.0**power, across, LEFT, WIDTH - RIGHT)
        parts.append(_line(x, TOP, x, HEIGHT - BOTTOM))
        parts.append(_text(x, HEIGHT - BOTTOM + 18, f"{10**power:,}", "middle"))
    for power in range(up[0], up[1] + 1):
        y = _place(10.0**power, up, HEIGHT - BOTTOM, TOP)
        parts.append(_line(LEFT, y, WIDTH - RIGHT, y))
        parts.append(_text(LEFT - 8, y + 4, f"{10.0**power:g}", "end"))
    parts.append(_text(LEFT, TOP - 18, "processor milliseconds of a recall", "start"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "facts", "middle"))
    for (name, line), colour in zip(lines.items(), COLOURS, strict=False):
        parts.append(_drawn(name, line, colour, across, up))
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="12">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>\n{body}\n</svg>\n'
    )


def _drawn(
    name: str,
    line: Sequence[tuple[float, float]],
    colour: str,
    across: tuple[int, int],
    up: tuple[int, int],
) -> str:
    places = [
        (_place(x, across, LEFT, WIDTH - RIGHT), _place(y, up, HEIGHT - BOTTOM, TOP))
        for x, y in line
    ]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places)
    last_x, last_y = places[-1]
    label = _text(last_x + 8, last_y + 4, name, "start")
    return (
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>{dots}{label}'
    )


def _decades(values: Sequence[float]) -> tuple[int, int]:
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def _place(value: float, decades: tuple[int, int], start: float, end: float) -> float:
    share = (math.log10(value) - decades[0]) / (decades[1] - decades[0])
    return start + share * (end - start)


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#ddd"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#333">{text}</text>'


if __name__ == "__main__":
    main()
