"""Jobs with keys: a producer who merges, beside claims, ends and other producers.

No edit is lost: a body that starts after a producer has committed sees what the producer gave, or
what a later one gave; and two jobs of a key never run at once.
"""

from __future__ import annotations

import psycopg
import pytest

from support.interleave import Claim, Race, Session, claim, finish

KEEP = "select qwf.enqueue('t', '{\"n\": 2}', queue => 'cpu', key => 'k')"
REPLACE = KEEP.replace("key =>", "key_mode => 'replace', key =>")
REFUSE = KEEP.replace("key =>", "key_mode => 'refuse', key =>")
ONCE = KEEP.replace("key =>", "once => true, key =>")
MANY = (
    'select job_id from qwf.enqueue_many(\'[{"task": "t", "queue": "cpu", "key": "k",'
    ' "args": {"n": 2}}]\')'
)
MERGES = pytest.mark.parametrize("merge", [KEEP, REPLACE, ONCE, MANY])
ENDS = pytest.mark.parametrize("commits", [True, False], ids=["commits", "rolls back"])


def enqueue(race: Session) -> int:
    """A job that waits, with n = 1."""
    return int(race.one(KEEP.replace("2", "1")))


def end(session: Session, commits: bool) -> None:
    session.commit() if commits else session.rollback()


def started(session: Session) -> list[tuple[int, int]]:
    """Claims all jobs that can start: their ids and n."""
    return [(c.job, n) for c in claim(session, 9) for n in [number(session, c.job)]]


def number(session: Session, job: int) -> int:
    return int(session.one("select (inputs ->> 'n')::int from qwf.jobs where id = %s", job))


def backing_off(race: Race) -> tuple[int, Claim]:
    """A job that failed once and waits for its next try."""
    job = race.one(KEEP.replace("2", "1").replace("key =>", "max_attempts => 3, key =>"))
    (held,) = claim(race)
    finish(race, held, outcome="error", error="disk is full")
    assert race.status(job) == "scheduled"
    return job, held


@MERGES
@ENDS
def test_a_job_starts_only_after_those_who_merged_into_it_have_ended(
    race: Race, merge: str, commits: bool
) -> None:
    job = enqueue(race)
    producer, worker = race.session(), race.nonblocking()
    producer.begin()
    assert producer.one(merge) == job
    assert claim(worker, 9) == []
    end(producer, commits)
    assert started(worker) == [(job, 2 if merge == REPLACE and commits else 1)]
    race.healthy()


@pytest.mark.parametrize("merge", [KEEP, ONCE, MANY])
def test_a_job_that_was_enqueued_once_is_held_too(race: Race, merge: str) -> None:
    job = race.one(ONCE)
    producer, worker = race.session(), race.nonblocking()
    producer.begin()
    assert producer.one(merge) == job
    assert claim(worker, 9) == []
    producer.commit()
    (held,) = claim(worker, 9)
    producer.begin()
    assert producer.one(merge) == job
    assert finish(worker, held) == [("ok", False)], "its finish does not wait"
    producer.commit()
    race.healthy()


def test_a_savepoint_that_is_rolled_back_lets_the_job_start(race: Race) -> None:
    job = enqueue(race)
    producer, worker = race.session(), race.nonblocking()
    producer.begin()
    producer.rows("savepoint before")
    producer.rows(KEEP)
    producer.rows("rollback to savepoint before")
    assert started(worker) == [(job, 1)]
    producer.commit()


@pytest.mark.parametrize("merge", [KEEP, REPLACE, MANY])
@ENDS
def test_a_producer_waits_for_a_claim_and_then_enqueues_a_job_of_its_own(
    race: Race, merge: str, commits: bool
) -> None:
    job = enqueue(race)
    worker, producer = race.session(), race.session()
    worker.begin()
    (held,) = claim(worker)
    producer.start(merge)
    producer.waits()
    end(worker, commits)
    ((second,),) = producer.ends()
    assert (second != job) == commits
    assert started(race) == ([] if commits else [(job, 2 if merge == REPLACE else 1)])
    if commits:
        finish(race, held)
        assert started(race) == [(second, 2)]
    race.healthy()


@pytest.mark.parametrize(("merge", "waits"), [(KEEP, False), (REPLACE, True)])
def test_producers_who_keep_do_not_wait_for_each_other(race: Race, merge: str, waits: bool) -> None:
    job = enqueue(race)
    one, other = race.session(), race.session()
    one.begin()
    one.rows(merge)
    other.start(merge.replace("2", "3"))
    if waits:
        other.waits()
        one.commit()
    assert other.ends() == [(job,)]
    if not waits:
        one.commit()
    assert number(race, job) == (3 if merge == REPLACE else 1), "the last commit wins"


def test_two_who_keep_a_job_that_expires_do_not_deadlock(race: Race) -> None:
    expires = KEEP.replace("key =>", "expires => '1 h', key =>")
    job = race.one(expires)
    one, other = race.session(), race.session()
    one.begin()
    one.rows(KEEP)
    other.start(KEEP)
    other.waits()
    one.commit()
    assert other.ends() == [(job,)]
    assert race.rows("select expires_at from qwf.jobs") == [(None,)]


