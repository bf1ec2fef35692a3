"""The charts of the numbers that bodies track: one for each name, a line for each attempt or
job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

WIDTH, HEIGHT = 400, 100  # of the drawing
SLICES = 100  # a line with more points has in each slice its lowest and its highest one

Point = tuple[float, float | None]


@dataclass(frozen=True)
class DrawnLine:
    """One line: its row of series_overview, the d of its path, and its last value in words."""

    row: Mapping[str, Any]
    path: str
    last: str


@dataclass(frozen=True)
class TrackedChart:
    """One name: its lines, the ends of its scales in words, and what it says to who cannot see
    it."""

    name: str
    lines: list[DrawnLine]
    low: str
    high: str
    begin: str
    end: str
    said: str


def draw(rows: Sequence[Mapping[str, Any]]) -> list[TrackedChart]:
    """A chart for each name, from rows of series_overview in their order."""
    names: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        names.setdefault(row["name"], []).append(row)
    return [_chart(name, found) for name, found in names.items()]


def spelled(value: float | None) -> str:
    """A number in few letters; "no number" for NaN and infinity, which are kept as null."""
    if value is None:
        return "no number"
    return f"{value:,.0f}" if value == int(value) and abs(value) < 1e9 else f"{value:.4g}"


def _chart(name: str, rows: Sequence[Mapping[str, Any]]) -> TrackedChart:
    steps = [step for row in rows for step, _ in row["points"]] or [0.0]
    values = [value for row in rows for _, value in row["points"] if value is not None]
    low, high = min(values, default=0.0), max(values, default=0.0)
    across, up = _scale(min(steps), max(steps), WIDTH), _scale(low, high, HEIGHT)
    lines = [
        DrawnLine(row, _path(row["points"], across, up), spelled(row["last_value"])) for row in rows
    ]
    ends = spelled(low), spelled(high), spelled(min(steps)), spelled(max(steps))
    said = (
        f"{name}: last {lines[0].last} at step {spelled(rows[0]['last_step'])},"
        f" lowest {ends[0]}, highest {ends[1]}"
    )
    return TrackedChart(name, lines, *ends, said)


def _scale(low: float, high: float, size: int) -> tuple[float, float]:
    """The number taken from a value, and the factor of the rest. A flat line is in the
    middle."""
    return (low, size / (high - low)) if high > low else (low - 0.5, float(size))


def _path(points: Sequence[Point], across: tuple[float, float], up: tuple[float, float]) -> str:
    """The line through the points; it is broken where a number is missing."""
    drawn, broken = [], True
    for step, value in _fewer(points, across):
        if value is not None:
            x, y = (step - across[0]) * across[1], HEIGHT - (value - up[0]) * up[1]
            at = f"{x:.1f} {y:.1f}"
            drawn.append(f"M{at}h.1" if broken else f"L{at}")  # h: one point alone is a dot
        broken = value is None
    return "".join(drawn)


def _fewer(points: Sequence[Point], across: tuple[float, float]) -> list[Point]:
    """The points that can be told apart in the drawing."""
    if len(points) <= 2 * SLICES:
        return list(points)
    slices: dict[int, list[Point]] = {}
    for point in points:
        slices.setdefault(int((point[0] - across[0]) * across[1] * SLICES / WIDTH), []).append(
            point
        )
    kept: list[Point] = []
    for found in slices.values():
        numbers = [point for point in found if point[1] is not None]
        ends = [min(numbers, key=_value), max(numbers, key=_value)] if numbers else []
        kept += [one for one in found if one[1] is None or any(one is end for end in ends)]
    return kept


def _value(point: Point) -> float:
    return point[1] or 0.0
