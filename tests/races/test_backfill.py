"""Schedules, backfills and people that want the same time, the same run or the same row at once."""

from __future__ import annotations

import threading
from collections import Counter

import pytest

from support.interleave import Race, claim, finish
from support.planted_bugs import FIRING_BUGS, put_in

FIRE = "select _qwf.fire_schedules()"
TAKEN = """select due_at::text, schedule, outcome, reason from qwf.firings
  where due_at = '2026-01-02Z' order by id"""
OPEN = "select count(*) from qwf.firing_details where outcome = 'fired' and result is null"


def nightly(race: Race, **more: str) -> None:
    """A schedule of midnights since the year began, next due tomorrow."""
    named = "".join(f", {name} => '{value}'" for name, value in more.items())
    race.rows(
        "select qwf.create_schedule('etl', 'etl', every => '1 day', anchor => '2026-01-01Z',"
        """ queue => 'cpu', args => '{"day": {"$from": "due.date"}}'""" + named + ")"
    )


def is_late(race: Race) -> None:
    """The schedule is due for the night of January 2, and for no later one."""
    race.rows(
        "update qwf.schedules set next_at = '2026-01-02Z', catch_up = 'all' where name = 'etl'"
    )


def backfill(race: Race, until: str = "2026-01-03", at_once: int = 10) -> str:
    return str(race.one("select qwf.backfill('etl', '2026-01-02', %s, %s)", until, at_once))


def test_ticks_at_once_fire_each_time_of_a_backfill_once(race: Race) -> None:
    """Never more than four are open, whoever ticks and whoever works."""
    nightly(race)
    backfill(race, "2026-04-02", at_once=4)
    most: list[int] = []
    done = threading.Event()

    def tick() -> None:
        session = race.session()
        while not done.is_set():
            session.rows(FIRE)

    def look() -> None:
        session = race.session()
        while not done.is_set():
            most.append(session.one(OPEN))
            session.rows("select qwf.check_invariants()")

    threads = [threading.Thread(target=one) for one in (tick, tick, tick, look)]
    for thread in threads:
        thread.start()
    worked: Counter[str] = Counter()
    while sum(worked.values()) < 90:
        for held in claim(race, 2):
            worked[race.one("select inputs ->> 'day' from qwf.jobs where id = %s", held.job)] += 1
            finish(race, held)
    done.set()
    for thread in threads:
        thread.join()
    assert (len(worked), max(worked.values()), max(most)) == (90, 1, 4)
    race.rows(FIRE)
    assert race.rows("select result, count(*) from qwf.firings group by 1") == [("completed", 90)]
    race.healthy()


def test_a_backfill_waits_for_its_schedule_which_fires_the_same_night(race: Race) -> None:
    nightly(race, overlap="allow")
    is_late(race)
    backfill(race)
    race.rows("update qwf.schedules set enabled = false, next_at = null, resume_at = next_at"
              " where backfill_of is not null")  # fmt: skip
    one, other = race.session(), race.nonblocking()
    one.begin()
    one.rows(FIRE)
    race.rows("select qwf.enable_schedule('etl.backfill.1')")
    assert other.one(FIRE) == 0
    one.commit()
    race.rows(FIRE)
    assert [row[1:] for row in race.rows(TAKEN)] == [
        ("etl", "fired", None), ("etl.backfill.1", "skipped", "open"),
    ]  # fmt: skip
    race.healthy()


def test_a_schedule_waits_for_its_backfill_which_fires_the_same_night(race: Race) -> None:
    nightly(race, overlap="allow")
    backfill(race)
    one, other = race.session(), race.nonblocking()
    one.begin()
    assert one.one(FIRE) == 1
    assert other.one(FIRE) == 0
    one.commit()
    is_late(race)
    race.rows(FIRE)
    assert [row[1:] for row in race.rows(TAKEN)] == [
        ("etl.backfill.1", "fired", None), ("etl", "skipped", "open"),
    ]  # fmt: skip
    race.healthy()


