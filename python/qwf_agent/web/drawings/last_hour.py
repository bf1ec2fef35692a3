"""The chart of the last hour: what began and ended in each minute, how long the first waited."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from qwf_agent.look.draw.words import duration

HEIGHT, STEP, WIDTH = 100, 10, 8  # of the drawing, of a minute, of its bar
LEAST = 10  # minutes that somebody looked at: a chart of fewer says nothing


@dataclass(frozen=True)
class Minute:
    """A minute: its bar, the part of it that failed, and what it says."""

    x: int
    completed: float
    failed: float
    at: datetime
    said: str


@dataclass(frozen=True)
class Hour:
    """The chart, the sums of the hour, and what the tops of its two scales are."""

    minutes: list[Minute]
    started: str
    waits: str
    sums: Mapping[str, int]
    most: int
    longest: float


def draw(rows: Sequence[Mapping[str, Any]]) -> Hour | None:
    """The chart of rows of qwf.last_hour; None if too few minutes are known."""
    if sum(row["queued"] is not None for row in rows) < LEAST:
        return None
    ends = [(row["completed"] or 0) + (row["failed"] or 0) for row in rows]
    most = max(1, *ends, *(row["started"] or 0 for row in rows))
    longest = max((row["first_wait_seconds"] or 0 for row in rows), default=0)
    names = ("started", "completed", "failed")
    return Hour(
        minutes=[
            Minute(
                x=STEP * place,
                completed=_high(row["completed"], most),
                failed=_high(row["failed"], most),
                at=row["minute"],
                said=_said(row),
            )
            for place, row in enumerate(rows)
        ],
        started=_line(rows, lambda row: _high(row["started"], most, none=None)),
        waits=_line(rows, lambda row: _high(row["first_wait_seconds"], longest, none=None)),
        sums={name: sum(row[name] or 0 for row in rows) for name in names},
        most=most,
        longest=longest,
    )


def _high(value: float | None, most: float, none: float | None = 0.0) -> Any:
    return none if value is None else round(HEIGHT * value / (most or 1), 1)


def _line(
    rows: Sequence[Mapping[str, Any]], height: Callable[[Mapping[str, Any]], float | None]
) -> str:
    """A line through the minutes, as the d of a path; it is broken where nothing is known."""
    drawn, broken = [], True
    for place, row in enumerate(rows):
        high = height(row)
        if high is not None:
            at = f"{STEP * place + WIDTH / 2:g} {HEIGHT - high:g}"
            drawn.append(f"M{at}h0" if broken else f"L{at}")  # h0: one minute alone is a dot
        broken = high is None
    return "".join(drawn)


def _said(row: Mapping[str, Any]) -> str:
    parts = [
        f"{row[name]:,} {name}"
        for name in ("started", "completed", "failed")
        if row[name] is not None
    ]
    if row["first_wait_seconds"] is not None:
        parts.append(f"first waits {duration(row['first_wait_seconds'])}")
    return ", ".join(parts) or "nobody looked"
