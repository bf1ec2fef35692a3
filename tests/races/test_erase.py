"""Erasing jobs beside whoever retries, finishes, numbers or deletes them."""

from __future__ import annotations

import psycopg
import pytest

from support.interleave import Race, claim, finish
from support.planted_bugs import put_in

ERASE = "select job_id from qwf.erase(%s::jsonb)"
RETRY = "select qwf.retry_job(%s)"
RETRY_RUN = "select qwf.retry_run(%s)"


def failed(race: Race) -> int:
    job = int(race.one("select qwf.enqueue('t', '{\"n\": 1}', queue => 'cpu')"))
    (held,) = claim(race)
    finish(race, held, outcome="fatal", error="no")
    return job


def failed_run(race: Race) -> int:
    run = race.run("single", {"n": 1})
    (held,) = claim(race)
    finish(race, held, outcome="fatal", error="no")
    return run


def ids(job: int) -> str:
    return f'{{"ids": [{job}]}}'


@pytest.mark.parametrize("commits", [True, False], ids=["commits", "rolls back"])
def test_a_retry_waits_and_finds_the_job_erased(race: Race, commits: bool) -> None:
    job = failed(race)
    admin, person = race.session(), race.session()
    admin.begin()
    assert admin.rows(ERASE, ids(job)) == [(job,)]
    person.start(RETRY, job)
    person.waits()
    if commits:
        admin.commit()
        with pytest.raises(psycopg.Error, match="erased") as refused:
            person.ends()
        assert refused.value.sqlstate == "QW002"
        assert race.status(job) == "failed"
    else:
        admin.rollback()
        person.ends()
        assert race.status(job) == "queued"
    race.healthy()


@pytest.mark.parametrize("commits", [True, False], ids=["commits", "rolls back"])
def test_a_job_that_is_retried_first_is_not_erased(race: Race, commits: bool) -> None:
    job = failed(race)
    person, admin = race.session(), race.session()
    person.begin()
    person.rows(RETRY, job)
    admin.start(ERASE, ids(job))
    admin.waits()
    if commits:
        person.commit()
        with pytest.raises(psycopg.Error, match="1 job has not ended"):
            admin.ends()
    else:
        person.rollback()
        assert admin.ends() == [(job,)]
    kept = race.one("select inputs ? 'n' from qwf.jobs where id = %s", job)
    assert kept is commits
    race.healthy()


@pytest.mark.parametrize("first", ["erase", "retry"])
def test_a_run_is_erased_or_retried(race: Race, first: str) -> None:
    run = failed_run(race)
    by_run = f'{{"run_id": {run}}}'
    one, other = race.session(), race.session()
    one.begin()
    one.rows(*((ERASE, by_run) if first == "erase" else (RETRY_RUN, run)))
    other.start(*((RETRY_RUN, run) if first == "erase" else (ERASE, by_run)))
    other.waits()
    one.commit()
    with pytest.raises(psycopg.Error) as refused:
        other.ends()
    assert refused.value.sqlstate == "QW002"
    erased = race.one("select context ? '$erased' from qwf.runs where id = %s", run)
    assert erased is (first == "erase")
    race.healthy()


def test_it_does_not_wait_for_a_worker_that_reports(race: Race) -> None:
    """A job of the person has failed, and another one is being finished."""
    job = failed(race)
    race.rows("select qwf.enqueue('t', queue => 'cpu')")
    (held,) = claim(race)
    worker, admin = race.session(), race.nonblocking()
    worker.begin()
    finish(worker, held)
    assert admin.sqlstate(ERASE, '{"task": "t"}') == "QW002"
    assert admin.rows(ERASE, ids(job)) == [(job,)]
    worker.commit()
    assert admin.rows(ERASE, '{"task": "t"}') == [(held.job,)]
    race.healthy()


def test_it_does_not_wait_for_a_sibling_that_ends_in_the_run(race: Race) -> None:
    run = race.run("wide", {"n": 1})
    finish(race, *claim(race))
    nodes = claim(race, 9)
    assert len(nodes) > 1
    finish(race, *nodes[1:])
    worker, admin = race.session(), race.nonblocking()
    worker.begin()
    finish(worker, nodes[0])
    by_run = f'{{"run_id": {run}}}'
    assert admin.sqlstate(ERASE, by_run) == "QW002"
    worker.commit()
    race.complete_all()
    assert len(admin.rows(ERASE, by_run)) >= len(nodes)
    race.healthy()


def test_two_that_erase_the_same_jobs_do_not_deadlock(race: Race) -> None:
    jobs = [failed(race) for _ in range(4)]
    one, other = race.session(), race.session()
    one.begin()
    assert one.rows(ERASE, f'{{"ids": {jobs}}}') == [(job,) for job in jobs]
    other.start(ERASE, f'{{"ids": {jobs[::-1]}}}')
    other.waits()
    one.commit()
    assert len(other.ends()) == 4  # it had found them before
    race.healthy()


def test_numbers_are_given_after_it(race: Race) -> None:
    job = failed(race)
    admin, ticker = race.session(), race.session()
    admin.begin()
    admin.rows(ERASE, ids(job))
    ticker.start("select qwf.tick()")
    ticker.waits_or_ends()
    admin.commit()
    ticker.ends()
    race.rows("select qwf.tick()")
    race.healthy()


def test_a_planted_bug_is_found(race: Race, dsn: str) -> None:
    """Without a look at the mark, the retry runs a job whose arguments are gone."""
    put_in(dsn, "qwf.retry_job", "perform _qwf.refuse_erased(array[v_job.id]);", "")
    job = failed(race)
    race.rows(ERASE, ids(job))
    race.rows(RETRY, job)
    (found,) = race.rows("select invariant from qwf.check_invariants()")
    assert found == ("an erased job has ended",)
