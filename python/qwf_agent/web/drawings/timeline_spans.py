"""The attempts that a timeline shows: when each waited and ran, and what is said of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from qwf_agent.look.draw.visible import one_line
from qwf_agent.look.draw.words import FarTime, duration

LONGEST_NAME = 120
SHORTEST_WAIT = 0.02  # share of the critical path from which a wait is said
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
EARLIEST = datetime(1970, 1, 1, tzinfo=timezone.utc)
LATEST = datetime(9000, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class AttemptSpan:
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
        return self.node.partition("/")[0]

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


def spans_of(rows: Iterable[Mapping[str, Any]], link: Callable[[int], str]) -> list[AttemptSpan]:
    """The attempts among rows of view qwf.job_timeline; `link` gives the address of a job."""
    return [
        AttemptSpan(
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


def critical_path(
    spans: Sequence[AttemptSpan], needs: Mapping[str, Sequence[str]], now: datetime
) -> list[AttemptSpan]:
    """The attempts that decided when the run ended, the last one first: of each node's
    dependencies the one that ended last."""
    last: dict[str, AttemptSpan] = {}
    for span in spans:
        if span.node not in last or end_of(span, now) > end_of(last[span.node], now):
            last[span.node] = span
    path: list[AttemptSpan] = []
    following = list(last.values()) if needs else []
    while following:
        path.append(max(following, key=lambda span: end_of(span, now)))
        passed = {span.node for span in path}
        names = needs.get(path[-1].node, ())
        following = [last[name] for name in names if name in last and name not in passed]
    return path


def path_in_words(path: Sequence[AttemptSpan], now: datetime) -> str:
    """The critical path, the first part first: what ran for how long, and the waits between."""
    if not path:
        return ""
    at, parts = path[-1].since, []
    whole = (end_of(path[0], now) - at).total_seconds()
    for span in reversed(path):
        gap, ran = (span.started_at - at).total_seconds(), end_of(span, now) - span.started_at
        if gap >= SHORTEST_WAIT * whole:
            parts.append(f"waited {duration(gap)}")
        asked = "answer to " if span.outcome == "asked" else ""
        parts.append(f"{asked}{one_line(span.name, LONGEST_NAME)} {duration(ran.total_seconds())}")
        at = end_of(span, now)
    return f"{duration(whole)}: {', '.join(parts)}"


def spoken(span: AttemptSpan, now: datetime) -> str:
    """Text for screen readers about an attempt."""
    took = duration((end_of(span, now) - span.started_at).total_seconds())
    if span.outcome == "asked":
        return f"waited {took} for an answer"
    tried = f"attempt {span.attempt} " if span.attempt is not None else ""
    where = f"on {one_line(span.worker, LONGEST_NAME)} " if span.worker else ""
    waited = f", waited {time_waited(span)}" if span.queued_at else ""
    detail = f": {one_line(span.detail, LONGEST_NAME)}" if span.detail else ""
    return f"{tried}{where}{one_line(span.outcome, LONGEST_NAME)} after {took}{waited}{detail}"


def time_waited(span: AttemptSpan) -> str:
    """How long it waited before it ran."""
    return duration((span.started_at - span.since).total_seconds())


def end_of(span: AttemptSpan, now: datetime) -> datetime:
    """Clocks may differ: nothing ends before it starts."""
    return max(span.started_at, span.ended_at or now)


def is_going_on(spans: Iterable[AttemptSpan]) -> bool:
    """Return True if one of them has not ended."""
    return any(span.ended_at is None for span in spans)


def is_drawable(span: AttemptSpan) -> bool:
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
