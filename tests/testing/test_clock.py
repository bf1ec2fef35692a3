"""The clock of a test: one time for all sessions, and only in a database made for tests."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from typing import Any

import psycopg
import pytest

from qwf_agent.testing import Clock
from qwf_agent.testing.databases import deploy

Db = psycopg.Connection[Any]


def test_every_session_sees_the_time_of_the_test(qwf_db: Db, qwf_dsn: str) -> None:
    read, stored = "select qwf.now()", "select run_at from qwf.jobs order by id desc limit 1"
    enqueue = "select qwf.enqueue('x', run_at => qwf.now() + interval '1 hour')"
    for _ in range(10):  # with plans that were made before
        qwf_db.execute(enqueue, prepare=True)
    clock = Clock(qwf_dsn)
    stopped = clock.now
    assert qwf_db.execute(read).fetchone() == (stopped,)
    clock.set(datetime(2040, 2, 29, 12, tzinfo=timezone(timedelta(hours=1))))
    assert clock.now == datetime(2040, 2, 29, 11, tzinfo=timezone.utc)
    qwf_db.execute(enqueue, prepare=True)
    assert qwf_db.execute(stored).fetchone() == (clock.now + timedelta(hours=1),)
    clock.advance(timedelta(days=-1))
    with psycopg.connect(qwf_dsn) as other:
        assert other.execute(read).fetchone() == (clock.now,)
    assert clock.now.isoformat() == "2040-02-28T11:00:00+00:00"


@pytest.mark.parametrize("hour", ["1 hour", "1:00", 3600, 3600.0, timedelta(hours=1)])
def test_time_passes_by_every_kind_of_duration(qwf_clock: Clock, hour: Any) -> None:
    before = qwf_clock.now
    qwf_clock.advance(hour)
    assert qwf_clock.now - before == timedelta(hours=1)


@pytest.mark.parametrize("by", ["soon", None, True])
def test_what_is_no_duration_is_refused_in_words(qwf_clock: Clock, by: Any) -> None:
    with pytest.raises(TypeError, match="the time to advance by has to be a number of seconds"):
        qwf_clock.advance(by)


def test_a_time_without_a_zone_is_refused(qwf_clock: Clock) -> None:
    with pytest.raises(ValueError, match="without a time zone"):
        qwf_clock.set(datetime(2040, 1, 1))


def test_no_move_of_several_at_once_is_lost(qwf_clock: Clock) -> None:
    before = qwf_clock.now
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: qwf_clock.advance(timedelta(seconds=1)), range(40)))
    assert qwf_clock.now - before == timedelta(seconds=40)


def test_the_clock_of_another_database_is_not_changed(empty_dsn: str) -> None:
    """That one has the schema, too, but the fixtures did not make it."""
    deploy(empty_dsn)
    source = "select prosrc from pg_proc where oid = 'qwf.now'::regproc"
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        before = conn.execute(source).fetchone()
        with pytest.raises(ValueError, match="the clock of this database is not changed"):
            Clock(empty_dsn)
        assert conn.execute(source).fetchone() == before


def test_only_the_owner_of_the_engine_can_change_its_clock(qwf_db: Db, qwf_dsn: str) -> None:
    """A session with less rights, as programs have, cannot: there is no switch in the schema."""
    qwf_db.execute("create role qwf_clock_test login; grant qwf_producer to qwf_clock_test")
    try:
        with psycopg.connect(qwf_dsn) as conn:
            conn.execute("set role qwf_clock_test")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                conn.execute(
                    "create or replace function qwf.now() returns timestamptz language sql"
                    " volatile as 'select timestamptz ''2040-01-01'''"
                )
    finally:
        qwf_db.execute("drop role qwf_clock_test")
