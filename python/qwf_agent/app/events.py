"""Follows the events of the engine: each once, in order, from a number that you keep.

`follow` and `follow_async` need a connection of psycopg that is theirs alone, in autocommit. For
another driver, docs/events.md has the statements.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import AsyncGenerator, Generator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from qwf_agent.app.connections import SqlExpression, fetch, fetch_async
from qwf_agent.app.options import SqlValue

__all__ = ["Event", "EventsMissed", "follow", "follow_async"]

CHANNEL = "qwf_events"
MOST = 500  # events that one look reads
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
READ = """pg_catalog.jsonb_build_object(
  'last', (select max(l.seq) from qwf.events l),
  'events', (
    select coalesce(pg_catalog.jsonb_agg(e.event order by e.seq), '[]') from (
      select n.seq, pg_catalog.jsonb_build_object(
        'seq', n.seq, 'at', (extract(epoch from n.at) * 1000000)::bigint, 'kind', n.kind,
        'subject', n.subject, 'names', n.names, 'run_id', n.run_id, 'job_id', n.job_id,
        'login', n.login, 'acting_for', n.acting_for, 'detail', n.detail) as event
      from qwf.events n where n.seq > ({after})::bigint order by n.seq limit ({most})::int) e))"""


@dataclass(frozen=True)
class Event:
    """A row of the view qwf.events; docs/events.md lists the kinds."""

    seq: int
    at: datetime
    kind: str
    subject: str | None
    names: Mapping[str, Any]
    run_id: int | None
    job_id: int | None
    login: str
    acting_for: str | None
    detail: Mapping[str, Any]


class EventsMissed(Exception):
    """Some events after the number you gave are not there any more, or never were in this database.

    Attributes:
        after: The last number that was read.
        go_on_after: Give it as `after` to go on with what is there.
        missed: How many numbers lie between; None if this database has fewer than were read.
    """

    def __init__(self, after: int, go_on_after: int) -> None:
        self.after, self.go_on_after = after, go_on_after
        self.missed = go_on_after - after if go_on_after > after else None
        if self.missed is not None:
            said = f"{self.missed} events after number {after} are not there any more"
        else:
            said = (
                f"the last event is number {go_on_after}, before number {after} that was read: "
                "another database, or one that was restored without qwf migrate restored"
            )
        super().__init__(f"{said}; to go on: after={go_on_after}")


def follow(
    conn: Any, /, after: int | None = None, *, look_s: float = 10.0
) -> Generator[Event, None, None]:
    """Each event after the number `after`, without end; None: those that happen from now on; 0: all
    that are kept.

    `conn` is a psycopg.Connection in autocommit that nobody else uses. It listens, and looks every
    `look_s` seconds in case it hears nothing, as behind a pooler. Keep `event.seq` together with
    what you do about the event.

    Raises EventsMissed, TypeError for another connection, ValueError if it is not in autocommit,
    and what psycopg raises if the connection is lost: connect again, and go on from your number.
    """
    _check(conn, "Connection")
    reader = _Reader(after, look_s)
    try:
        conn.execute(f"listen {CHANNEL}")
        while True:
            for event in (found := reader.take(*fetch(conn, reader.query()))):
                reader.seq = event.seq
                yield event
            if not found:  # psycopg keeps what came during the statement
                for _ in conn.notifies(timeout=look_s, stop_after=1):
                    pass
    finally:
        with contextlib.suppress(Exception):  # it is lost, or in the middle of something
            conn.execute(f"unlisten {CHANNEL}")


async def follow_async(
    conn: Any, /, after: int | None = None, *, look_s: float = 10.0
) -> AsyncGenerator[Event, None]:
    """The same as `follow`, for `async for` and a psycopg.AsyncConnection."""
    _check(conn, "AsyncConnection")
    reader = _Reader(after, look_s)
    try:
        await conn.execute(f"listen {CHANNEL}")
        while True:
            for event in (found := reader.take(*await fetch_async(conn, reader.query()))):
                reader.seq = event.seq
                yield event
            if not found:  # psycopg keeps what came during the statement
                async for _ in conn.notifies(timeout=look_s, stop_after=1):
                    pass
    finally:
        with contextlib.suppress(Exception):
            await conn.execute(f"unlisten {CHANNEL}")


class _Reader:
    """The number that was read last; tells whether what comes next follows it."""

    def __init__(self, after: int | None, look_s: float) -> None:
        if after is not None and after < 0:
            raise ValueError(f"after must not be negative, it is {after}")
        if look_s <= 0:
            raise ValueError(f"look_s must be positive, it is {look_s:g}")
        self.seq = after
        self._look_s = look_s
        self._ahead_since: float | None = None

    def query(self) -> SqlExpression:
        most = 0 if self.seq is None else MOST
        return SqlExpression(READ, {
            "after": SqlValue(str(self.seq or 0)), "most": SqlValue(str(most)),
        })  # fmt: skip

    def take(self, text: str) -> list[Event]:
        """The events of an answer. Raises EventsMissed."""
        answer = json.loads(text)
        last = int(answer["last"] or 0)
        if self.seq is None:
            self.seq = last
        events = [_event(row) for row in answer["events"]]
        if events:
            self._ahead_since = None
            self._compare(events[0])
        elif last < self.seq:
            self._wait_for(last)
        return events

    def _compare(self, first: Event) -> None:
        """Raise EventsMissed if events between were deleted. After a failover the numbers jump, and
        the first event says up to which number nothing has changed."""
        kept = first.seq - 1
        if first.kind == "events_restarted":
            kept = int(first.detail["last_kept"])
        if self.seq and self.seq < kept:
            raise EventsMissed(self.seq, first.seq - 1)

    def _wait_for(self, last: int) -> None:
        """Raise EventsMissed if the database stays behind: after a failover, the first tick is
        still to come."""
        now = time.monotonic()
        self._ahead_since = self._ahead_since or now
        if now - self._ahead_since >= self._look_s:
            raise EventsMissed(self.seq or 0, last)


def _event(row: dict[str, Any]) -> Event:
    at = EPOCH + timedelta(microseconds=row["at"])
    return Event(**{**row, "at": at, "names": row["names"] or {}, "detail": row["detail"] or {}})


def _check(conn: Any, kind: str) -> None:
    if not any(
        base.__name__ == kind and base.__module__.partition(".")[0] == "psycopg"
        for base in type(conn).__mro__
    ):
        raise TypeError(
            f"cannot follow events on {type(conn).__module__}.{type(conn).__qualname__}: "
            f"pass a psycopg.{kind}; for another driver, see docs/events.md"
        )
    if not conn.autocommit:
        raise ValueError(
            "the connection is not in autocommit: in a transaction it hears of no event; "
            "connect with autocommit=True"
        )
