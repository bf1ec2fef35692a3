"""Draws when the attempts of a run or job waited and ran: rows of bars on one axis of time.

Time in which nothing ran is folded to a notch, so that a night of waiting does not squeeze the
minutes of work. Geometry is in percent of the width, so the same rows serve a phone and a desk.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone, tzinfo
from typing import NamedTuple

from markupsafe import Markup

from qwf_agent.look.draw.visible import one_line
from qwf_agent.look.draw.words import duration
from qwf_agent.web.drawings.timeline_axis import LABEL, Axis, axis_of, ticks
from qwf_agent.web.drawings.timeline_spans import (
    LONGEST_NAME,
    AttemptSpan,
    critical_path,
    end_of,
    is_drawable,
    is_going_on,
    spoken,
    time_waited,
)  # fmt: skip

MOST_ROWS = 300  # with more, a row for each step
MOST_BARS = 40  # in a row; with more, neighbours are drawn as one
CLOSE = 0.004  # bars of a full row that are nearer are drawn as one
NARROW_LABEL = 0.27  # the same as LABEL, on a phone


class Bar(NamedTuple):
    """Something drawn in a row, from one place of the axis to another."""

    left: float
    right: float
    kind: str
    span: AttemptSpan
    attempts: int = 1  # that it stands for


class Row(NamedTuple):
    """A job, or a group of jobs, and its attempts in the order of their starts."""

    name: str
    spans: list[AttemptSpan]
    is_group: bool


def draw(
    spans: Iterable[AttemptSpan],
    now: datetime,
    *,
    needs: Mapping[str, Sequence[str]] | None = None,
    kinds: Collection[str] | None = None,
    last_only: bool = False,
    zone: tzinfo = timezone.utc,
) -> Markup:
    """The timeline as HTML with SVG in it.

    `needs` says which nodes a node depends on, for the critical path. `kinds` shows attempts of
    these kinds only (AttemptSpan.kind), `last_only` the last attempt at each job. The axis is that
    of all attempts, so that it stays when a filter changes. Times are written in `zone`.
    """
    every = [span for span in spans if is_drawable(span)]
    if not every:
        return Markup('<p class="timeline-empty">Nothing has run yet.</p>')
    axis = axis_of(every, now)
    path = critical_path(every, needs or {}, now)
    chosen = _filtered(every, kinds, last_only)
    rows = _rows(chosen)
    more = max(0, len(rows) - MOST_ROWS)
    return Markup('<div class="timeline">{}{}<ol>{}</ol>{}</div>').format(
        _scale(axis, zone, now if is_going_on(every) else None),
        _lines(axis, zone, now if is_going_on(every) else None),
        Markup("").join(_row(row, axis, path, now) for row in rows[:MOST_ROWS]),
        _note(len(chosen), len(every), more),
    )


# Which rows and bars ------------------------------------------------------------------------------


def _filtered(
    spans: list[AttemptSpan], kinds: Collection[str] | None, last_only: bool
) -> list[AttemptSpan]:
    if last_only:
        ordered = sorted(spans, key=lambda span: span.started_at)
        spans = list({span.name: span for span in ordered}.values())
    return [span for span in spans if kinds is None or span.kind in kinds]


def _rows(spans: list[AttemptSpan]) -> list[Row]:
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
        Bar(axis.place(span.started_at), axis.place(end_of(span, now)), span.kind, span)
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
    """Draw last the parts that must not be hidden."""
    order = ("waited", "completed", "asked", "cancelled", "running", "lost", "failed")
    return order.index(kind)


# What it looks like -------------------------------------------------------------------------------


def _row(row: Row, axis: Axis, path: list[AttemptSpan], now: datetime) -> Markup:
    ran = sum(((end_of(span, now) - span.started_at).total_seconds() for span in row.spans), 0.0)
    name = one_line(row.name, LONGEST_NAME)
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


def _critical(
    path: list[AttemptSpan], now: datetime
) -> Iterator[tuple[datetime, datetime, AttemptSpan]]:
    """Each part of the critical path, from the end of the part before it."""
    for span, before in zip(path, [*path[1:], None], strict=False):
        start = span.since if before is None else min(end_of(before, now), span.started_at)
        yield start, end_of(span, now), span


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
    return f"waited {time_waited(bar.span)}" if bar.kind == "waited" else spoken(bar.span, now)


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
    for when, text in ticks(axis, zone):
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
    """The parts that run through all rows: a line for each time, the folded gaps, and now."""
    lines = [_line("tick", axis.place(when)) for when, _ in ticks(axis, zone)]
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


def _zone_name(when: datetime, zone: tzinfo) -> str:
    return when.astimezone(zone).tzname() or "local time"


def _note(shown: int, every: int, more: int) -> Markup:
    parts = []
    if shown < every:
        parts.append(f"{shown:,} of {every:,} attempts shown")
    if more:
        parts.append(f"and {more:,} more steps")
    return Markup('<p class="timeline-note">{}</p>').format(", ".join(parts)) if parts else Markup()


def _spoken(row: Row, now: datetime, is_critical: bool) -> str:
    """Text for screen readers about a row."""
    said = "; ".join(spoken(span, now) for span in row.spans[-5:])
    count = f"{len(row.spans)} attempts, the last: " if len(row.spans) > 5 else ""
    name = one_line(row.name, LONGEST_NAME)
    return f"{name}: {count}{said}{'; on the critical path' if is_critical else ''}"


def _percent(place: float) -> str:
    return f"{100 * place:.3f}%"


def _title(text: str) -> Markup:
    return Markup("<title>{}</title>").format(text) if text else Markup()