def test_a_person_and_a_backfill_do_not_work_on_one_night(race: Race) -> None:
    nightly(race, overlap="allow")
    backfill(race)
    person, ticker = race.session(), race.nonblocking()
    person.begin()
    person.rows("select qwf.fire_schedule('etl', '2026-01-02Z')")
    assert ticker.one(FIRE) == 0
    person.commit()
    assert ticker.one(FIRE) == 0
    assert [row[1:] for row in race.rows(TAKEN)] == [
        ("etl", "fired", None), ("etl.backfill.1", "skipped", "open"),
    ]  # fmt: skip
    race.healthy()


def test_two_backfills_begun_at_once_have_names_of_their_own(race: Race) -> None:
    nightly(race)
    one, other = race.session(), race.session()
    one.begin()
    one.rows("select qwf.backfill('etl', '2026-01-02', '2026-01-05', 2)")
    other.start("select qwf.backfill('etl', '2026-01-02', '2026-01-05', 2)")
    other.waits()
    one.commit()
    assert other.ends() == [("etl.backfill.2",)]
    assert race.one(FIRE) == 3, "each night once"
    assert race.one("select count(distinct due_at) from qwf.firings where outcome = 'fired'") == 3
    race.healthy()


def test_a_killed_tick_leaves_nothing_of_a_backfill(race: Race) -> None:
    nightly(race)
    backfill(race)
    dying = race.session()
    dying.begin()
    assert dying.one(FIRE) == 1
    dying.kill()
    assert race.rows("select * from qwf.firings") == []
    assert race.one(FIRE) == 1
    race.healthy()


def test_a_backfill_that_is_dropped_while_it_fires_leaves_its_work(race: Race) -> None:
    nightly(race)
    name = backfill(race)
    ticker, admin = race.session(), race.session()
    ticker.begin()
    assert ticker.one(FIRE) == 1
    admin.start("select qwf.drop_schedule(%s)", name)
    admin.waits()
    ticker.commit()
    admin.ends()
    race.complete_all()
    race.rows(FIRE)
    assert race.rows("select schedule, result from qwf.firings") == [(name, "completed")]
    race.healthy()


def test_a_tick_does_not_wait_for_who_drops_or_pauses_a_backfill(race: Race) -> None:
    nightly(race)
    backfill(race, "2026-01-05", at_once=1)
    admin, ticker = race.session(), race.nonblocking()
    admin.begin()
    admin.rows("select qwf.enable_schedule('etl.backfill.1', false)")
    assert ticker.one(FIRE) == 0
    admin.commit()
    assert ticker.one(FIRE) == 0
    assert race.one("select qwf.enable_schedule('etl.backfill.1') = '2026-01-02Z'")
    assert ticker.one(FIRE) == 1
    admin.begin()
    admin.rows("select qwf.drop_schedule('etl.backfill.1')")
    race.complete_all()
    assert ticker.one(FIRE) == 0
    admin.commit()
    assert ticker.one(FIRE) == 0
    assert race.one("select count(*) from qwf.jobs") == 1
    race.healthy()


def replaces(race: Race) -> int:
    """A schedule with overlap replace that is due while its first run is at work."""
    race.register("single")
    race.rows("select qwf.create_schedule('etl', workflow => 'single', every => '1 day',"
              " anchor => '2026-01-01Z', overlap => 'replace')")  # fmt: skip
    race.rows("select qwf.fire_schedule('etl')")
    race.rows("update qwf.schedules set next_at = '2026-01-02Z'")
    return int(race.one("select max(id) from qwf.runs"))


def test_a_run_that_ends_while_it_is_replaced_keeps_its_end(race: Race) -> None:
    """The tick does not wait for whoever has the run, and fires when it has ended."""
    run = replaces(race)
    (held,) = claim(race)
    worker, ticker = race.session(), race.nonblocking()
    worker.begin()
    finish(worker, held)
    assert ticker.one(FIRE) == 0
    worker.commit()
    assert ticker.one(FIRE) == 1
    assert race.run_status(run) == "completed"
    race.healthy()


