"""Waiting jobs change their limit while others claim, finish and lower it."""

from __future__ import annotations

import psycopg
import pytest

from support.interleave import GATE, Race, claim, finish
from support.planted_bugs import put_in

ENQUEUE = "select qwf.enqueue('t', queue => 'cpu', limit_by => %s)"
CHANGE = "select verdict, code from qwf.change_jobs(%s, limit_by => %s) order by job_id"
CHANGED, REFUSED = ("changed", None), ("refused", "QW002")
# Where a claim looks at a waiting job: of a key, of a plain limit, and without a limit.
LOOKS = [
    ("customer:acme", "_qwf.pick_keyed", "and j.limit_by = k.name"),
    ("api", "_qwf.pick_limited", "and coalesce(j.limit_by, j.required_model) = v_limit.name"),
    (None, "qwf.claim", "and _qwf.fits(j, v_worker, v_now)"),
]
FULL = ("customer:bob", "full")


def limits(race: Race) -> None:
    """A limit by key, one with room, and one that is full as the key bob is."""
    race.rows("select qwf.create_limit('customer', 1, keyed => true)")
    race.rows("select qwf.create_limit('api', 1), qwf.create_limit('full', 1)")
    for name in FULL:
        race.one(ENQUEUE, name)
    assert len(claim(race, 9)) == len(FULL)


@pytest.mark.parametrize("to", FULL)
@pytest.mark.parametrize(("limit", "function", "text"), LOOKS)
def test_a_job_that_moves_while_a_claim_looks_at_it_counts_for_its_new_limit(
    race: Race, limit: str | None, function: str, text: str, to: str
) -> None:
    limits(race)
    job = race.one(ENQUEUE, limit)
    waits = f"and (select true from pg_advisory_xact_lock_shared({GATE})) {text}"
    put_in(race.conn.info.dsn, function, text, waits)
    keeper, worker = race.session(), race.session()
    keeper.rows("select pg_advisory_lock(%s)", GATE)
    worker.start("select job_id from qwf.claim('cpu', 'w', 9)")
    worker.waits()
    assert race.rows(CHANGE, [job], to) == [CHANGED]
    keeper.rows("select pg_advisory_unlock(%s)", GATE)
    assert worker.ends() == []
    assert race.rows("select job_id from qwf.claim('cpu', 'w', 9)") == []
    race.healthy()


def test_an_open_change_holds_the_job_back_and_nothing_else(race: Race) -> None:
    limits(race)
    moved, other = race.one(ENQUEUE, "customer:acme"), race.one(ENQUEUE, "customer:acme")
    person, worker = race.session(), race.nonblocking()
    person.begin()
    assert person.rows(CHANGE, [moved], "customer:cleo") == [CHANGED]
    (held,) = claim(worker, 9)
    assert held.job == other
    person.commit()
    assert [c.job for c in claim(worker, 9)] == [moved]  # cleo has room, although acme is full
    race.healthy()


@pytest.mark.parametrize("end", ["rollback", "kill"])
def test_a_change_that_fails_leaves_the_job_in_its_line(race: Race, end: str) -> None:
    limits(race)
    job = race.one(ENQUEUE, "customer:acme")
    person = race.session()
    person.begin()
    assert person.rows(CHANGE, [job], "customer:bob") == [CHANGED]
    getattr(person, end)()
    assert [c.job for c in claim(race, 9)] == [job]
    race.healthy()


def test_a_job_that_a_claim_has_picked_is_refused_and_keeps_its_limit(race: Race) -> None:
    limits(race)
    jobs = [race.one(ENQUEUE, "customer:acme") for _ in range(2)]
    worker, person = race.session(), race.nonblocking()
    worker.begin()
    (held,) = claim(worker, 9)
    assert person.rows(CHANGE, jobs, "customer:cleo") == [REFUSED, CHANGED]
    worker.commit()
    assert [c.job for c in claim(race, 9)] == jobs[1:]
    finish(race, held)
    finish(race, *claim(race, 9))
    race.healthy()


def test_a_place_of_the_new_key_is_counted_once_for_two_who_claim(race: Race) -> None:
    """Two jobs come to an empty key while two workers look."""
    limits(race)
    jobs = [race.one(ENQUEUE, "customer:acme") for _ in range(2)]
    one, other = race.session(), race.nonblocking()
    assert race.rows(CHANGE, jobs, "customer:cleo") == [CHANGED, CHANGED]
    one.begin()
    assert [c.job for c in claim(one, 9)] == jobs[:1]
    assert claim(other, 9) == []
    one.commit()
    assert claim(other, 9) == []
    race.healthy()


def test_a_limit_to_which_jobs_come_meanwhile_is_not_dropped(race: Race) -> None:
    """Nor do jobs come to one that is being dropped."""
    limits(race)
    job = race.one(ENQUEUE, None)
    person, admin = race.session(), race.session()
    person.begin()
    assert person.rows(CHANGE, [job], "api") == [CHANGED]
    admin.start("select qwf.drop_limit('api')")
    admin.waits()
    person.commit()
    with pytest.raises(psycopg.Error, match="limit is in use"):
        admin.ends()
    race.rows("select qwf.change_job(%s, limit_by => '')", job)
    admin.begin()
    admin.rows("select qwf.drop_limit('api')")
    person.start(CHANGE, [job], "api")
    person.waits()
    admin.commit()
    with pytest.raises(psycopg.Error, match="no such limit"):
        person.ends()
    race.healthy()
