"""Checkpoints that are saved while somebody else takes the job away, or saves, too."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.interleave import Claim, Race, Session, claim, finish
from support.planted_bugs import CHECKPOINT_BUGS, put_in

SAVE = "select qwf.progress(%s, %s, checkpoint => %s)"


def job(race: Race) -> Claim:
    """A job that runs at worker w, with three losses left."""
    race.rows("select qwf.enqueue('train', queue => 'cpu', max_losses => 4)")
    (claimed,) = claim(race)
    return claimed


def save(session: Session, claimed: Claim, **value: Any) -> str:
    return str(session.one(SAVE, claimed.job, claimed.token, json.dumps(value)))


def saved(race: Race, claimed: Claim) -> Any:
    rows = race.rows("select value, attempt from qwf.checkpoints where job_id = %s", claimed.job)
    return rows[0] if rows else None


def next_attempt(session: Session, claimed: Claim) -> tuple[Any, Claim]:
    """Claim the job again; what the worker is handed."""
    ((value, token),) = session.rows("select checkpoint, token::text from qwf.claim('cpu', 'x')")
    return value, Claim((claimed.job, token, claimed.name))


@pytest.mark.parametrize("commits", [True, False])
def test_a_job_is_not_taken_away_while_a_checkpoint_is_saved(race: Race, commits: bool) -> None:
    """Whoever gets the job next gets what was committed."""
    lapsed, worker = job(race), race.session()
    race.expire_leases(lapsed.job)
    worker.begin()
    assert save(worker, lapsed, epoch=7) == "ok"
    race.reclaim_skips_locked(lapsed.job)
    worker.commit() if commits else worker.rollback()
    race.settle()
    value, _ = next_attempt(race, lapsed)
    assert value == ({"epoch": 7} if commits else None)
    race.healthy()


def test_a_save_waits_for_whoever_takes_the_job_away(race: Race) -> None:
    """It is told that the job is lost, and writes nothing."""
    lapsed, worker, clock = job(race), race.session(), race.session()
    race.expire_leases(lapsed.job)
    clock.begin()
    assert clock.one("select count(*) from _qwf.reclaim()") == 1
    worker.start(SAVE, lapsed.job, lapsed.token, '{"epoch": 7}')
    worker.waits()
    clock.commit()
    assert worker.ends() == [("lost",)]
    assert saved(race, lapsed) is None
    race.healthy()


def test_a_box_that_comes_back_overwrites_nothing(race: Race) -> None:
    """Its token is old: the checkpoint of the box that went on stays."""
    old = job(race)
    assert save(race, old, epoch=7) == "ok"
    race.expire_leases(old.job)
    race.settle()
    value, new = next_attempt(race, old)
    assert value == {"epoch": 7}
    assert save(race, new, epoch=8) == "ok"
    assert save(race, old, epoch=1) == "lost"
    assert saved(race, old) == ({"epoch": 8}, 2)
    race.healthy()


def test_of_two_saves_the_later_one_stays(race: Race) -> None:
    """They come one after the other, also from two sessions."""
    running, one, other = job(race), race.session(), race.session()
    one.begin()
    assert save(one, running, n=1) == "ok"
    other.start(SAVE, running.job, running.token, '{"n": 2}')
    other.waits()
    one.commit()
    assert other.ends() == [("ok",)]
    assert saved(race, running) == ({"n": 2}, 1)


@pytest.mark.parametrize("outcome", ["completed", "error"])
def test_a_save_waits_for_the_report(race: Race, outcome: str) -> None:
    """A checkpoint that comes after the report of its attempt is lost."""
    running, one, other = job(race), race.session(), race.session()
    one.begin()
    finish(one, running, outcome=outcome)
    other.start(SAVE, running.job, running.token, '{"n": 2}')
    other.waits()
    one.commit()
    assert other.ends() == [("lost",)]
    assert saved(race, running) is None
    race.healthy()


def test_a_job_that_leaves_no_row_leaves_no_checkpoint(race: Race) -> None:
    """The report waits for the save, and deletes what it has written."""
    race.rows("select qwf.create_queue('cpu', keep_completed => false)")
    running, one, other = job(race), race.session(), race.session()
    one.begin()
    assert save(one, running, n=1) == "ok"
    report = [{"job_id": running.job, "token": running.token, "outcome": "completed"}]
    other.start("select verdict from qwf.finish_many(%s)", json.dumps(report))
    other.waits()
    one.commit()
    assert other.ends() == [("ok",)]
    assert race.rows("select * from qwf.checkpoints") == []
    race.healthy()


@pytest.mark.parametrize("name", CHECKPOINT_BUGS)
def test_a_planted_bug_is_found(race: Race, name: str) -> None:
    put_in(race.conn.info.dsn, *CHECKPOINT_BUGS[name])
    with pytest.raises((AssertionError, ValueError)):
        globals()[name](race)
