"""Deadlines and expiries against sessions that act on the same rows at that moment."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest

from support.interleave import Race, Session, claim, finish, until

ENDS = pytest.mark.parametrize("commits", [True, False])
EXPIRES = "select expires_at from qwf.jobs where id = %s"
ANSWER = "select qwf.submit_input(%s, 'ask', '\"yes\"')"


def overdue(race: Race, **keys: Any) -> int:
    """Start a run whose question was not answered in time; returns its id."""
    ask = {"id": "ask", "kind": "input", "widget": "text", "target": "said", "expires": "1 h"}
    race.rows("select qwf.register_pipeline(%s)", json.dumps({"name": "p", "nodes": [{"id": "a"}]}))
    step = {"id": "s", "kind": "pipeline", "pipeline": "p", "depends_on": ["ask"]}
    definition = {"name": "timed", "steps": [{**ask, **keys}, step]}
    race.rows("select qwf.register_workflow(%s)", json.dumps(definition))
    run = int(race.one("select qwf.enqueue_run('timed')"))
    race.make_late(race.one("select job_id from qwf.pending_inputs where run_id = %s", run))
    return run


def refusal(session: Session) -> str | None:
    """SQLSTATE of the error the started statement ends with."""
    with pytest.raises(psycopg.Error) as refused:
        session.ends()
    return refused.value.sqlstate


# questions


@ENDS
def test_a_question_that_is_being_answered_does_not_expire(race: Race, commits: bool) -> None:
    """Expiry does not wait, and does not override the answer."""
    run = overdue(race, default="no")
    person = race.session()
    person.begin()
    person.rows(ANSWER, run)
    assert race.nonblocking().one("select _qwf.expire_inputs()") == 0
    person.commit() if commits else person.rollback()
    assert race.one("select _qwf.expire_inputs()") == (0 if commits else 1)
    race.healthy()
    answers = race.rows("select value, by_default from qwf.input_answers")
    assert answers == [("yes", False) if commits else ("no", True)]
    race.complete_all()
    assert race.run_status(run) == "completed"


@pytest.mark.parametrize("keys", [{"default": None}, {}])
def test_an_answer_while_the_question_expires_is_refused(race: Race, keys: dict[str, Any]) -> None:
    run = overdue(race, **keys)
    clock, person = race.session(), race.session()
    clock.begin()
    assert clock.one("select _qwf.expire_inputs()") == 1
    person.start(ANSWER, run)
    person.waits()
    clock.commit()
    assert refusal(person) == "QW002"
    race.complete_all()
    assert race.run_status(run) == ("completed" if keys else "failed")


def test_a_question_expires_once(race: Race) -> None:
    run = overdue(race, default="no")
    one, other = race.session(), race.nonblocking()
    one.begin()
    assert one.one("select _qwf.expire_inputs()") == 1
    assert other.one("select _qwf.expire_inputs()") == 0
    one.kill()
    race.healthy()
    assert other.one("select _qwf.expire_inputs()") == 1
    assert race.one("select count(*) from qwf.input_answers") == 1
    race.complete_all()
    assert race.run_status(run) == "completed"


@pytest.mark.parametrize("first", ["cancel", "expire"])
def test_a_question_expires_while_its_run_is_cancelled(race: Race, first: str) -> None:
    run = overdue(race)
    one, other = race.session(), race.session()
    one.begin()
    if first == "cancel":
        one.rows("select qwf.cancel_run(%s)", run)
        assert other.one("select _qwf.expire_inputs()") == 0
        one.commit()
    else:
        assert one.one("select _qwf.expire_inputs()") == 1
        other.start("select qwf.cancel_run(%s)", run)
        other.waits()
        one.commit()
        assert refusal(other) == "QW002"
    assert race.one("select _qwf.expire_inputs()") == 0
    race.settle()
    assert race.run_status(run) == ("cancelled" if first == "cancel" else "failed")


# jobs that were not started in time


def test_a_job_that_is_being_claimed_does_not_expire(race: Race) -> None:
    """It is due to expire while the claim is open. A claimed job never expires."""
    job = race.one("select qwf.enqueue('t', queue => 'cpu', expires => '0.5 s')")
    worker, clock = race.session(), race.nonblocking()
    worker.begin()
    (held,) = claim(worker)
    until(lambda: race.one("select at < qwf.now() from qwf.waits"))
    assert clock.one("select _qwf.expire_jobs()") == 0
    worker.commit()
    assert clock.one("select _qwf.expire_jobs()") == 0
    assert race.one("select count(*) from qwf.waits") == 0
    assert finish(race, held, outcome="released") == [("ok", False)]
    assert clock.one("select _qwf.expire_jobs()") == 0
    assert race.status(job) == "queued"
    race.healthy()


@ENDS
def test_a_job_that_expires_is_not_claimed_meanwhile(race: Race, commits: bool) -> None:
    job = race.one("select qwf.enqueue('t', queue => 'cpu', expires => '1 h', key => 'k')")
    race.make_late(job)
    clock, worker = race.session(), race.nonblocking()
    clock.begin()
    assert clock.one("select _qwf.expire_jobs()") == 1
    assert claim(worker) == []
    assert worker.one("select _qwf.expire_jobs()") == 0
    clock.commit() if commits else clock.kill()
    race.one("select _qwf.expire_jobs()")
    assert race.status(job) == "cancelled"
    assert race.one("select qwf.enqueue('t', queue => 'cpu', key => 'k')") > job
    race.healthy()


@pytest.mark.parametrize("first", ["cancel", "expire"])
@ENDS
def test_a_job_expires_while_it_is_cancelled(race: Race, first: str, commits: bool) -> None:
    """The second of the two does not wait; the deadline goes with the job."""
    job = race.one("select qwf.enqueue('t', queue => 'cpu', expires => '1 h')")
    race.make_late(job)
    cancel, expire = f"select qwf.cancel_job({job})", "select _qwf.expire_jobs()"
    one, other = race.session(), race.nonblocking()
    one.begin()
    assert one.one(cancel if first == "cancel" else expire) in ("cancelled", 1)
    race.healthy()
    assert other.one(expire if first == "cancel" else cancel) in (0, "requested")
    one.commit() if commits else one.kill()
    race.settle()
    assert race.status(job) == "cancelled"
    assert race.one("select count(*) from qwf.waits") == 0


@ENDS
def test_a_job_does_not_expire_while_a_producer_gives_it_more_time(
    race: Race, commits: bool
) -> None:
    job = race.one("select qwf.enqueue('t', queue => 'cpu', expires => '1 h', key => 'k')")
    race.make_late(job)
    producer, clock = race.session(), race.nonblocking()
    producer.begin()
    producer.rows("select qwf.enqueue('t', queue => 'cpu', expires => '2 h', key => 'k')")
    assert clock.one("select _qwf.expire_jobs()") == 0
    producer.commit() if commits else producer.rollback()
    race.healthy()
    assert clock.one("select _qwf.expire_jobs()") == (0 if commits else 1)
    race.settle()
    assert race.status(job) == ("queued" if commits else "cancelled")


def test_a_deadline_that_a_producer_moved_is_found_by_a_tick_that_began_before(race: Race) -> None:
    """The tick has its snapshot, and locks the job after the producer; the new time is over too."""
    enqueue = "select qwf.enqueue('t', queue => 'cpu', expires => %s, key => %s)"
    first, job = race.one(enqueue, "1 h", "a"), race.one(enqueue, "1 h", "k")
    race.make_late(first)
    race.make_late(job)
    open_gate = race.gate("qwf.jobs", f"old.id = {first} and new.status = 'cancelled'")
    producer, clock = race.session(), race.session()
    producer.begin()
    producer.rows(enqueue, "1 ms", "k")
    until(lambda: race.one("select clock_timestamp() > %s", producer.one(EXPIRES, job)))
    clock.start("select _qwf.expire_jobs()")
    clock.waits()
    producer.commit()
    open_gate()
    assert clock.ends() == [(2,)]
    race.healthy()
    assert race.one("select count(*) from qwf.waits") == 0


@pytest.mark.parametrize("second", ["select _qwf.expire_jobs()", "select qwf.prune()"])
def test_an_expired_job_that_is_being_retried_stays(race: Race, second: str) -> None:
    """Neither its old deadline nor its age ends it."""
    job = race.one("select qwf.enqueue('t', queue => 'cpu', expires => '1 h')")
    race.make_late(job)
    assert race.one("select _qwf.expire_jobs()") == 1
    race.rows("update qwf.jobs set created_at = created_at - interval '1 year'")
    race.rows("update qwf.jobs set finished_at = finished_at - interval '1 year'")
    one, other = race.session(), race.nonblocking()
    one.begin()
    one.rows("select qwf.retry_job(%s)", job)
    other.rows(second)
    one.commit()
    other.rows(second)
    race.complete_all()
    assert race.status(job) == "completed"


# deadlines


@pytest.mark.parametrize("first", ["deadline", "finish"])
@ENDS
def test_the_last_node_finishes_as_the_deadline_passes(
    race: Race, first: str, commits: bool
) -> None:
    """The session that locks the run first wins; the other does not wait."""
    run = race.run("single")
    race.rows("update qwf.runs set deadline_at = qwf.now() - interval '1 s'")
    (held,) = claim(race)
    one, other = race.session(), race.nonblocking()
    one.begin()
    if first == "deadline":
        assert one.one("select _qwf.fail_overdue_runs()") == 1
        assert finish(other, held) == [("ok", True)]
    else:
        assert finish(one, held) == [("ok", False)]
        assert other.one("select _qwf.fail_overdue_runs()") == 0
    race.healthy()
    one.commit() if commits else one.rollback()
    if first == "finish" and not commits:
        race.one("select _qwf.fail_overdue_runs()")
        finish(race, held)
    elif not commits:
        assert race.one("select qwf.drain_outbox()") == 1
    race.settle()
    assert race.run_status(run) == ("failed" if (first == "deadline") == commits else "completed")


def test_a_deadline_passes_once(race: Race) -> None:
    run = race.run("pair")
    race.rows("update qwf.runs set deadline_at = qwf.now() - interval '1 s'")
    one, other = race.session(), race.nonblocking()
    one.begin()
    assert one.one("select _qwf.fail_overdue_runs()") == 1
    assert other.one("select _qwf.fail_overdue_runs()") == 0
    one.kill()
    race.healthy()
    assert other.one("select _qwf.fail_overdue_runs()") == 1
    assert other.one("select _qwf.fail_overdue_runs()") == 0
    race.settle()
    assert race.run_status(run) == "failed"
    assert race.one("select count(*) from _qwf.event_log where kind = 'deadline'") == 1


# what to do about a standalone job that failed


def asking(race: Race, **args: str) -> int:
    named = "".join(f", {name} => {value}" for name, value in args.items())
    job = race.one(f"select qwf.enqueue('t', queue => 'cpu', on_failure => 'ask'{named})")
    finish(race, *claim(race), outcome="fatal")
    assert race.status(job) == "awaiting_input"
    return int(job)


@ENDS
def test_two_decisions_about_a_job_at_once(race: Race, commits: bool) -> None:
    job = asking(race)
    one, other = race.session(), race.session()
    one.begin()
    one.rows("select qwf.answer_job(%s, '\"retry\"')", job)
    other.start("select qwf.answer_job(%s, '\"abort\"')", job)
    other.waits()
    assert claim(race.nonblocking()) == []
    one.commit() if commits else one.rollback()
    if commits:
        assert refusal(other) == "QW002"
        finish(race, *claim(race))
    else:
        other.ends()
    race.settle()
    assert race.status(job) == ("completed" if commits else "failed")


@pytest.mark.parametrize("first", ["retry", "cancel"])
def test_a_decision_and_a_cancel_at_once(race: Race, first: str) -> None:
    job = asking(race)
    one, other = race.session(), race.session()
    one.begin()
    if first == "retry":
        one.rows("select qwf.answer_job(%s, '\"retry\"')", job)
        assert race.nonblocking().one("select qwf.cancel_job(%s)", job) == "requested"
        one.commit()
    else:
        assert one.one("select qwf.cancel_job(%s)", job) == "cancelled"
        other.start("select qwf.answer_job(%s, '\"retry\"')", job)
        other.waits()
        one.commit()
        assert refusal(other) == "QW002"
    race.settle()
    assert race.status(job) == "cancelled"
    assert claim(race) == []


def test_a_job_that_asks_leaves_its_key_to_a_newer_one(race: Race) -> None:
    """A person who says retry while the newer one has not ended cancels the older one."""
    job = asking(race, key="'k'")
    newer = race.one("select qwf.enqueue('t', queue => 'cpu', key => 'k')")
    assert newer > job
    race.rows("select qwf.answer_job(%s, '\"retry\"')", job)
    assert (race.status(job), race.status(newer)) == ("cancelled", "queued")
    assert race.sqlstate("select qwf.retry_job(%s)", job) == "QW008"
    race.healthy()


@ENDS
def test_a_job_that_asks_is_retried_while_a_producer_uses_its_key(
    race: Race, commits: bool
) -> None:
    job = asking(race, key="'k'")
    person, producer = race.session(), race.session()
    producer.begin()
    newer = producer.one("select qwf.enqueue('t', queue => 'cpu', key => 'k')")
    person.start("select qwf.answer_job(%s, '\"retry\"')", job)
    person.waits()  # only because it is the same key
    producer.commit() if commits else producer.rollback()
    person.ends()
    assert race.status(job) == ("cancelled" if commits else "queued")
    assert [c.job for c in claim(race, 5)] == [newer if commits else job]
    race.healthy()
