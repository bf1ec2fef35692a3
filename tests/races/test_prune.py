"""Deleting old rows that others still use: prune does not wait, and used rows stay."""

from __future__ import annotations

import psycopg
import pytest

from support.interleave import Race, Session, claim, finish

PRUNE = "select qwf.prune()"
RETRY = "select qwf.retry_run(%s)"


def failed_run(race: Race) -> int:
    run = race.run("single")
    finish(race, *claim(race), outcome="fatal")
    return run


def failed_job(race: Race, **args: str) -> int:
    named = "".join(f", {name} => {value}" for name, value in args.items())
    job = int(race.one(f"select qwf.enqueue('a', queue => 'cpu'{named})"))
    finish(race, *claim(race), outcome="fatal")
    return job


def age(race: Race) -> None:
    """Make everything two months old."""
    race.rows("update qwf.runs set finished_at = finished_at - interval '60 days'")
    race.rows(
        "update qwf.jobs set created_at = created_at - interval '60 days',"
        " finished_at = finished_at - interval '60 days'"
    )


def pruned(session: Session) -> tuple[int, int]:
    """Prune; returns how many runs and jobs it deleted."""
    ((done,),) = session.rows(PRUNE)
    return done["runs"], done["jobs"]


@pytest.mark.parametrize("commits", [True, False])
def test_a_run_that_is_being_retried_stays(race: Race, commits: bool) -> None:
    run = failed_run(race)
    age(race)
    operator = race.session()
    operator.begin()
    operator.rows(RETRY, run)
    assert pruned(race.nonblocking()) == (0, 0)
    operator.commit() if commits else operator.rollback()
    assert pruned(race) == ((0, 0) if commits else (1, 0))
    if commits:
        race.complete_all()
        assert race.run_status(run) == "completed"
    race.healthy()


@pytest.mark.parametrize("commits", [True, False])
def test_retrying_a_run_that_is_being_deleted(race: Race, commits: bool) -> None:
    run = failed_run(race)
    age(race)
    pruner, operator = race.session(), race.session()
    pruner.begin()
    assert pruned(pruner) == (1, 0)
    operator.start(RETRY, run)
    operator.waits()
    pruner.commit() if commits else pruner.rollback()
    if commits:
        with pytest.raises(psycopg.Error) as refused:
            operator.ends()
        assert refused.value.sqlstate == "QW001"
    else:
        operator.ends()
        race.complete_all()
        assert race.run_status(run) == "completed"
    race.healthy()


@pytest.mark.parametrize("first", ["prune", "retry"])
def test_deleting_and_retrying_a_standalone_job(race: Race, first: str) -> None:
    job = failed_job(race)
    age(race)
    one, other = race.session(), race.session()
    one.begin()
    if first == "retry":
        one.rows("select qwf.retry_job(%s)", job)
        assert pruned(race.nonblocking()) == (0, 0)
        one.commit()
        race.complete_all()
        assert race.status(job) == "completed"
    else:
        assert pruned(one) == (0, 1)
        other.start("select qwf.retry_job(%s)", job)
        other.waits()
        one.commit()
        with pytest.raises(psycopg.Error) as refused:
            other.ends()
        assert refused.value.sqlstate == "QW001"
    race.healthy()


@pytest.mark.parametrize("commits", [True, False])
def test_a_run_whose_last_body_is_being_reported_stays(race: Race, commits: bool) -> None:
    run = race.run("pair")
    held = claim(race, 2)
    finish(race, held[0], outcome="fatal")
    assert race.run_status(run) == "failed"
    age(race)
    worker = race.session()
    worker.begin()
    assert finish(worker, held[1]) == [("ok", False)]
    assert pruned(race.nonblocking()) == (0, 0)
    worker.commit() if commits else worker.rollback()
    age(race)
    assert pruned(race) == ((1, 0) if commits else (0, 0))
    race.healthy()


def test_a_report_does_not_wait_for_an_open_prune(race: Race) -> None:
    failed_run(race)
    failed_job(race)
    age(race)
    race.run("pair")
    held = claim(race, 2)
    pruner, worker = race.session(), race.nonblocking()
    pruner.begin()
    assert pruned(pruner) == (1, 1)
    assert finish(worker, *held) == [("ok", False), ("ok", False)]
    pruner.commit()
    race.healthy()


def test_two_prunes_at_once_delete_different_rows(race: Race) -> None:
    for _ in range(3):
        failed_run(race)
    age(race)
    one, other = race.session(), race.nonblocking()
    one.begin()
    assert one.one("select qwf.prune(2) -> 'runs'") == 2
    assert other.one("select qwf.prune(2) -> 'runs'") == 1
    one.commit()
    assert race.rows("select * from qwf.jobs") == []


@pytest.mark.parametrize("commits", [True, False])
def test_enqueueing_with_the_key_of_a_job_that_is_being_deleted(race: Race, commits: bool) -> None:
    job = failed_job(race, key="'k'", once="true")
    age(race)
    pruner, producer = race.session(), race.session()
    pruner.begin()
    assert pruned(pruner) == (0, 1)
    producer.start("select qwf.enqueue('a', queue => 'cpu', key => 'k', once => true)")
    producer.waits()
    pruner.commit() if commits else pruner.rollback()
    ((again,),) = producer.ends()
    assert (again != job) == commits
    race.healthy()
