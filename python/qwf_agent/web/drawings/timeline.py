"""Draws when the attempts of a run or job waited and ran: rows of bars on one axis of time.

Time in which nothing ran is folded to a notch, so that a night of waiting does not squeeze the
minutes of work. Geometry is in percent of the width, so the same rows serve a phone and a desk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone, tzinfo
from itertools import accumulate

from markupsafe import Markup, escape

from qwf_agent.look.draw.visible import one_line
from qwf_agent.look.draw.words import duration
from qwf_agent.web.drawings.timeline_axis import NARROW_PX, WIDE_PX, Axis, LabelLine, axis_of, ticks
from qwf_agent.web.drawings.timeline_rows import Fold, Row
from qwf_agent.web.drawings.timeline_spans import (
    LONGEST_NAME,
    AttemptSpan,
    critical_path,
    end_of,
    is_going_on,
    path_in_words,
    spoken,
    time_waited,
)  # fmt: skip

MOST_ROWS = 200
MOST_PARTS = 400  # bars and shapes: a row has at least one, a shape is as long as SHAPE bars
SHAPE = 24
WIDE = 1000  # units of the width of a density bar
HIGH = 15  # and of its height


def draw(
    rows: Sequence[Row],
    now: datetime,
    *,
    shown: Sequence[Row] | None = None,
    needs: Mapping[str, Sequence[str]] | None = None,
    zone: tzinfo = timezone.utc,
) -> Markup:
    """The timeline as HTML with SVG in it.

    `shown` are the rows to draw, in their order; without it, all of them. The axis is that of all
    rows, so that it stays when a filter changes. `needs` says which nodes a node depends on, for
    the critical path. Times are written in `zone`.
    """
    if not rows:
        return Markup('<p class="timeline-empty">Nothing has run yet.</p>')
    every = [span for row in rows for span in row.parts]
    axis = axis_of([*_busy(rows, now)], now)
    path = critical_path([s for row in rows if not row.depth for s in row.parts], needs or {}, now)
    drawn = rows if shown is None else shown
    count = fitting(drawn)
    line = now if is_going_on(every) else None
    return Markup('{}<div class="timeline">{}{}<ol>{}</ol>{}</div>').format(
        _in_words(path, now),
        _scale(axis, zone, line),
        _lines(axis, zone, line),
        Markup("").join(_row(row, axis, path, now) for row in drawn[:count]),
        _note(max(0, len(drawn) - count)),
    )


def fitting(rows: Sequence[Row]) -> int:
    """How many rows, from the first on, one page has room for."""
    sizes = accumulate(SHAPE if row.fold else len(row.spans) for row in rows[:MOST_ROWS])
    return max(1, sum(size <= MOST_PARTS for size in sizes))


def _busy(rows: Sequence[Row], now: datetime) -> Iterator[AttemptSpan]:
    """The times that the axis has to show; of many rows from first start to last end."""
    for row in rows:
        if row.fold is None or len(rows) > MOST_ROWS:
            yield from row.parts
        else:
            yield from row.fold.busy(now)
            whole = row.fold.whole
            yield AttemptSpan(row.name, "asked", whole.since, whole.started_at)  # it waits


# What it looks like -------------------------------------------------------------------------------


def _row(row: Row, axis: Axis, path: list[AttemptSpan], now: datetime) -> Markup:
    name = one_line(row.name, LONGEST_NAME)
    label = Markup('<a href="{}">{}</a>').format(row.href, name) if row.href else escape(name)
    underlined = Markup("").join(
        _rect("critical", axis.place(start), axis.place(end), 19, 2)
        for start, end, span in _critical(path, now)
        if not row.depth and span in row.parts
    )
    return Markup(
        '<li class="{}{}"><span class="timeline-name" title="{}">{}{}</span>'
        '<span class="timeline-took">{}</span>{}'
        '<svg width="100%" height="22" role="group" aria-label="{}">{}{}</svg></li>'
    ).format(
        row.parts[-1].kind,
        " inner" if row.depth else "",
        name,
        label,
        _opener(row),
        row.said(now),
        _about(row.fold) if row.fold else "",
        _spoken(row, now, bool(underlined)),
        _density(row, row.fold, axis, now) if row.fold else _bars(row, axis, now),
        underlined,
    )


def _opener(row: Row) -> Markup:
    if row.opener is None:
        return Markup()
    return Markup(' <a class="timeline-open" href="{}">{}</a>').format(*row.opener)


def _about(fold: Fold) -> Markup:
    """The line below the name of a fold."""
    failed = f"{fold.failed:,} failed, " if fold.failed else ""
    return Markup('<span class="timeline-about">{}slowest <a href="{}">{}</a></span>').format(
        failed, fold.slowest_href, duration(fold.slowest)
    )


def _in_words(path: list[AttemptSpan], now: datetime) -> Markup:
    said = path_in_words(path, now)
    if not said:
        return Markup()
    return Markup('<p class="timeline-path">Critical path: <strong>{}</strong></p>').format(said)


def _bars(row: Row, axis: Axis, now: datetime) -> Markup:
    """The bars of a row: waits first, so that what ran is drawn over them."""
    waits = [
        _rect("waited", axis.place(one.since), axis.place(one.started_at), 8, 5,
              f"waited {time_waited(one)}")
        for one in row.spans if one.since < one.started_at
    ]  # fmt: skip
    return Markup("").join([*waits, *(_bar(one, axis, now) for one in row.spans)])


def _density(row: Row, fold: Fold, axis: Axis, now: datetime) -> Markup:
    """How many attempts of a fold went on at once, as a shape; above it, where some failed."""
    most = max(fold.at_once) or 1
    shape, failed = [], []
    for one in fold.slices(now):
        left, right = (round(WIDE * axis.place(at), 1) for at in (one.start, one.end))
        if one.at_once:
            height = round(max(2, HIGH * one.at_once / most), 1)
            shape.append(f"M{left} {HIGH}V{HIGH - height:g}H{right}V{HIGH}Z")
        if one.failed:
            failed.append(f"M{left} 0H{max(right, left + 2):g}V4H{left}Z")
    title = (
        f"{fold.attempts:,} attempts, at most {most:,} at once"
        f"{f', {fold.failed:,} failed' if fold.failed else ''}; half of them took at most "
        f"{duration(fold.typical)}, the slowest {duration(fold.slowest)}"
    )
    drawn = Markup(
        '<svg class="density" y="3" width="100%" height="{}" viewBox="0 0 {} {}" '
        'preserveAspectRatio="none">{}<path class="{}" d="{}"/><path class="failed" d="{}"/></svg>'
    ).format(
        HIGH, WIDE, HIGH, _title(title),
        "running" if fold.whole.kind == "running" else "completed", "".join(shape), "".join(failed),
    )  # fmt: skip
    wait = _rect("waited", axis.place(fold.whole.since), axis.place(fold.whole.started_at), 8, 5,
                 f"the first waited {time_waited(fold.whole)}")  # fmt: skip
    return wait + _linked(row.href, title, drawn)


def _linked(href: str | None, said: str, drawn: Markup) -> Markup:
    """A drawing that leads somewhere. The keyboard goes there by the name of the row."""
    if not href:
        return drawn
    return Markup('<a href="{}" aria-label="{}" tabindex="-1">{}</a>').format(href, said, drawn)


def _critical(
    path: list[AttemptSpan], now: datetime
) -> Iterator[tuple[datetime, datetime, AttemptSpan]]:
    """Each part of the critical path, from the end of the part before it."""
    for span, before in zip(path, [*path[1:], None], strict=False):
        start = span.since if before is None else min(end_of(before, now), span.started_at)
        yield start, end_of(span, now), span


def _bar(span: AttemptSpan, axis: Axis, now: datetime) -> Markup:
    left, right = axis.place(span.started_at), axis.place(end_of(span, now))
    title = spoken(span, now)
    if span.kind == "asked":
        drawn = Markup('<line class="asked" x1="{}" x2="{}" y1="10.5" y2="10.5">{}</line>').format(
            _percent(left), _percent(right), _title(title)
        )
    else:
        drawn = _rect(span.kind, left, right, 4, 13, title)
    return _linked(span.href, title, drawn)


def _rect(kind: str, left: float, right: float, y: int, height: int, title: str = "") -> Markup:
    return Markup(
        '<rect class="{}" x="{}" y="{}" width="{}" height="{}" rx="1.5">{}</rect>'
    ).format(kind, _percent(left), y, _percent(max(0.0, right - left)), height, _title(title))


def _scale(axis: Axis, zone: tzinfo, now: datetime | None) -> Markup:
    """The line above the rows: times, and how long each folded gap is."""
    below = [
        ("fold", (axis.place(start) + axis.place(end)) / 2, duration((end - start).total_seconds()))
        for start, end in axis.folds
    ]
    if now is not None:
        below.append(("now", axis.place(now), "now"))
    wide, narrow = LabelLine(WIDE_PX, middle=True), LabelLine(NARROW_PX, middle=True)
    written = _written_ticks(axis, zone) + [
        Markup('<text class="{}{}" x="{}" y="28">{}</text>').format(
            kind, "" if narrow.takes(place, text) else " spare", _percent(place), text
        )
        for kind, place, text in below
        if wide.takes(place, text)
    ]
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
    narrow = LabelLine(NARROW_PX)
    for when, text in ticks(axis, zone):
        place = axis.place(when)
        kind = "tick" if narrow.takes(place, text) else "tick spare"
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


def _note(more: int) -> Markup:
    if not more:
        return Markup()
    return Markup('<p class="timeline-note">and {} more nodes</p>').format(f"{more:,}")


def _spoken(row: Row, now: datetime, is_critical: bool) -> str:
    """Text for screen readers about a row."""
    name, end = one_line(row.name, LONGEST_NAME), "; on the critical path" if is_critical else ""
    if row.fold:
        return f"{name}: {row.said(now)}, slowest {duration(row.fold.slowest)}{end}"
    said = "; ".join(spoken(span, now) for span in row.spans[-5:])
    count = f"{len(row.spans)} attempts, the last: " if len(row.spans) > 5 else ""
    return f"{name}: {count}{said}{end}"


def _percent(place: float) -> str:
    return f"{100 * place:.3f}%"


def _title(text: str) -> Markup:
    return Markup("<title>{}</title>").format(text) if text else Markup()
