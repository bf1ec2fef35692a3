"""Bodies that run at most once, which begin while somebody else takes the job away or stops it."""

from __future__ import annotations

from typing import Any

import pytest

from support.interleave import Claim, Race, Session, claim
from support.planted_bugs import AT_MOST_ONCE_BUGS, put_in

BEGIN = "select qwf.progress(%s, %s, begun => true)"


def job(race: Race) -> Claim:
    """A job that runs at most once, at a worker that can write when it begins."""
    race.rows("select qwf.enqueue('mail', queue => 'cpu', at_most_once => true)")
    worker = race.one("select qwf.register_worker('box', 'cpu', '{\"writes_begun\": true}')")
    (claimed,) = claim(race, worker=worker)
    return claimed


def begin(session: Session, claimed: Claim) -> str:
    return str(session.one(BEGIN, claimed.job, claimed.token))


def state(race: Race, claimed: Claim) -> tuple[Any, ...]:
    query = "select status::text, begun, losses from qwf.jobs where id = %s"
    return race.rows(query, claimed.job)[0]


def test_what_has_begun_is_not_tried_again(race: Race) -> None:
    """A lapse that comes after it fails the job, also if the worker waits for the answer."""
    begun, worker = job(race), race.session()
    worker.begin()
    assert begin(worker, begun) == "ok"
    race.reclaim_skips_locked(begun.job)
    worker.commit()
    race.expire_leases(begun.job)
    race.settle()
    assert state(race, begun) == ("failed", True, 1)
    assert begin(worker, begun) == "lost"
    race.healthy()


def test_a_body_does_not_begin_while_its_job_is_taken_away(race: Race) -> None:
    """It waits for whoever takes it, and is told that it is lost: an ordinary loss."""
    lapsed, worker, clock = job(race), race.session(), race.session()
    race.expire_leases(lapsed.job)
    clock.begin()
    assert clock.one("select count(*) from _qwf.reclaim()") == 1
    worker.start(BEGIN, lapsed.job, lapsed.token)
    worker.waits()
    clock.commit()
    assert worker.ends() == [("lost",)]
    assert state(race, lapsed) == ("queued", False, 1)
    race.healthy()


def test_a_stale_worker_begins_nothing(race: Race) -> None:
    """Its job runs at another worker by now."""
    old = job(race)
    race.expire_leases(old.job)
    race.settle()
    worker = race.one("select qwf.register_worker('c', 'cpu', '{\"writes_begun\": true}')")
    (new,) = claim(race, worker=worker)
    assert begin(race, old) == "lost"
    assert state(race, new) == ("running", False, 1)
    assert begin(race, new) == "ok"


@pytest.mark.parametrize("commits", [True, False])
def test_a_body_begins_beside_a_cancel(race: Race, commits: bool) -> None:
    """A request that is not committed stops nothing; one that comes later says what may be."""
    running, worker, person = job(race), race.session(), race.session()
    person.begin()
    assert person.one("select qwf.cancel_job(%s)", running.job) == "requested"
    assert begin(worker, running) == "ok"
    person.commit() if commits else person.rollback()
    report = "select qwf.finish(%s, %s, 'cancelled')"
    assert worker.one(report, running.job, running.token) == "ok"
    error = race.one("select last_error from qwf.jobs where id = %s", running.job)
    assert error.endswith("it may have run")
    assert state(race, running) == ("cancelled", True, 0)
    race.healthy()


def test_a_body_that_should_stop_does_not_begin(race: Race) -> None:
    """The cancel came first: nothing has happened."""
    running = job(race)
    assert race.one("select qwf.cancel_job(%s)", running.job) == "requested"
    assert begin(race, running) == "cancel"
    assert state(race, running) == ("running", False, 0)


@pytest.mark.parametrize("name", AT_MOST_ONCE_BUGS)
def test_a_planted_bug_is_found(race: Race, name: str) -> None:
    put_in(race.conn.info.dsn, *AT_MOST_ONCE_BUGS[name])
    with pytest.raises((AssertionError, ValueError)):
        globals()[name](race)
