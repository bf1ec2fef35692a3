"""The clock of the engine in a database that was made for tests."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import psycopg
from psycopg import sql

from qwf_agent.app.options import SqlValue, seconds_of
from qwf_agent.testing.databases import is_for_tests

Connection = psycopg.Connection[tuple[Any, ...]]

# The schema has no switch for its clock: a test replaces the function, in its own database only.
STAND_STILL = """
create or replace function qwf.now() returns timestamptz
language sql volatile
as {}
"""
MOVED = "-- moved by a test"  # the end of that function, once time has passed
HAS_MOVED = "select prosrc like %s from pg_catalog.pg_proc where oid = 'qwf.now()'::regprocedure"

# Who moves the clock waits for others that do, and then sees what they did.
LOCK = "select pg_advisory_xact_lock(hashtext('qwf_testing.clock'))"

NEXT_DUE = """
select min(due.at) from (
  select j.run_at from qwf.jobs j where j.status = 'scheduled'
  union all select s.next_at from qwf.schedules s) due (at)
where isfinite(due.at)
"""


class Clock:
    """The time of the engine. It stands still, and moves when the test says so.

    Every session of the database sees the same time, also those of other processes. What does not
    ask the engine, such as `datetime.now()` in a body, is not changed.
    """

    def __init__(self, dsn: str) -> None:
        """Stop the clock at the present. Raises ValueError unless `dsn` names a database that was
        made for tests."""
        self._dsn = dsn
        with psycopg.connect(dsn) as conn:
            if not is_for_tests(conn):
                raise ValueError(
                    "the clock of this database is not changed: it is no copy of qwf_template, so"
                    " it may not be a test's own"
                )
        with self._held() as conn:
            _write(conn, _read(conn), has_moved(conn))

    @property
    def now(self) -> datetime:
        """The time of the engine, in UTC."""
        with psycopg.connect(self._dsn) as conn:
            return _read(conn)

    def set(self, to: datetime) -> None:
        """Set the clock. Raises ValueError for a time without a time zone."""
        if to.tzinfo is None:
            raise ValueError(f"a time without a time zone: {to!r}")
        with self._held() as conn:
            _write(conn, to)

    def advance(self, by: float | str | timedelta) -> None:
        """Let this much time pass at once: seconds, a timedelta, or a text such as "1 hour". What
        is due then runs with the next `run_until_idle`. Raises TypeError for anything else."""
        length = seconds_of("the time to advance by", by)
        text = length.text if isinstance(length, SqlValue) else f"{length:f} seconds"
        with self._held() as conn:
            _write(conn, _read(conn, text))

    def advance_until_due(self) -> None:
        """Let time pass until the next scheduled job, retry or schedule is due. Raises LookupError
        if there is none."""
        with self._held() as conn:
            ((due,),) = conn.execute(NEXT_DUE).fetchall()
            if due is None:
                raise LookupError(
                    "nothing is due later: no job is scheduled, and no schedule is on"
                )
            _write(conn, max(due, _read(conn)))

    @contextlib.contextmanager
    def _held(self) -> Iterator[Connection]:
        """A transaction in which nobody else moves the clock."""
        with psycopg.connect(self._dsn) as conn:
            conn.execute(LOCK)
            yield conn


def _read(conn: Connection, after: str = "0") -> datetime:
    """The time of the engine, so long after now."""
    now: datetime
    ((now,),) = conn.execute("select qwf.now() + %s::interval", [after]).fetchall()
    return now.astimezone(timezone.utc)


def has_moved(conn: psycopg.Connection[Any]) -> bool:
    """Return True if a test has moved the clock of this database."""
    cursor = conn.cursor(row_factory=psycopg.rows.tuple_row)
    return cursor.execute(HAS_MOVED, [f"%{MOVED}"]).fetchone() == (True,)


def _write(conn: Connection, to: datetime, moved: bool = True) -> None:
    end = f"\n{MOVED}" if moved else ""
    body = sql.Literal(f"select '{to.isoformat()}'::timestamptz{end}")
    conn.execute(sql.SQL(STAND_STILL).format(body))
