"""Numbers of events: two ticks, transactions that commit late, old snapshots, notifications."""

from __future__ import annotations

import inspect

import psycopg
import pytest

from support.interleave import Race, Session, claim, finish
from support.planted_bugs import EVENT_BUGS, put_in

NUMBER = "select _qwf.number_events()"
TICK = "select qwf.tick() ->> 'numbered'"
LOCKED = "select last_seq from _qwf.event_numbers for update"


def happens(session: Session, subject: str, times: int = 1) -> None:
    """Write events, in the transaction that the session has open if any."""
    session.rows(
        "insert into _qwf.event_log (kind, subject) select 'lost', %s from generate_series(1, %s)",
        subject,
        times,
    )


def events(session: Session, after: int = 0) -> list[tuple[int, str]]:
    """Events that a reader reads next after a number."""
    return session.rows(  # type: ignore[return-value]
        "select seq, subject from qwf.events where seq > %s order by seq", after
    )


def heard(session: Session) -> list[str]:
    """Payloads received so far; the round trip fetches those sent before it."""
    session.rows("select 1")
    return [n.payload for n in session.conn.notifies(timeout=0)]


@pytest.fixture
def listener(race: Race) -> Session:
    """A session that listens."""
    session = race.session()
    session.rows("listen qwf_events")
    return session


def test_an_event_that_commits_late_gets_a_later_number(race: Race) -> None:
    late, early = race.session(), race.session()
    late.begin()
    happens(late, "late")
    happens(early, "early")
    race.one(NUMBER)
    assert events(race) == [(1, "early")]
    late.commit()
    race.one(NUMBER)
    assert events(race, 1) == [(2, "late")]


def test_an_event_that_is_rolled_back_leaves_no_gap(race: Race) -> None:
    writer = race.session()
    writer.begin()
    happens(writer, "never")
    happens(race, "a")
    writer.rollback()
    happens(race, "b")
    race.one(NUMBER)
    assert events(race) == [(1, "a"), (2, "b")]


def test_of_two_ticks_one_gives_numbers(race: Race) -> None:
    first, second = race.session(), race.session()
    happens(race, "a", 3)
    first.begin()
    assert first.one(NUMBER) == 3
    happens(race, "b")
    assert second.one(NUMBER) == 0  # and does not wait
    assert events(race) == []
    first.commit()
    assert second.one(NUMBER) == 1
    assert [seq for seq, _ in events(race)] == [1, 2, 3, 4]


def test_a_tick_that_dies_gives_no_number(race: Race) -> None:
    first = race.session()
    happens(race, "a", 3)
    first.begin()
    first.one(NUMBER)
    first.kill()
    assert race.one(NUMBER) == 3
    assert events(race) == [(1, "a"), (2, "a"), (3, "a")]


def test_a_tick_that_stays_open_stops_the_numbers_and_nothing_else(race: Race) -> None:
    holder = race.session()
    happens(race, "a")
    holder.begin()
    holder.one(TICK)
    happens(race, "b")
    assert race.one("select count(*) from _qwf.event_log") == 2
    assert race.one(NUMBER) == 0
    holder.rollback()
    assert race.one(NUMBER) == 2


def test_doctor_names_who_stops_the_numbers(race: Race) -> None:
    holder = race.session()
    holder.begin()
    holder.one(TICK)
    found = race.rows("select says, hint from qwf.doctor('{tick}') where level = 'problem'")
    assert found == []  # it has just begun
    happens(race, "a")
    race.rows(
        "create or replace function qwf.now() returns timestamptz language sql volatile"
        " as $$ select clock_timestamp() + interval '2 min' $$"
    )
    found = race.rows("select says, hint from qwf.doctor('{tick}') where says like '%%tick()%%'")
    ((says, hint),) = found
    assert f"pid {holder.pid}) called tick() and left its transaction open" in says
    assert f"select pg_terminate_backend({holder.pid});" in hint
    holder.kill()
    race.one(TICK)
    assert race.rows("select says from qwf.doctor('{tick}') where level = 'problem'") == []


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_a_tick_with_an_old_snapshot_gives_no_number_twice(race: Race, isolation: str) -> None:
    old = race.session()
    happens(race, "a", 2)
    old.begin(isolation)
    old.rows("select 1 from qwf.settings")
    race.one(NUMBER)
    happens(race, "b")
    assert old.sqlstate(NUMBER) == "40001"
    old.rollback()
    old.begin(isolation)
    assert old.one(NUMBER) == 1
    old.commit()
    assert [seq for seq, _ in events(race)] == [1, 2, 3]


def test_a_tick_with_an_old_snapshot_hides_nothing_from_the_next(race: Race) -> None:
    """An event that it has not seen does not lie below the floor of the next one."""
    old, late = race.session(), race.session()
    late.begin()
    happens(late, "late")
    happens(race, "early")
    race.one(NUMBER)
    race.rows("update _qwf.event_numbers set looked_at = null")  # as after ten seconds
    old.begin("repeatable read")
    old.rows("select 1 from qwf.settings")
    late.commit()
    assert old.one(NUMBER) == 0
    old.commit()
    assert race.one(NUMBER) == 1


def test_numbers_are_durable_whatever_the_session_says(race: Race) -> None:
    happens(race, "a")
    race.begin()
    race.rows("set local synchronous_commit = off")
    race.one(NUMBER)
    assert race.one("show synchronous_commit") == "on"
    race.commit()


def test_the_last_number_is_sent_once_when_it_commits(race: Race, listener: Session) -> None:
    happens(race, "a", 3)
    assert heard(listener) == []
    race.begin()
    race.one(NUMBER)
    assert heard(listener) == []
    race.commit()
    assert heard(listener) == ["3"]
    race.one(TICK)
    assert heard(listener) == []


def test_the_end_of_a_run_is_an_event_when_it_commits(race: Race) -> None:
    race.run("single")
    race.rows("delete from _qwf.event_log")  # of the definitions
    worker = race.session()
    worker.begin()
    finish(worker, *claim(worker))
    race.one(NUMBER)
    assert events(race) == []
    worker.rollback()
    finish(race, *claim(race))
    race.one(NUMBER)
    assert race.rows("select kind, subject from qwf.events") == [("run_ended", "single")]


def test_pruning_leaves_the_row_of_numbers_to_whoever_has_it(race: Race) -> None:
    holder = race.session()
    happens(race, "a", 2)
    race.one(NUMBER)
    race.rows("update _qwf.event_log set at = '2020-01-01'")
    holder.begin()
    holder.rows(LOCKED)
    assert race.one("select qwf.prune() ->> 'events'") == "0"
    holder.rollback()
    assert race.one("select qwf.prune() ->> 'events'") == "2"
    happens(race, "b")
    race.one(NUMBER)
    assert events(race) == [(3, "b")]
    assert race.rows("select * from qwf.check_invariants()") == []


@pytest.mark.parametrize("test", EVENT_BUGS)
def test_a_planted_bug_is_found(dsn: str, test: str, request: pytest.FixtureRequest) -> None:
    put_in(dsn, *EVENT_BUGS[test])
    found = globals()[test]
    given = [request.getfixturevalue(name) for name in inspect.signature(found).parameters]
    with pytest.raises((AssertionError, psycopg.Error)):
        found(*given)


def test_a_restore_and_a_tick_do_not_give_one_number_to_two(race: Race) -> None:
    admin = race.session()
    happens(race, "a")
    race.begin()
    race.one(NUMBER)
    admin.start("select qwf.begin_generation()")
    admin.waits()
    race.commit()
    admin.ends()
    assert [seq for seq, _ in events(race)] == [1, 1000001]
