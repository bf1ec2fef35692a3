"""A failed job that is retried with new arguments, beside whoever else wants it."""

from __future__ import annotations

import psycopg
import pytest

from support.interleave import Race, Session, claim, finish

RETRY = "select qwf.retry_job(%s, %s::jsonb)"


def failed(race: Race) -> int:
    """A job with n = 1 that has failed."""
    job = int(race.one("select qwf.enqueue('t', '{\"n\": 1}', queue => 'cpu')"))
    (held,) = claim(race)
    finish(race, held, outcome="fatal", error="no")
    return job


def numbers(session: Session, job: int) -> int:
    return int(session.one("select (inputs ->> 'n')::int from qwf.jobs where id = %s", job))


def replaced(session: Session, job: int) -> list[int | None]:
    """The n that each retry has replaced, the first one first."""
    rows = session.rows(
        "select (detail #>> '{old_args,n}')::int from qwf.event_overview"
        " where job_id = %s and kind = 'retried' order by id",
        job,
    )
    return [n for (n,) in rows]


@pytest.mark.parametrize("commits", [True, False], ids=["commits", "rolls back"])
@pytest.mark.parametrize("second", ['{"n": 3}', None], ids=["other arguments", "none"])
def test_of_two_retries_one_is_refused(race: Race, commits: bool, second: str | None) -> None:
    job = failed(race)
    one, other = race.session(), race.session()
    one.begin()
    one.rows(RETRY, job, '{"n": 2}')
    other.start(RETRY, job, second)
    other.waits()
    if commits:
        one.commit()
        with pytest.raises(psycopg.Error) as refused:
            other.ends()
        assert refused.value.sqlstate == "QW002"
        assert (numbers(race, job), replaced(race, job)) == (2, [1])
    else:
        one.rollback()
        other.ends()
        assert (numbers(race, job), replaced(race, job)) == ((3, [1]) if second else (1, [None]))
    race.healthy()


def test_the_event_has_what_a_retry_before_it_gave(race: Race) -> None:
    """The second retry waits while the job is retried, fails and is open to it again."""
    job = failed(race)
    one, other = race.session(), race.session()
    one.begin()
    one.rows(RETRY, job, '{"n": 2}')
    (held,) = claim(one)
    finish(one, held, outcome="fatal", error="no")
    other.start(RETRY, job, '{"n": 3}')
    other.waits()
    one.commit()
    other.ends()
    assert (numbers(race, job), replaced(race, job)) == (3, [1, 2])
    race.healthy()


@pytest.mark.parametrize("commits", [True, False], ids=["commits", "rolls back"])
def test_a_claim_gets_the_new_arguments_or_no_job(race: Race, commits: bool) -> None:
    job = failed(race)
    person, worker = race.session(), race.nonblocking()
    person.begin()
    person.rows(RETRY, job, '{"n": 2}')
    assert claim(worker, 9) == []
    person.commit() if commits else person.rollback()
    given = worker.rows("select job_id, inputs from qwf.claim('cpu', 'w', 9)")
    assert given == ([(job, {"n": 2})] if commits else [])
    race.healthy()


@pytest.mark.parametrize("commits", [True, False], ids=["commits", "rolls back"])
def test_a_cancel_beside_the_retry_does_not_wait(race: Race, commits: bool) -> None:
    """To it the job is over until the retry has committed."""
    job = failed(race)
    person, other = race.session(), race.nonblocking()
    person.begin()
    person.rows(RETRY, job, '{"n": 2}')
    cancel = "select qwf.cancel_job(%s)"
    assert other.sqlstate(cancel, job) == "QW002"
    person.commit() if commits else person.rollback()
    if commits:
        assert other.one(cancel, job) == "cancelled"
    else:
        assert other.sqlstate(cancel, job) == "QW002"
    status, n = ("cancelled", 2) if commits else ("failed", 1)
    assert (race.status(job), numbers(race, job)) == (status, n)
    race.healthy()


def test_a_job_that_is_cancelled_is_retried_after_that(race: Race) -> None:
    """A job that was given new arguments is cancelled, and retried with others meanwhile."""
    job = failed(race)
    race.rows(RETRY, job, '{"n": 2}')
    person, other = race.session(), race.session()
    person.begin()
    person.rows("select qwf.cancel_job(%s)", job)
    assert other.sqlstate(RETRY, job, '{"n": 3}') == "QW002", "it still waits, to everybody else"
    person.commit()
    other.rows(RETRY, job, '{"n": 3}')
    assert (numbers(race, job), replaced(race, job)) == (3, [1, 2])
    race.healthy()


def test_a_job_that_still_runs_keeps_its_arguments(race: Race) -> None:
    """The report of its failure is under way; the retry does not wait for it."""
    job = int(race.one("select qwf.enqueue('t', '{\"n\": 1}', queue => 'cpu')"))
    (held,) = claim(race)
    worker = race.session()
    worker.begin()
    finish(worker, held, outcome="fatal", error="no")
    assert race.nonblocking().sqlstate(RETRY, job, '{"n": 2}') == "QW002"
    worker.commit()
    race.rows(RETRY, job, '{"n": 2}')
    assert (numbers(race, job), replaced(race, job)) == (2, [1])
    race.healthy()
