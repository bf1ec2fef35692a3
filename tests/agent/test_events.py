"""`qwf_agent.events`: a program that follows events, and hears of gaps."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from qwf_agent import events
from qwf_agent.app.events import Event

Db = psycopg.Connection[Any]
Connect = Callable[[], Db]


def happens(db: Db, *subjects: str) -> None:
    for subject in subjects:
        db.execute(
            "insert into _qwf.event_log (kind, subject) values ('fired', %s)",
            (subject,),
        )
    db.execute("select _qwf.number_events()")


def read(found: Iterator[Event], number: int) -> list[tuple[int, str | None]]:
    return [(event.seq, event.subject) for event in itertools.islice(found, number)]


def test_events_are_read_from_a_number_on(db: Db, connect: Connect) -> None:
    happens(db, *"abc")
    db.execute("set timezone = 'Asia/Tokyo'")
    ((at, login),) = db.execute("select at, login from qwf.events where seq = 2").fetchall()
    found = events.follow(connect(), 1)
    first = next(found)
    assert (first.seq, first.at, first.kind, first.subject) == (2, at, "fired", "b")
    assert (first.login, first.acting_for, first.run_id, first.detail) == (login, None, None, {})
    assert read(found, 1) == [(3, "c")]


def test_what_comes_is_heard_at_once(db: Db, connect: Connect) -> None:
    happens(db, *"abc")
    conn = connect()
    conn.row_factory = dict_row
    found = events.follow(conn, look_s=60)  # from now on
    late = threading.Timer(0.3, happens, (db, "d", "e"))
    late.start()
    began = time.monotonic()
    assert read(found, 2) == [(4, "d"), (5, "e")]
    assert time.monotonic() - began < 30
    late.join()
    found.close()
    happens(db, "f")
    assert conn.execute("select 1 as one").fetchall() == [{"one": 1}]
    assert list(conn.notifies(timeout=0)) == []  # it listens no more


def test_what_is_not_heard_is_found(db: Db, connect: Connect) -> None:
    """As behind a pooler, where notifications go to another session."""
    conn = connect()
    found = events.follow(conn, 0, look_s=0.1)
    happens(db, "a")
    assert read(found, 1) == [(1, "a")]
    conn.execute("unlisten *")
    late = threading.Timer(0.3, happens, (db, "b"))
    late.start()
    assert read(found, 1) == [(2, "b")]
    late.join()


def test_many_events_come_in_order(db: Db, connect: Connect) -> None:
    happens(db, *(str(n) for n in range(1, 1202)))
    assert read(events.follow(connect(), 0), 1201) == [(n, str(n)) for n in range(1, 1202)]


def test_an_asynchronous_program_reads_the_same(db: Db, dsn: str) -> None:
    happens(db, *"ab")

    async def follow() -> list[int]:
        async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as conn:
            seen = []
            found = events.follow_async(conn, 0, look_s=60)
            async for event in found:
                seen.append(event.seq)
                if len(seen) == 2:
                    await asyncio.to_thread(happens, db, "c")
                if len(seen) == 3:
                    break
            await found.aclose()
            return seen

    assert asyncio.run(follow()) == [1, 2, 3]


def test_events_that_were_deleted_are_missed(db: Db, connect: Connect) -> None:
    happens(db, *"abcde")
    db.execute("delete from _qwf.event_log where seq < 4")
    with pytest.raises(events.EventsMissed, match="2 events after number 1 are not there") as told:
        next(events.follow(connect(), 1))
    assert (told.value.after, told.value.missed, told.value.go_on_after) == (1, 2, 3)
    assert read(events.follow(connect(), told.value.go_on_after), 2) == [(4, "d"), (5, "e")]
    assert read(events.follow(connect(), 0), 1) == [(4, "d")], "0 is no number that was read"


def test_a_failover_is_an_event_and_no_gap(db: Db, connect: Connect) -> None:
    happens(db, *"abcde")
    db.execute("delete from _qwf.event_log where seq > 3")
    db.execute("update _qwf.event_numbers set last_seq = 3, timeline = '00000000'")
    happens(db, "new")
    ahead, behind = (read(events.follow(connect(), after), 3 - after // 2) for after in (5, 2))
    assert [seq for seq, _ in behind] == [3, 1000003]
    assert ahead == [(1000003, "qwf")]
    first = next(events.follow(connect(), 5))
    assert (first.kind, first.detail["last_kept"]) == ("events_restarted", 3)


def test_an_older_database_is_told(db: Db, connect: Connect) -> None:
    happens(db, *"abc")
    with pytest.raises(events.EventsMissed, match="restored without qwf migrate restored") as told:
        next(events.follow(connect(), 41, look_s=0.1))
    assert (told.value.missed, told.value.go_on_after) == (None, 3)


def test_another_connection_is_refused(db: Db, dsn: str) -> None:
    with pytest.raises(TypeError, match="pass a psycopg"):
        next(events.follow(object()))
    with pytest.raises(ValueError, match="after must not be negative"):
        next(events.follow(db, -1))
    with (
        psycopg.connect(dsn) as conn,
        pytest.raises(ValueError, match="connect with autocommit=True"),
    ):
        next(events.follow(conn))
