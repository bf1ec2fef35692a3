"""Several sessions fire the same schedules: each time fires once, without needless waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

Connection = psycopg.Connection[Any]
TICKERS = 10
DUE = "update qwf.schedules set next_at = qwf.now() - interval '1 s'"


@pytest.fixture
def due(db: Connection) -> Connection:
    """Fifty schedules that are due, while time stands still: a tick that takes 300 ms leaves the
    rest of them to the next one."""
    db.execute(
        "do $$ begin execute format('create or replace function qwf.now() returns timestamptz"
        " language sql stable as %L', format('select %L::timestamptz', qwf.now())); end $$"
    )
    db.execute(
        "select qwf.create_schedule('s' || n, 't', cron => '0 0 1 1 *')"
        " from generate_series(1, 50) n"
    )
    db.execute(DUE)
    return db


def fire(session: Connection) -> int:
    row = session.execute("select _qwf.fire_schedules()").fetchone()
    assert row is not None
    return int(row[0])


def jobs(session: Connection) -> list[tuple[Any, ...]]:
    """The number of jobs of each schedule."""
    return session.execute(
        "select labels ->> 'schedule', count(*) from qwf.jobs group by 1 order by 1"
    ).fetchall()


def wait_until_blocked(session: Connection, other: Connection) -> None:
    """Wait up to a minute until the other session waits for a lock."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        row = session.execute(
            "select wait_event_type = 'Lock' from pg_stat_activity where pid = %s",
            (other.info.backend_pid,),
        ).fetchone()
        if row is not None and row[0]:
            return
        time.sleep(0.005)
    raise AssertionError("the other session did not wait")


def test_ten_concurrent_ticks_fire_each_time_once(
    due: Connection, connect: Callable[[], Connection]
) -> None:
    sessions = [connect() for _ in range(TICKERS)]
    start = threading.Barrier(TICKERS)
    fired = [0] * TICKERS

    def tick(number: int) -> None:
        start.wait()
        for _ in range(5):
            fired[number] += fire(sessions[number])

    threads = [threading.Thread(target=tick, args=(n,)) for n in range(TICKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(fired) == 50
    assert [count for _, count in jobs(due)] == [1] * 50


def test_a_tick_skips_schedules_that_another_is_firing(
    due: Connection, connect: Callable[[], Connection]
) -> None:
    slow, quick = connect(), connect()
    quick.execute("set lock_timeout = '5 s'")
    with slow.transaction():
        assert fire(slow) == 50
        assert fire(quick) == 0
    assert fire(quick) == 0
    assert len(jobs(due)) == 50


def test_times_fired_by_a_killed_tick_fire_again(
    due: Connection, connect: Callable[[], Connection]
) -> None:
    dying = connect()
    dying.execute("begin")
    assert fire(dying) == 50
    due.execute("select pg_terminate_backend(%s, 60000)", (dying.info.backend_pid,))
    dying.close()
    assert jobs(due) == []
    assert fire(due) == 50
    assert fire(due) == 0


def test_an_uncommitted_change_delays_only_its_own_schedule(
    due: Connection, connect: Callable[[], Connection]
) -> None:
    admin, ticker = connect(), connect()
    ticker.execute("set lock_timeout = '5 s'")
    with admin.transaction():
        admin.execute("select qwf.create_schedule('s1', 'other', cron => '0 0 1 1 *')")
        admin.execute("select qwf.enable_schedule('s2', false)")
        admin.execute("select qwf.drop_schedule('s3')")
        assert fire(ticker) == 47
    assert fire(ticker) == 1
    assert due.execute("select task from qwf.jobs order by id desc limit 1").fetchone() == (
        "other",
    )


def test_a_schedule_changed_while_it_fires_does_not_fire_again(
    due: Connection, connect: Callable[[], Connection]
) -> None:
    ticker, admin = connect(), connect()
    done = threading.Thread(
        target=admin.execute,
        args=("select qwf.create_schedule('s1', 'other', cron => '0 0 1 1 *')",),
    )
    with ticker.transaction():
        assert fire(ticker) == 50
        done.start()
        wait_until_blocked(due, admin)
    done.join()
    assert fire(ticker) == 0
    assert due.execute(
        "select task, fired, next_at > qwf.now() from qwf.schedules where name = 's1'"
    ).fetchone() == ("other", 1, True)


def test_two_sessions_create_the_same_schedule(
    db: Connection, connect: Callable[[], Connection]
) -> None:
    first, second = connect(), connect()
    create = "select qwf.create_schedule('x', %s, cron => '0 0 1 1 *')"
    later = threading.Thread(target=second.execute, args=(create, ("late",)))
    with first.transaction():
        first.execute(create, ("early",))
        later.start()
        wait_until_blocked(db, second)
    later.join()
    assert db.execute("select task from qwf.schedules").fetchall() == [("late",)]


def test_of_two_people_who_fire_a_schedule_one_does(
    db: Connection, connect: Callable[[], Connection]
) -> None:
    db.execute("select qwf.create_schedule('s', 't', every => '1 h', queue => 'cpu')")
    one, other = connect(), connect()
    by_hand = "select qwf.fire_schedule('s')"
    with ThreadPoolExecutor(1) as pool:
        with one.transaction():
            one.execute(by_hand)
            second = pool.submit(other.execute, by_hand)
            wait_until_blocked(db, other)
        with pytest.raises(psycopg.Error) as refused:
            second.result(timeout=60)
    assert refused.value.sqlstate == "QW002"
    assert db.execute("select count(*) from qwf.jobs").fetchone() == (1,)


def test_a_tick_leaves_a_schedule_that_a_person_is_firing(
    due: Connection, connect: Callable[[], Connection]
) -> None:
    person, ticker = connect(), connect()
    ticker.execute("set lock_timeout = '5 s'")
    with person.transaction():
        person.execute("select qwf.fire_schedule('s1')")
        assert fire(ticker) == 49
    assert fire(ticker) == 0, "what the person fired is not over"
    assert due.execute("select fired, skipped from qwf.schedules where name = 's1'").fetchone() == (
        1,
        1,
    )