def test_a_worker_that_reports_while_its_run_is_replaced_ends_it(race: Race) -> None:
    """The new run starts after the old one has ended, not beside it."""
    run = replaces(race)
    (held,) = claim(race)
    ticker, worker = race.session(), race.session()
    ticker.begin()
    assert ticker.one(FIRE) == 0, "the body has not stopped"
    worker.start("select * from qwf.finish(%s, %s, 'completed')", held.job, held.token)
    worker.waits_or_ends()
    ticker.commit()
    worker.ends()
    race.settle()
    assert race.run_status(run) == "cancelled"
    race.rows(FIRE)
    assert race.rows("select count(*) from qwf.runs") == [(2,)]
    race.healthy()


def failed(race: Race) -> int:
    nightly(race)
    race.rows("select qwf.fire_schedule('etl')")
    (held,) = claim(race)
    finish(race, held, outcome="fatal", error="no")
    return int(held.job)


def test_a_retry_opens_the_firing_that_a_tick_is_closing(race: Race) -> None:
    """However the two come, the end of the retry is the result."""
    job = failed(race)
    ticker, person = race.session(), race.session()
    ticker.begin()
    ticker.rows(FIRE)
    person.start("select qwf.retry_job(%s)", job)
    person.waits()
    ticker.commit()
    person.ends()
    assert race.rows("select result, reopened from qwf.firings") == [(None, True)]
    race.complete_all()
    race.rows(FIRE)
    assert race.rows("select result from qwf.firings") == [("completed",)]


def test_a_tick_that_meets_a_retry_leaves_the_firing_open(race: Race) -> None:
    job = failed(race)
    person, ticker = race.session(), race.nonblocking()
    person.begin()
    person.rows("select qwf.retry_job(%s)", job)
    ticker.rows(FIRE)
    person.commit()
    ticker.rows(FIRE)
    assert race.rows("select result, reopened from qwf.firings") == [(None, True)]
    race.complete_all()
    race.rows(FIRE)
    assert race.rows("select result from qwf.firings") == [("completed",)]
    race.healthy()


@pytest.mark.parametrize("test", FIRING_BUGS)
def test_a_bug_in_firings_is_found(race: Race, dsn: str, test: str) -> None:
    put_in(dsn, *FIRING_BUGS[test])
    with pytest.raises(AssertionError):
        globals()[test](race)


def test_each_invariant_of_firings_is_broken_by_a_bug(race: Race, dsn: str) -> None:
    """Too many open, two at work on one night, a job that is gone, a backfill behind its end."""
    nightly(race, overlap="allow")
    backfill(race, "2026-01-05", at_once=2)
    race.rows("select qwf.backfill('etl', '2026-01-02', '2026-01-05', 1)")
    put_in(dsn, "_qwf.firing_verdict", "_qwf.open_firings(p_schedule.name) < p_schedule.at_once",
           "true")  # fmt: skip
    put_in(dsn, "_qwf.firing_verdict", "if v_taken = 'open' or", "if false and")
    put_in(dsn, "_qwf.fire_due", "v_schedule.ends_at <= v_due", "false")
    put_in(dsn, "qwf.prune", "perform _qwf.close_firings();", "")
    race.rows(FIRE)
    race.rows(FIRE)  # one call fires a hundred at most, all of one backfill
    (held,) = claim(race, 1)
    finish(race, held)
    race.rows(
        "update qwf.jobs set created_at = '2020-01-01', finished_at = '2020-01-01' where id = %s",
        held.job,
    )
    race.rows("update qwf.schedules set next_at = ends_at where name = 'etl.backfill.2'")
    race.rows("select qwf.prune()")
    assert {name for (name,) in race.rows("select invariant from qwf.check_invariants()")} >= {
        "a backfill has at most at_once firings open", "a time is worked on once",
        "the job or run of an open firing exists", "a backfill ends before its end",
    }  # fmt: skip
