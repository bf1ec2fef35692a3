"""Rates of limits while several sessions claim, crash and change them."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.interleave import Race, Session, asleep, claim, finish, heard, reports
from support.planted_bugs import RATE_BUGS, put_in

USED = "select count(*) from qwf.limit_starts where used_at > '-infinity'"


def enqueue(race: Race, count: int, queue: str = "cpu") -> None:
    """Enqueue `count` jobs of the limit api."""
    query = "select qwf.enqueue('t', queue => %s, limit_by => 'api') from generate_series(1, %s)"
    race.rows(query, queue, count)


def test_a_rate_holds_against_uncommitted_claims_of_several_queues(race: Race) -> None:
    race.rows("select qwf.create_limit('api', starts => 3, per => '1 hour')")
    enqueue(race, 4)
    enqueue(race, 4, "gpu")
    first, second, third = race.nonblocking(), race.nonblocking(), race.nonblocking()
    for session in (first, second, third):
        session.begin()
    assert len(claim(first)) == 1
    assert len(claim(second, 9, "gpu")) == 2
    assert claim(third, 9) == []
    first.rollback()
    assert len(claim(third, 9)) == 1  # what the first one has not used
    second.commit()
    third.commit()
    assert claim(race, 9) == []
    assert race.one(USED) == 3
    race.healthy()


@pytest.mark.parametrize("end", ["rollback", "kill"])
def test_a_failed_claim_uses_no_start(race: Race, end: str) -> None:
    race.rows("select qwf.create_limit('api', starts => 1, per => '1 hour')")
    enqueue(race, 2)
    worker = race.session()
    worker.begin()
    assert claim(worker)
    getattr(worker, end)()
    assert race.one(USED) == 0
    assert len(claim(race, 9)) == 1
    race.healthy()


def test_a_claim_that_waits_for_slots_leaves_the_starts_to_others(race: Race) -> None:
    """The other queue is full, so its claim takes no start."""
    race.rows("select qwf.create_limit('api', starts => 2, per => '1 hour')")
    race.rows("select qwf.create_queue('gpu', max_running => 1)")
    race.rows("select qwf.enqueue('t', queue => 'gpu')")
    assert len(claim(race, 1, "gpu")) == 1
    enqueue(race, 2, "gpu")
    enqueue(race, 2)
    rival = race.session()
    rival.begin()
    assert claim(rival, 9, "gpu") == []
    assert len(claim(race.nonblocking(), 9)) == 2


def test_a_rate_is_lowered_without_waiting_for_a_claim(race: Race) -> None:
    race.rows("select qwf.create_limit('api', starts => 3, per => '1 hour')")
    enqueue(race, 9)
    worker, admin = race.session(), race.nonblocking()
    worker.begin()
    assert len(claim(worker, 2)) == 2
    admin.rows("select qwf.create_limit('api', starts => 1)")
    assert claim(race, 9) == []
    worker.commit()
    assert claim(race, 9) == []
    admin.rows("select qwf.create_limit('api', starts => 1)")  # removes what is left over
    assert race.one("select count(*) from qwf.limit_starts") == 1
    race.healthy()


def test_two_administrators_who_create_a_limit_lose_nothing_that_was_given(race: Race) -> None:
    first, second = race.session(), race.session()
    first.begin()
    first.rows("select qwf.create_limit('api', 5)")
    second.start("select qwf.create_limit('api', starts => 2)")
    second.waits()
    first.commit()
    second.ends()
    assert race.rows("select max_running, starts, per::text from qwf.limits") == [
        (5, 2, "00:00:01")
    ]
    race.healthy()


def test_no_period_has_more_starts_than_the_rate_under_random_claims(race: Race) -> None:
    """Claims of all sizes, in two queues, some of them rolled back."""
    starts, seconds = 4, 0.1
    race.rows("select qwf.create_limit('api', starts => %s, per => %s)", starts, f"{seconds} s")
    enqueue(race, 30)
    enqueue(race, 30, "gpu")
    left = "select count(*) from qwf.jobs where finished_at is null"

    def work(session: Session, seed: int) -> None:
        dice = random.Random(seed)
        while session.one(left):
            session.begin()
            held = claim(session, dice.choice([1, 1, 2, 5]), dice.choice(["cpu", "gpu"]))
            if dice.random() < 0.2:
                session.rollback()
                continue
            session.commit()
            finish(session, *held)

    workers = [race.session() for _ in range(3)]
    with ThreadPoolExecutor(len(workers)) as pool:
        list(pool.map(work, workers, range(3)))
    times = [row[0] for row in race.rows("select claimed_at from qwf.jobs order by claimed_at")]
    assert len(times) == 60
    gaps = [(b - a).total_seconds() for a, b in zip(times, times[starts:], strict=False)]
    assert min(gaps) >= seconds
    race.healthy()


def test_two_claims_share_the_last_start_of_a_rate(race: Race) -> None:
    """The first could begin one job only, so that what it leaves is for the other, too."""
    race.rows("select qwf.create_limit('api', starts => 3, per => '1 hour')")
    enqueue(race, 9)
    assert len(claim(race, 9, startable=2)) == 2
    first, second = race.nonblocking(), race.nonblocking()
    first.begin()
    second.begin()
    assert len(claim(first, 9, startable=4)) == 1
    assert claim(second, 9, startable=4) == []
    first.rollback()
    assert len(claim(second, 9, startable=4)) == 1
    second.commit()
    assert claim(race, 9) == []
    race.healthy()


def test_an_open_claim_leaves_the_starts_that_it_could_not_begin_to_others(race: Race) -> None:
    race.rows("select qwf.create_limit('api', starts => 4, per => '1 hour')")
    enqueue(race, 9)
    first, second, third = race.nonblocking(), race.nonblocking(), race.nonblocking()
    for session in (first, second, third):
        session.begin()
    assert len(claim(first, 9, startable=1)) == 1
    assert claim(second, 9, startable=0) == []
    assert len(claim(third, 9, startable=9)) == 3
    for session in (first, second, third):
        session.commit()
    assert race.one(USED) == 4
    race.healthy()


def test_claims_with_reports_take_no_more_of_a_rate_than_could_begin(race: Race) -> None:
    race.rows("select qwf.create_limit('api', starts => 4, per => '1 hour')")
    enqueue(race, 9)
    held = claim(race, 9, startable=1)
    first, second = race.nonblocking(), race.nonblocking()
    query = """select count(*) filter (where rated)::int, count(*)::int
        from qwf.finish_and_claim(%s, 'cpu', 'w', 9, startable => %s) where verdict is null"""
    first.begin()
    assert first.rows(query, reports(*held), 2) == [(2, 2)]
    assert second.rows(query, "[]", 2) == [(1, 1)]
    first.rollback()  # its report, too: the job still runs, and its start stays used
    assert second.rows(query, reports(*held), 0) == [(0, 0)]
    assert second.rows(query, "[]", 3) == [(2, 2)]
    assert race.one(USED) == 4
    race.healthy()


def test_a_claim_that_leaves_jobs_of_a_rate_wakes_the_next_sleeper(race: Race) -> None:
    """The worker could begin one job only; the others are for one that sleeps."""
    race.rows("select qwf.create_limit('api', starts => 9, per => '1 hour')")
    enqueue(race, 3)
    sleeper = asleep(race, "sleeper")
    assert claim(race, 9, startable=0) == []
    assert heard(sleeper) == []  # else two busy workers would wake each other for ever
    assert len(claim(race, 9, startable=1)) == 1
    assert heard(sleeper) == ["cpu"]


@pytest.mark.parametrize("test", RATE_BUGS)
def test_it_is_found_when_a_claim_ignores_what_could_begin(race: Race, dsn: str, test: str) -> None:
    put_in(dsn, *RATE_BUGS[test])
    with pytest.raises(AssertionError):
        globals()[test](race)
