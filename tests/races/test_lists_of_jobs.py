"""Lists of jobs beside others: nobody waits for a job that is not changed."""

from __future__ import annotations

from support.interleave import Race, claim, finish

RETRY = "select verdict, code from qwf.retry_jobs(%s) order by job_id"
CANCEL = "select verdict, code from qwf.cancel_jobs(%s) order by job_id"
ENQUEUE = "select qwf.enqueue('t', queue => 'cpu', key => %s)"
CHANGE = "select verdict, code from qwf.change_jobs(%s, priority => %s) order by job_id"
RETRIED, GONE_AHEAD = ("retried", None), ("refused", "QW002")


def failed_jobs(race: Race, *keys: str | None) -> list[int]:
    """Standalone jobs that failed, one for each key."""
    jobs = [race.one(ENQUEUE, key) for key in keys]
    for held in claim(race, len(jobs)):
        finish(race, held, outcome="fatal")
    return jobs


def failed_run(race: Race) -> tuple[int, int]:
    """A run that failed, and its node that did."""
    run = race.run("chain")
    (held,) = claim(race, 1)
    finish(race, held, outcome="fatal")
    return run, race.job(run, "chain/a")


def test_two_retries_of_the_same_jobs(race: Race) -> None:
    jobs = failed_jobs(race, None, None)
    run, node = failed_run(race)
    one, other = race.session(), race.session()
    one.begin()
    assert one.rows(RETRY, [*jobs, node]) == [RETRIED] * 3
    other.start(RETRY, [node, *reversed(jobs)])
    other.waits()
    one.commit()
    assert other.ends() == [GONE_AHEAD] * 3
    race.healthy()
    race.complete_all()
    assert race.run_status(run) == "completed"


def test_a_retry_that_is_rolled_back_leaves_the_jobs_to_the_next(race: Race) -> None:
    jobs = failed_jobs(race, None, None)
    one, other = race.session(), race.session()
    one.begin()
    one.rows(RETRY, jobs)
    other.start(RETRY, jobs)
    other.waits()
    one.kill()
    assert other.ends() == [RETRIED] * 2
    race.healthy()


def test_keys_are_taken_in_the_order_of_enqueue_many(race: Race) -> None:
    """A retry that waits for a key holds no key that comes after it."""
    jobs = failed_jobs(race, "later", "before")
    one, other, nonblocking = race.session(), race.session(), race.nonblocking()
    one.begin()
    one.rows(ENQUEUE, "before")
    other.start(RETRY, jobs)
    other.waits()
    assert nonblocking.one(ENQUEUE, "later") > max(jobs)
    one.commit()
    assert other.ends() == [("refused", "QW008")] * 2
    race.healthy()


def test_runs_are_locked_by_id_before_any_job_changes(race: Race) -> None:
    (job,) = failed_jobs(race, None)
    first, second = failed_run(race), failed_run(race)
    one, other, nonblocking = race.session(), race.session(), race.nonblocking()
    one.begin()
    one.rows("select from qwf.runs where id = %s for update", first[0])
    other.start(RETRY, [second[1], job, first[1]])
    other.waits()
    assert nonblocking.rows(RETRY, [job, second[1]]) == [RETRIED] * 2
    one.rollback()
    assert other.ends() == [GONE_AHEAD, RETRIED, GONE_AHEAD]
    race.healthy()


def test_a_running_job_can_end_beside_both(race: Race) -> None:
    """Neither locks a running job, however long its transaction stays open."""
    for _ in range(2):
        race.one(ENQUEUE, None)
    held = claim(race, 2)
    person, worker = race.session(), race.nonblocking()
    person.begin()
    assert person.rows(RETRY, [held[0].job]) == [GONE_AHEAD]
    assert person.rows(CANCEL, [held[1].job]) == [("requested", None)]
    assert finish(worker, held[0]) == [("ok", False)]
    assert finish(worker, held[1]) == [("ok", False)]
    person.commit()
    race.settle()
    race.healthy()
    assert {race.status(h.job) for h in held} == {"completed"}


def test_two_lists_of_requests_in_opposite_order(race: Race) -> None:
    for _ in range(2):
        race.one(ENQUEUE, None)
    jobs = [held.job for held in claim(race, 2)]
    one, other = race.session(), race.session()
    one.begin()
    assert one.rows(CANCEL, jobs) == [("requested", None)] * 2
    other.start(CANCEL, jobs[::-1])
    other.waits()
    one.commit()
    assert other.ends() == [("requested", None)] * 2
    assert race.one("select count(*) from qwf.cancel_requests") == 2
    race.healthy()


def test_two_changes_of_the_same_jobs_never_wait(race: Race) -> None:
    """A job that another transaction is changing is refused; the next call changes it."""
    jobs = [race.one(ENQUEUE, None) for _ in range(3)]
    one, other = race.session(), race.nonblocking()
    one.begin()
    assert one.rows(CHANGE, jobs[:2], 5) == [("changed", None)] * 2
    assert other.rows(CHANGE, jobs[::-1], 7) == [GONE_AHEAD, GONE_AHEAD, ("changed", None)]
    one.commit()
    assert race.rows("select priority from qwf.jobs order by id") == [(5,), (5,), (7,)]
    assert other.rows(CHANGE, jobs, 9) == [("changed", None)] * 3
    race.healthy()


def test_a_change_leaves_a_job_that_is_being_claimed_alone(race: Race) -> None:
    """And a job that is claimed meanwhile is not put back into the queue."""
    jobs = [race.one(ENQUEUE, None) for _ in range(2)]
    worker, person = race.session(), race.nonblocking()
    worker.begin()
    (held,) = claim(worker, 1)
    assert person.rows(CHANGE, jobs, 5) == [GONE_AHEAD, ("changed", None)]
    worker.commit()
    assert person.rows(CHANGE, jobs, 6) == [GONE_AHEAD, ("changed", None)]
    assert finish(race, held) == [("ok", False)]
    race.healthy()


def test_a_claim_takes_no_job_that_is_being_moved_to_later(race: Race) -> None:
    job = race.one(ENQUEUE, None)
    person, worker = race.session(), race.nonblocking()
    person.begin()
    person.rows("select qwf.change_jobs(%s, run_at => '2100-01-01')", [job])
    assert claim(worker, 1) == []
    person.commit()
    assert claim(worker, 1) == []
    assert race.status(job) == "scheduled"
    race.healthy()
