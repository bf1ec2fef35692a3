"""Metrics, read while a table is locked."""

from __future__ import annotations

import pytest
from psycopg.errors import QueryCanceled

from support.interleave import Race, Session

READ = "select name from qwf.metrics where value is not null"
UPKEEP, RUNS = "qwf_schedules_late", "qwf_runs"


def locked(race: Race) -> Session:
    """A session that keeps everybody from the schedules."""
    operator = race.session()
    operator.begin()
    operator.rows("lock table qwf.schedules")
    return operator


def test_a_part_that_waits_too_long_for_a_lock_is_left_out(race: Race) -> None:
    operator, monitor = locked(race), race.session(lock_timeout="100ms")
    seen = {name for (name,) in monitor.rows(READ)}
    assert RUNS in seen
    assert UPKEEP not in seen
    operator.rollback()
    assert {UPKEEP, RUNS} <= {name for (name,) in monitor.rows(READ)}


def test_who_cancels_the_statement_ends_it(race: Race) -> None:
    locked(race)
    monitor = race.session()
    monitor.start(READ)
    monitor.waits()
    race.rows("select pg_cancel_backend(%s)", monitor.pid)
    with pytest.raises(QueryCanceled):
        monitor.ends()