@pytest.mark.parametrize("merge", [KEEP, MANY])
@ENDS
def test_a_job_that_waits_starts_when_the_older_one_has_ended(
    race: Race, merge: str, commits: bool
) -> None:
    enqueue(race)
    (held,) = claim(race)
    second = race.one(merge)
    assert claim(race, 9) == []
    worker, other = race.session(), race.nonblocking()
    worker.begin()
    finish(worker, held)
    assert claim(other, 9) == []
    end(worker, commits)
    assert started(other) == ([(second, 2)] if commits else [])
    race.healthy()


@pytest.mark.parametrize("outcome", ["released", "lost"])
def test_a_job_that_is_given_back_comes_before_the_one_that_waits(race: Race, outcome: str) -> None:
    job = enqueue(race)
    (held,) = claim(race)
    second = race.one(KEEP)
    finish(race, held, outcome=outcome)
    assert [n for _, n in started(race)] == [1]
    assert race.status(second) == "queued"
    assert race.status(job) == "running"
    race.healthy()


def test_a_newer_job_supersedes_one_that_waits_for_its_next_try(race: Race) -> None:
    """Neither the producer nor the finish can see the other: both transactions are open."""
    job = race.one(KEEP.replace("2", "1").replace("key =>", "max_attempts => 3, key =>"))
    (held,) = claim(race)
    producer, worker = race.session(), race.session()
    producer.begin()
    worker.begin()
    second = producer.one(KEEP)
    finish(worker, held, outcome="error", error="disk is full")
    producer.commit()
    worker.commit()
    assert started(race) == [(second, 2)]
    said = race.one("select last_error from qwf.jobs where id = %s", job)
    assert said.startswith(f"superseded by job {second}: ")
    assert "disk is full" in said
    assert race.status(job) == "cancelled"
    race.healthy()


def test_a_newer_job_waits_while_somebody_holds_the_older_one(race: Race) -> None:
    """It waits a second, so that a worker of one slot gets the job behind it meanwhile."""
    backing_off(race)
    second, behind = race.one(KEEP), race.one("select qwf.enqueue('u', queue => 'cpu')")
    holder, worker = race.session(), race.nonblocking()
    holder.begin()
    holder.rows("select from qwf.jobs where status = 'scheduled' for update")
    assert claim(worker) == []
    assert race.status(second) == "scheduled"
    assert [c.job for c in claim(worker)] == [behind]
    race.make_due(second)
    race.rows("select qwf.tick()")
    assert claim(worker) == []
    holder.rollback()
    race.make_due(second)
    race.rows("select qwf.tick()")
    assert started(worker) == [(second, 2)]
    race.healthy()


def test_an_older_job_whose_time_has_come_runs_first(race: Race) -> None:
    job, _ = backing_off(race)
    second = race.one(KEEP)
    race.make_due(job)
    race.rows("select qwf.tick()")
    assert started(race) == [(job, 1)]
    assert race.status(second) == "queued"
    race.healthy()


@pytest.mark.parametrize("newer", ["waits", "runs", "is open"])
def test_a_job_is_not_retried_beside_a_newer_one(race: Race, newer: str) -> None:
    job = enqueue(race)
    (held,) = claim(race)
    finish(race, held, outcome="fatal", error="no")
    producer, person = race.session(), race.session()
    producer.begin()
    producer.rows(KEEP)
    retry = "select qwf.retry_job(%s)"
    if newer == "is open":
        person.start(retry, job)
        person.waits()
        producer.rollback()
        person.ends()
        assert race.status(job) == "queued"
        return
    producer.commit()
    if newer == "runs":
        claim(race)
    assert race.sqlstate(retry, job) == "QW008"
    assert race.status(job) == "failed"
    race.healthy()


def test_a_retried_job_waits_again_and_takes_what_is_merged_into_it(race: Race) -> None:
    job = enqueue(race)
    (held,) = claim(race)
    finish(race, held, outcome="fatal", error="no")
    race.rows("select qwf.retry_job(%s)", job)
    assert race.one(REPLACE) == job
    assert started(race) == [(job, 2)]
    race.healthy()


@ENDS
def test_once_is_not_enqueued_beside_a_claim_of_its_key(race: Race, commits: bool) -> None:
    job = enqueue(race)
    worker, producer = race.session(), race.session()
    worker.begin()
    claim(worker)
    producer.start(ONCE)
    producer.waits()
    end(worker, commits)
    assert producer.ends() == [(job,)]
    assert len(claim(race, 9)) == (not commits), "never two at once"
    race.healthy()


def test_a_job_enqueued_once_supersedes_one_that_waits_for_its_next_try(race: Race) -> None:
    """It was enqueued by a snapshot in which the older one had not started."""
    job = race.one(KEEP.replace("2", "1").replace("key =>", "max_attempts => 3, key =>"))
    producer = race.session()
    producer.begin("repeatable read")
    producer.rows("select 1 from qwf.jobs")
    (held,) = claim(race)
    second = producer.one(ONCE)
    producer.commit()
    finish(race, held, outcome="error", error="disk is full")
    assert started(race) == [(second, 2)]
    assert race.status(job) == "cancelled", "its next try would run beside the newer one"
    race.healthy()


