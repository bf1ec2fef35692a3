"""Draws when the attempts of a run or job waited and ran: rows of bars on one axis of time.

Time in which nothing ran is folded to a notch, so that a night of waiting does not squeeze the
minutes of work. Geometry is in percent of the width, so the same rows serve a phone and a desk.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo
from functools import cached_property
from typing import Any, NamedTuple

from markupsafe import Markup

from qwf_agent.look.draw.visible import visible
from qwf_agent.look.draw.words import FarTime, duration

MOST_ROWS = 300  # with more, a row for each step
MOST_BARS = 40  # in a row; with more, neighbours are drawn as one
MOST_FOLDS = 12
IDLE_SHARE = 0.05  # an idle gap is folded if it is a larger share of the axis
WAIT_SHARE = 0.5  # and one in which something waited for a worker
NOTCH = 0.025  # width of a folded gap, as a share of the axis
CLOSE = 0.004  # bars of a full row that are nearer are drawn as one
LABEL = 0.09  # share of the axis that a label needs
NARROW_LABEL = 0.27  # the same, on a phone
LONGEST_NAME = 120
# How an attempt is drawn, by its outcome.
KINDS = {
    "running": "running",
    "completed": "completed",
    "error": "failed",
    "fatal": "failed",
    "tempfail": "failed",
    "lost": "lost",
    "released": "lost",
    "cancelled": "cancelled",
    "asked": "asked",
}
TICKS = (
    *(0.001, 0.01, 0.1, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800),
    *(3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 2592000, 31536000),
)
EARLIEST = datetime(1970, 1, 1, tzinfo=timezone.utc)
LATEST = datetime(9000, 1, 1, tzinfo=timezone.utc)

Interval = tuple[datetime, datetime]


@dataclass(frozen=True)
class Span:
    """An attempt at a job; with the outcome `asked`, the time that a question waited."""

    name: str
    outcome: str
    started_at: datetime
    ended_at: datetime | None = None  # None: it goes on
    queued_at: datetime | None = None
    attempt: int | None = None
    worker: str | None = None
    detail: str | None = None
    href: str | None = None

    @property
    def step(self) -> str:
        """The step of its node."""
        return self.name.partition("/")[0]

    @property
    def node(self) -> str:
        """Its node: for an element of a map, the map."""
        return re.sub(r"\[\d+\]$", "", self.name)

    @property
    def kind(self) -> str:
        """How it is drawn: completed, failed, running, lost, cancelled or asked."""
        return KINDS.get(self.outcome, "failed")

    @property
    def since(self) -> datetime:
        """When it began to wait, or to run if that is not known."""
        return self.queued_at or self.started_at


class Bar(NamedTuple):
    """Something drawn in a row, from one place of the axis to another."""

    left: float
    right: float
    kind: str
    span: Span
    attempts: int = 1  # that it stands for


class Row(NamedTuple):
    """A job, or a group of jobs, and its attempts in the order of their starts."""

    name: str
    spans: list[Span]
    is_group: bool


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


def spans_of(rows: Iterable[Mapping[str, Any]], link: Callable[[int], str]) -> list[Span]:
    """The attempts among rows of view qwf.job_timeline; `link` gives the address of a job."""
    return [
        Span(
            name=row["name"],
            outcome=row["what"],
            started_at=row["at"],
            ended_at=None if row["what"] == "running" else _after(row["at"], row["took"]),
            queued_at=_after(row["at"], -row["waited"] if row["waited"] is not None else None),
            attempt=row["attempt"],
            worker=row["by"],
            detail=row["detail"],
            href=link(row["job_id"]),
        )
        for row in rows
        if row["attempt"] is not None and row["at"] is not None
    ]


def draw(
    spans: Iterable[Span],
    now: datetime,
    *,
    needs: Mapping[str, Sequence[str]] | None = None,
    kinds: Collection[str] | None = None,
    last_only: bool = False,
    zone: tzinfo = timezone.utc,
) -> Markup:
    """The timeline as HTML with SVG in it.

    `needs` says which nodes a node depends on, for the critical path. `kinds` shows attempts of
    these kinds only (Span.kind), `last_only` the last attempt at each job. The axis is that of all
    attempts, so that it stays when a filter changes. Times are written in `zone`.
    """
    every = [span for span in spans if _is_drawable(span)]
    if not every:
        return Markup('<p class="timeline-empty">Nothing has run yet.</p>')
    axis = axis_of(every, now)
    path = critical_path(every, needs or {}, now)
    chosen = _filtered(every, kinds, last_only)
    rows = _rows(chosen)
    more = max(0, len(rows) - MOST_ROWS)
    return Markup('<div class="timeline">{}{}<ol>{}</ol>{}</div>').format(
        _scale(axis, zone, now if _is_going_on(every) else None),
        _lines(axis, zone, now if _is_going_on(every) else None),
        Markup("").join(_row(row, axis, path, now) for row in rows[:MOST_ROWS]),
        _note(len(chosen), len(every), more),
    )


def axis_of(spans: Sequence[Span], now: datetime) -> Axis:
    """The axis from the first wait to the last end. Gaps in which nothing waited or ran are folded
    if they are large, those in which something waited for a worker if they are most of the axis."""
    start = min(span.since for span in spans)
    end = max(_end(span, now) for span in spans)
    end = max(end, start + timedelta(milliseconds=1))
    work = [span for span in spans if span.kind != "asked"]
    ran = [(span.started_at, _end(span, now)) for span in work]
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


def critical_path(
    spans: Sequence[Span], needs: Mapping[str, Sequence[str]], now: datetime
) -> list[Span]:
    """The attempts that decided when the run ended, the last one first: of each node's
    dependencies the one that ended last."""
    last: dict[str, Span] = {}
    for span in spans:
        if span.node not in last or _end(span, now) > _end(last[span.node], now):
            last[span.node] = span
    path: list[Span] = []
    following = list(last.values()) if needs else []
    while following:
        path.append(max(following, key=lambda span: _end(span, now)))
        passed = {span.node for span in path}
        names = needs.get(path[-1].node, ())
        following = [last[name] for name in names if name in last and name not in passed]
    return path


# Which rows and bars ------------------------------------------------------------------------------


def _filtered(spans: list[Span], kinds: Collection[str] | None, last_only: bool) -> list[Span]:
    if last_only:
        ordered = sorted(spans, key=lambda span: span.started_at)
        spans = list({span.name: span for span in ordered}.values())
    return [span for span in spans if kinds is None or span.kind in kinds]


def _rows(spans: list[Span]) -> list[Row]:
    """A row for each job; with more than 300 of them, for each node; or else for each step."""
    ordered = sorted(spans, key=lambda span: (span.since, span.started_at))
    groupings = [[getattr(span, by) for span in ordered] for by in ("name", "node", "step")]
    names = next((one for one in groupings if len(set(one)) <= MOST_ROWS), groupings[-1])
    rows: dict[str, Row] = {}
    for name, span in zip(names, ordered, strict=True):
        row = rows.setdefault(name, Row(name, [], names is not groupings[0]))
        row.spans.append(span)
    return list(rows.values())


def _bars(row: Row, axis: Axis, now: datetime) -> list[Bar]:
    """The bars of a row: waits first, so that what ran is drawn over them."""
    waits = [
        Bar(axis.place(span.since), axis.place(span.started_at), "waited", span)
        for span in row.spans
        if span.since < span.started_at
    ]
    runs = [
        Bar(axis.place(span.started_at), axis.place(_end(span, now)), span.kind, span)
        for span in row.spans
    ]
    if len(row.spans) > MOST_BARS or row.is_group:
        return [*_thinned(waits), *_thinned(runs)]
    return [*waits, *runs]


def _thinned(bars: list[Bar]) -> list[Bar]:
    """Bars of one kind that touch on the screen, as one bar."""
    found: list[Bar] = []
    for kind in sorted({bar.kind for bar in bars}, key=_loudness):
        joined: list[Bar] = []
        same = (bar for bar in bars if bar.kind == kind)
        for bar in sorted(same, key=lambda bar: bar.left):
            if joined and bar.left - joined[-1].right <= CLOSE:
                last = joined[-1]
                right = max(last.right, bar.right)
                joined[-1] = Bar(last.left, right, kind, last.span, last.attempts + 1)
            else:
                joined.append(bar)
        found += joined
    return found


def _loudness(kind: str) -> int:
    """What must not be hidden is drawn last."""
    order = ("waited", "completed", "asked", "cancelled", "running", "lost", "failed")
    return order.index(kind)


# What it looks like -------------------------------------------------------------------------------


def _row(row: Row, axis: Axis, path: list[Span], now: datetime) -> Markup:
    ran = sum(((_end(span, now) - span.started_at).total_seconds() for span in row.spans), 0.0)
    name = _text(row.name)
    href = None if row.is_group else row.spans[-1].href
    label = Markup('<a href="{}">{}</a>').format(href, name) if href else Markup.escape(name)
    underlined = Markup("").join(
        _rect("critical", axis.place(start), axis.place(end), 19, 2)
        for start, end, span in _critical(path, now)
        if span in row.spans
    )
    return Markup(
        '<li class="{}"><span class="timeline-name" title="{}">{}</span>'
        '<span class="timeline-took">{}</span>'
        '<svg width="100%" height="22" role="img" aria-label="{}">{}{}</svg></li>'
    ).format(
        row.spans[-1].kind,
        name,
        label,
        f"{len(row.spans):,} attempts" if row.is_group else duration(ran),
        _spoken(row, now, bool(underlined)),
        Markup("").join(_bar(bar, now, row.is_group) for bar in _bars(row, axis, now)),
        underlined,
    )


def _critical(path: list[Span], now: datetime) -> Iterator[tuple[datetime, datetime, Span]]:
    """Each part of the critical path, from the end of the part before it."""
    for span, before in zip(path, [*path[1:], None], strict=False):
        start = span.since if before is None else min(_end(before, now), span.started_at)
        yield start, _end(span, now), span


def _bar(bar: Bar, now: datetime, in_group: bool) -> Markup:
    title = _bar_title(bar, now)
    if bar.kind == "waited":
        return _rect("waited", bar.left, bar.right, 8, 5, title)
    if bar.kind == "asked":
        return Markup('<line class="asked" x1="{}" x2="{}" y1="10.5" y2="10.5">{}</line>').format(
            _percent(bar.left), _percent(bar.right), _title(title)
        )
    beside = in_group and bar.kind in {"lost", "failed"}  # others ran at the same time
    return _rect(bar.kind, bar.left, bar.right, 4, 5 if beside else 13, title)


def _bar_title(bar: Bar, now: datetime) -> str:
    if bar.attempts > 1:
        return f"{bar.attempts:,} attempts: {bar.kind}"
    return f"waited {_waited(bar.span)}" if bar.kind == "waited" else _said(bar.span, now)


def _rect(kind: str, left: float, right: float, y: int, height: int, title: str = "") -> Markup:
    return Markup(
        '<rect class="{}" x="{}" y="{}" width="{}" height="{}" rx="1.5">{}</rect>'
    ).format(kind, _percent(left), y, _percent(max(0.0, right - left)), height, _title(title))


def _scale(axis: Axis, zone: tzinfo, now: datetime | None) -> Markup:
    """The line above the rows: times, and how long each folded gap is."""
    written = _written_ticks(axis, zone)
    free = 0.0
    for start, end in axis.folds:
        middle = (axis.place(start) + axis.place(end)) / 2
        if middle >= free:
            free = middle + LABEL
            length = duration((end - start).total_seconds())
            written.append(
                Markup('<text class="fold" x="{}" y="28">{}</text>').format(
                    _percent(middle), length
                )
            )
    if now is not None and axis.place(now) >= free:
        at = _percent(axis.place(now))
        written.append(Markup('<text class="now" x="{}" y="28">now</text>').format(at))
    return Markup(
        '<div class="timeline-scale"><span class="timeline-zone">{}</span>'
        '<svg width="100%" height="34" aria-hidden="true">'
        '<defs><pattern id="timeline-lost" width="5" height="5" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><rect class="lost-ground" width="5" height="5"/>'
        '<rect class="lost-line" width="2.2" height="5"/></pattern></defs>{}</svg></div>'
    ).format(_zone_name(axis.start, zone), Markup("").join(written))


def _written_ticks(axis: Axis, zone: tzinfo) -> list[Markup]:
    """The times above the rows. A narrow screen leaves out those of class `spare`."""
    written = []
    free = 0.0
    for when, text in _ticks(axis, zone):
        place = axis.place(when)
        kind = "tick" if place >= free else "tick spare"
        free = place + NARROW_LABEL if place >= free else free
        utc = when.astimezone(timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
        written.append(
            Markup('<text class="{}" x="{}" dx="3" y="12" data-time="{}">{}{}</text>').format(
                kind, _percent(place), when.isoformat(), _title(utc), text
            )
        )
    return written


def _lines(axis: Axis, zone: tzinfo, now: datetime | None) -> Markup:
    """What runs through all rows: a line for each time, the folded gaps, and now."""
    lines = [_line("tick", axis.place(when)) for when, _ in _ticks(axis, zone)]
    for start, end in axis.folds:
        length = duration((end - start).total_seconds())
        lines.append(
            Markup('<rect class="fold" x="{}" y="0" width="{}" height="100%">{}</rect>').format(
                _percent(axis.place(start)),
                _percent(axis.place(end) - axis.place(start)),
                _title(f"nothing ran for {length}"),
            )
        )
    if now is not None:
        lines.append(_line("now", axis.place(now)))
    return Markup('<svg class="timeline-lines" aria-hidden="true">{}</svg>').format(
        Markup("").join(lines)
    )


def _line(kind: str, place: float) -> Markup:
    at = _percent(place)
    return Markup('<line class="{}" x1="{}" x2="{}" y1="0" y2="100%"/>').format(kind, at, at)


def _ticks(axis: Axis, zone: tzinfo) -> list[tuple[datetime, str]]:
    """Round times on the axis, with what is written for each; no two too close to each other."""
    step = next((one for one in TICKS if axis.shown_seconds / one <= 8), TICKS[-1])
    found: list[tuple[datetime, str]] = []
    free, day = 0.0, None
    for start, end in axis.shown():
        for when in _round_times(start, end, step, zone):
            local = when.astimezone(zone)
            place = axis.place(when)
            if free <= place <= 1 - LABEL / 2:
                found.append((when, _written(local, step, local.date() != day)))
                free, day = place + LABEL, local.date()
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


def _zone_name(when: datetime, zone: tzinfo) -> str:
    return when.astimezone(zone).tzname() or "local time"


def _note(shown: int, every: int, more: int) -> Markup:
    parts = []
    if shown < every:
        parts.append(f"{shown:,} of {every:,} attempts shown")
    if more:
        parts.append(f"and {more:,} more steps")
    return Markup('<p class="timeline-note">{}</p>').format(", ".join(parts)) if parts else Markup()


# Words and times ----------------------------------------------------------------------------------


def _spoken(row: Row, now: datetime, is_critical: bool) -> str:
    """What a screen reader says of a row."""
    said = "; ".join(_said(span, now) for span in row.spans[-5:])
    count = f"{len(row.spans)} attempts, the last: " if len(row.spans) > 5 else ""
    return f"{_text(row.name)}: {count}{said}{'; on the critical path' if is_critical else ''}"


def _said(span: Span, now: datetime) -> str:
    took = duration((_end(span, now) - span.started_at).total_seconds())
    if span.outcome == "asked":
        return f"waited {took} for an answer"
    tried = f"attempt {span.attempt} " if span.attempt is not None else ""
    where = f"on {_text(span.worker)} " if span.worker else ""
    waited = f", waited {_waited(span)}" if span.queued_at else ""
    detail = f": {_text(span.detail)}" if span.detail else ""
    return f"{tried}{where}{_text(span.outcome)} after {took}{waited}{detail}"


def _waited(span: Span) -> str:
    return duration((span.started_at - span.since).total_seconds())


def _end(span: Span, now: datetime) -> datetime:
    """Clocks may differ: nothing ends before it starts."""
    return max(span.started_at, span.ended_at or now)


def _is_going_on(spans: Iterable[Span]) -> bool:
    return any(span.ended_at is None for span in spans)


def _is_drawable(span: Span) -> bool:
    """A time may be infinite in the database."""
    times = (span.started_at, span.ended_at, span.queued_at)
    return all(
        one is None or (not isinstance(one, FarTime) and EARLIEST <= one <= LATEST) for one in times
    )


def _after(when: datetime, seconds: Any) -> datetime | None:
    if seconds is None or isinstance(when, FarTime):
        return None
    try:
        return when + timedelta(seconds=float(seconds))
    except (OverflowError, ValueError):
        return None


def _joined(intervals: Iterable[Interval]) -> list[Interval]:
    """The intervals without overlaps, in order."""
    found: list[Interval] = []
    for start, end in sorted(intervals):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _percent(place: float) -> str:
    return f"{100 * place:.3f}%"


def _title(text: str) -> Markup:
    return Markup("<title>{}</title>").format(text) if text else Markup()


def _text(text: str) -> str:
    line = visible(" ".join(text[: 2 * LONGEST_NAME].split()))
    return line if len(line) <= LONGEST_NAME else f"{line[: LONGEST_NAME - 1]}\u2026"
