"""Numbers are reported while somebody else ends the job whose body tracks them, or holds it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.interleave import Claim, Race, Session, claim, finish
from support.planted_bugs import SERIES_BUGS, put_in

TRACK = "select qwf.progress(%s, %s, series => %s)"
HOLD = "select id from qwf.jobs where id = %s for no key update"


def job(race: Race) -> Claim:
    """A running job of a queue whose completed jobs leave no row."""
    race.rows("select qwf.create_queue('cpu', keep_completed => false)")
    race.rows("select qwf.enqueue('train', queue => 'cpu')")
    (claimed,) = claim(race)
    return claimed


def loss(value: float) -> str:
    return json.dumps({"names": {"loss": {"points": [[1, value]]}}})


def track(session: Session | Race, claimed: Claim, value: float) -> Any:
    return session.rows(TRACK, claimed.job, claimed.token, loss(value))


def report(claimed: Claim) -> str:
    return json.dumps([{"job_id": claimed.job, "token": claimed.token, "outcome": "completed"}])


def test_the_end_of_the_job_finds_the_first_report(race: Race) -> None:
    """A job that leaves no row leaves no numbers, also if somebody held it at the first report."""
    running, holder, worker = job(race), race.session(), race.session()
    holder.begin()
    holder.rows(HOLD, running.job)
    assert worker.rows(TRACK, running.job, running.token, loss(0.5)) == [("ok",)]
    holder.commit()
    race.rows("select verdict from qwf.finish_many(%s)", report(running))
    assert race.rows("select * from qwf.attempt_series") == []
    race.healthy()


def test_the_report_of_the_end_waits_for_numbers_and_deletes_them(race: Race) -> None:
    """They are written in a transaction that is still open."""
    running, worker, other = job(race), race.session(), race.session()
    worker.begin()
    track(worker, running, 0.5)
    other.start("select verdict from qwf.finish_many(%s)", report(running))
    other.waits()
    worker.commit()
    assert other.ends() == [("ok",)]
    assert race.rows("select * from qwf.attempt_series") == []
    race.healthy()


def test_later_reports_wait_for_nobody_who_changes_the_job(race: Race) -> None:
    """The connection that renews leases does not stand still, and the numbers are kept."""
    running, holder = job(race), race.session()
    track(race, running, 0.5)
    holder.begin()
    finish(holder, running, outcome="error")
    assert track(race, running, 0.25) == [("ok",)]
    holder.commit()
    assert race.rows("select points from qwf.series_overview") == [([[1, 0.25]],)]
    race.healthy()


@pytest.mark.parametrize("name", SERIES_BUGS)
def test_a_planted_bug_is_found(race: Race, name: str) -> None:
    put_in(race.conn.info.dsn, *SERIES_BUGS[name])
    with pytest.raises((AssertionError, ValueError)):
        globals()[name](race)