@ENDS
def test_refuse_counts_a_job_whose_claim_was_open(race: Race, commits: bool) -> None:
    enqueue(race)
    worker, producer = race.session(), race.session()
    worker.begin()
    claim(worker)
    producer.start(REFUSE)
    producer.waits()
    end(worker, commits)
    with pytest.raises(psycopg.Error) as refused:
        producer.ends()
    assert refused.value.sqlstate == "QW008"
    race.healthy()


@pytest.mark.parametrize("merge", [KEEP, REPLACE, REFUSE, MANY])
def test_nothing_is_merged_into_a_job_that_somebody_has_asked_to_cancel(
    race: Race, merge: str
) -> None:
    """A producer held it when it was cancelled, so it still waits."""
    job = enqueue(race)
    producer = race.session()
    producer.begin()
    producer.rows(KEEP)
    assert race.one("select qwf.cancel_job(%s)", job) == "requested"
    other = race.session()
    other.start(merge)
    other.waits()
    producer.commit()
    ((second,),) = other.ends()
    race.settle()
    assert race.status(job) == "cancelled"
    assert started(race) == [(second, 2)]


@pytest.mark.parametrize("state", ["waits", "runs", "backs off"])
def test_refuse_counts_every_unfinished_job(race: Race, state: str) -> None:
    if state == "backs off":
        backing_off(race)
    else:
        enqueue(race)
    if state == "runs":
        claim(race)
    assert race.sqlstate(REFUSE) == "QW008"
    race.healthy()


def test_a_repeatable_read_producer_enqueues_a_job_of_its_own_or_gets_40001(race: Race) -> None:
    enqueue(race)
    producer = race.session()
    producer.begin("repeatable read")
    producer.rows("select 1 from qwf.jobs")
    (held,) = claim(race)
    assert producer.sqlstate(KEEP) in ("40001", "00000")
    producer.rollback()
    finish(race, held)
    race.healthy()


def test_lists_with_the_same_keys_in_any_order_do_not_deadlock(race: Race) -> None:
    item = '{{"task": "t", "queue": "cpu", "key": "{}", "key_mode": "{}"}}'
    race.rows("select qwf.enqueue('t', queue => 'cpu', key => k) from unnest('{b,d}'::text[]) k")

    def many(keys: str, mode: str) -> str:
        return "[" + ",".join(item.format(key, mode) for key in keys) + "]"

    one, other = race.session(), race.session()
    one.begin()
    call = "select job_id from qwf.enqueue_many(%s)"
    first = [i for (i,) in one.rows(call, many("abcde", "replace"))]
    other.start(call, many("edcba", "keep"))
    other.waits()
    one.commit()
    assert [i for (i,) in other.ends()] == first[::-1]
    race.healthy()


def test_a_job_behind_an_older_one_is_found_at_once_however_much_was_claimed_before(
    race: Race,
) -> None:
    """No floor of a walk passes it while it waits."""
    holder = race.session()
    enqueue(race)
    (held,) = claim(race)
    second = race.one(KEEP)
    holder.begin("repeatable read")
    holder.rows("select 1")
    race.rows("select qwf.enqueue('u', queue => 'cpu') from generate_series(1, 3000)")
    worker = race.session()
    for _ in range(3):
        finish(worker, *claim(worker, 1000))
    assert claim(worker, 9) == []
    finish(race, held)
    assert started(worker) == [(second, 2)]
    holder.rollback()


def test_why_not_names_the_older_job_and_the_producer_who_holds_it(race: Race) -> None:
    job = enqueue(race)
    (held,) = claim(race)
    second = race.one(KEEP)
    why = "select * from qwf.why_not(%s)"
    assert f"it waits until job {job} (running) has ended, which has the same key" in [
        line for (line,) in race.rows(why, second)
    ]
    finish(race, held)
    producer = race.session()
    producer.begin()
    producer.rows(KEEP)
    said = " ".join(line for (line,) in race.rows(why, second))
    assert f"an open transaction holds it: process {producer.pid} of" in said


@pytest.mark.parametrize("merge", [KEEP, ONCE])
def test_why_not_names_all_producers_who_share_the_job(race: Race, merge: str) -> None:
    job = race.one(merge.replace("2", "1"))
    producers = [race.session() for _ in range(3)]
    for producer in producers:
        producer.begin()
        producer.rows(merge)
    said = " ".join(line for (line,) in race.rows("select * from qwf.why_not(%s)", job))
    for producer in producers:
        assert f"an open transaction holds it: process {producer.pid} of" in said
    producers[0].commit()
    said = " ".join(line for (line,) in race.rows("select * from qwf.why_not(%s)", job))
    assert f"process {producers[0].pid} of" not in said
    assert f"process {producers[1].pid} of" in said
