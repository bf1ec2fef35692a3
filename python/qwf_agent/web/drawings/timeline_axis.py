"""The axis of a timeline: where a time is drawn, which idle times are folded, and round times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from functools import cached_property

from qwf_agent.web.drawings.timeline_spans import AttemptSpan, end_of

MOST_FOLDS = 12
IDLE_SHARE = 0.05  # an idle gap is folded if it is a larger share of the axis
WAIT_SHARE = 0.5  # and one in which something waited for a worker
NOTCH = 0.025  # width of a folded gap, as a share of the axis
WIDE_PX, NARROW_PX = 408, 300  # the least width of the axis, on a desk and on a phone
LETTER_PX, BESIDE_PX, OUTSIDE_PX = 6.6, 8, 30  # of a label, and the room beside it
TICKS = (
    *(0.001, 0.01, 0.1, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800),
    *(3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 2592000, 31536000),
)
Interval = tuple[datetime, datetime]


@dataclass(frozen=True)
class Axis:
    """Where a time is drawn: from 0 at the left to 1. Later is never further left."""

    start: datetime
    end: datetime
    folds: tuple[Interval, ...]

    def place(self, when: datetime) -> float:
        """The place of a time; one outside the axis is put at its end."""
        when = min(max(when, self.start), self.end)
        passed = (when - self.start).total_seconds()
        notches = 0.0
        for start, end in self.folds:
            inside = (min(when, end) - start) / (end - start) if when > start else 0.0
            passed -= inside * (end - start).total_seconds()
            notches += inside * NOTCH
        share = max(0.0, passed) / self.shown_seconds
        return min(1.0, share * (1 - NOTCH * len(self.folds)) + notches)

    @cached_property
    def shown_seconds(self) -> float:
        """Seconds of the axis that are not folded."""
        folded = sum(((end - start).total_seconds() for start, end in self.folds), 0.0)
        return max(1e-6, (self.end - self.start).total_seconds() - folded)

    def shown(self) -> Iterator[Interval]:
        """The parts of the axis between the folds."""
        edges = [self.start, *(edge for fold in self.folds for edge in fold), self.end]
        return ((start, end) for start, end in zip(edges[::2], edges[1::2], strict=True))


class LabelLine:
    """Labels beside each other on an axis of this width, from left to right: none over another.

    A label begins at its place, or its middle is there. A little of the first and of the last may
    be outside of the axis.
    """

    def __init__(self, width_px: int, middle: bool = False) -> None:
        self._width_px = width_px
        self._middle = middle
        self._free_px: float = -OUTSIDE_PX

    def takes(self, place: float, text: str) -> bool:
        """True if there is room for a label at this place, which it then has."""
        needs = LETTER_PX * len(text)
        left = place * self._width_px - (needs / 2 if self._middle else 0)
        if left < self._free_px or left + needs > self._width_px + OUTSIDE_PX:
            return False
        self._free_px = left + needs + BESIDE_PX
        return True


def axis_of(spans: Sequence[AttemptSpan], now: datetime) -> Axis:
    """The axis from the first wait to the last end. Gaps in which nothing waited or ran are folded
    if they are large, those in which something waited for a worker if they are most of the axis."""
    start = min(span.since for span in spans)
    end = max(end_of(span, now) for span in spans)
    end = max(end, start + timedelta(milliseconds=1))
    work = [span for span in spans if span.kind != "asked"]
    ran = [(span.started_at, end_of(span, now)) for span in work]
    waited = [(span.since, span.started_at) for span in work]
    if not ran:
        return Axis(start, end, ())
    idle = _large([*ran, *waited], start, end, IDLE_SHARE, end - start)
    left = sum((gap[0] - gap[1] for gap in idle), end - start)
    return Axis(start, end, tuple(sorted(idle + _large(ran + idle, start, end, WAIT_SHARE, left))))


def _large(
    busy: list[Interval], start: datetime, end: datetime, share: float, left: timedelta
) -> list[Interval]:
    """The longest gaps between busy times that are more than a share of what is left without those
    before them."""
    edges = [start, *(edge for interval in _joined(busy) for edge in interval), end]
    gaps = zip(edges[::2], edges[1::2], strict=True)
    found = []
    for gap in sorted(gaps, key=lambda gap: gap[0] - gap[1])[: MOST_FOLDS // 2]:
        length = gap[1] - gap[0]
        if length <= share * left or length >= left:
            break
        found.append(gap)
        left -= length
    return found


def _joined(intervals: Iterable[Interval]) -> list[Interval]:
    """The intervals without overlaps, in order."""
    found: list[Interval] = []
    for start, end in sorted(intervals):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def ticks(axis: Axis, zone: tzinfo) -> list[tuple[datetime, str]]:
    """Round times on the axis, with what is written for each; none over another."""
    step = next((one for one in TICKS if axis.shown_seconds / one <= 8), TICKS[-1])
    found: list[tuple[datetime, str]] = []
    line, day = LabelLine(WIDE_PX), None
    for start, end in axis.shown():
        for when in _round_times(start, end, step, zone):
            local = when.astimezone(zone)
            text = _written(local, step, local.date() != day)
            if line.takes(axis.place(when), text):
                found.append((when, text))
                day = local.date()
    return found


def _round_times(start: datetime, end: datetime, step: float, zone: tzinfo) -> Iterator[datetime]:
    """The start, if nothing round is near it, and the multiples of a step up to the end."""
    offset = (start.astimezone(zone).utcoffset() or timedelta()).total_seconds()
    seconds = start.timestamp() + offset
    number = -(-seconds // step)
    if number * step - seconds > 0.9 * step:
        yield start
    while True:
        when = start + timedelta(seconds=number * step - seconds)
        if when > end:
            return
        yield when
        number += 1


def _written(local: datetime, step: float, with_day: bool) -> str:
    if step >= 86400:
        return f"{local.day} {local:%b}" if step < 31536000 else f"{local:%Y}"
    if step < 1:
        clock = f"{local:%H:%M:%S}.{local.microsecond // 1000:03}"
    else:
        clock = f"{local:%H:%M:%S}" if step < 60 else f"{local:%H:%M}"
    return f"{local.day} {local:%b} {clock}" if with_day else clock
