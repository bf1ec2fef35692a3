"""Debounced jobs: a producer who puts one off, beside claims, promotions and other producers.

No edit is lost, no job starts while a call that puts it off is open, and none is put off for longer
than its callers allow.
"""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest

from support.interleave import GATE, Race, Session, claim, finish, until

EDIT = (
    "select job_id, run_at from qwf.enqueue_many(jsonb_build_array(jsonb_build_object('task', 't',"
    " 'queue', 'cpu', 'key', 'k', 'key_mode', 'replace', 'debounce', %s::text, 'max_attempts', 3,"
    " 'backoff', '[60]'::jsonb, 'args', jsonb_build_object('n', %s::int))))"
)
PLAIN = "select qwf.enqueue('t', '{\"n\": 1}', queue => 'cpu', key => 'k')"
PROMOTE = "select _qwf.promote_due()"
# Who has locked a row and then asks what time it is waits for the gate.
GATED_CLOCK = f"""
    create or replace function qwf.now() returns timestamptz language plpgsql as $$
    begin
      if pg_current_xact_id_if_assigned() is not null then
        perform pg_advisory_xact_lock_shared({GATE});
      end if;
      return clock_timestamp();
    end $$"""
ENDS = pytest.mark.parametrize("commits", [True, False], ids=["commits", "rolls back"])
Connect = Callable[[], psycopg.Connection[Any]]
HOUR = timedelta(hours=1)


def edit(session: Session, n: int, debounce: str = "1 h") -> tuple[int, datetime | None]:
    ((job, run_at),) = session.rows(EDIT, debounce, n)
    return int(job), run_at


def due(race: Race, n: int = 1) -> int:
    """A job whose time has come, and which may be put off."""
    job, _ = edit(race, n)
    race.make_due(job)
    return job


def queued(race: Race, n: int = 1) -> int:
    job = due(race, n)
    assert race.one(PROMOTE) == 1
    return job


def end(session: Session, commits: bool) -> None:
    session.commit() if commits else session.rollback()


def started(session: Session) -> list[tuple[int, int]]:
    """Claims all jobs that can start: their ids and n."""
    return [
        (c.job, session.one("select (inputs ->> 'n')::int from qwf.jobs where id = %s", c.job))
        for c in claim(session, 9)
    ]


def state(race: Race, job: int) -> tuple[str, int]:
    ((status, n),) = race.rows(
        "select status::text, (inputs ->> 'n')::int from qwf.jobs where id = %s", job
    )
    return status, n


@ENDS
def test_a_queued_job_that_is_put_off_starts_only_if_that_is_undone(
    race: Race, commits: bool
) -> None:
    job = queued(race)
    producer, worker = race.session(), race.nonblocking()
    producer.begin()
    assert edit(producer, 2)[0] == job
    assert claim(worker, 9) == []
    end(producer, commits)
    assert started(worker) == ([] if commits else [(job, 1)])
    assert state(race, job) == (("scheduled", 2) if commits else ("running", 1))
    race.healthy()


@ENDS
def test_a_call_that_comes_while_its_job_is_claimed_makes_a_job_of_its_own(
    race: Race, commits: bool
) -> None:
    job = queued(race)
    worker, producer = race.session(), race.session()
    worker.begin()
    (held,) = claim(worker)
    producer.start(EDIT, "1 h", 2)
    producer.waits()
    end(worker, commits)
    ((second, _),) = producer.ends()
    assert (second != job) == commits
    assert state(race, second) == ("scheduled", 2)
    race.make_due(second)
    race.one(PROMOTE)
    assert started(race) == ([] if commits else [(job, 2)])
    if commits:
        finish(race, held)
        assert started(race) == [(second, 2)]
    race.healthy()


@ENDS
def test_a_job_that_is_just_promoted_is_put_off_all_the_same(race: Race, commits: bool) -> None:
    job = due(race)
    promoter, producer = race.session(), race.session()
    promoter.begin()
    assert promoter.one(PROMOTE) == 1
    producer.start(EDIT, "1 h", 2)
    producer.waits()
    end(promoter, commits)
    ((same, run_at),) = producer.ends()
    assert same == job
    assert run_at is not None
    assert run_at > race.one("select qwf.now()") + HOUR / 2
    assert state(race, job) == ("scheduled", 2)
    assert race.one(PROMOTE) == 0
    assert started(race) == []
    race.healthy()


@ENDS
def test_a_due_job_is_not_promoted_while_a_call_may_put_it_off(race: Race, commits: bool) -> None:
    job = due(race)
    producer, promoter = race.session(), race.nonblocking()
    producer.begin()
    edit(producer, 2)
    assert promoter.one(PROMOTE) == 0
    end(producer, commits)
    assert promoter.one(PROMOTE) == (not commits)
    assert started(race) == ([] if commits else [(job, 1)])


@ENDS
def test_of_two_calls_at_once_the_later_one_counts(race: Race, commits: bool) -> None:
    """The later one is the one that had to wait, and it counts from the end of its wait."""
    job, _ = edit(race, 1)
    one, other = race.session(), race.session()
    one.begin()
    first = edit(one, 2)[1]
    other.start(EDIT, "1 h", 3)
    other.waits()
    before = race.one("select qwf.now()")
    end(one, commits)
    ((same, last),) = other.ends()
    assert same == job
    assert first is not None
    assert last >= before + HOUR > first
    assert state(race, job) == ("scheduled", 3)
    race.healthy()


@ENDS
def test_of_two_first_calls_at_once_one_makes_the_job(race: Race, commits: bool) -> None:
    one, other = race.session(), race.session()
    one.begin()
    job, _ = edit(one, 1)
    other.start(EDIT, "1 h", 2)
    other.waits()
    end(one, commits)
    ((second, _),) = other.ends()
    assert (second == job) == commits
    assert race.rows("select id from qwf.jobs") == [(second,)]
    assert state(race, second) == ("scheduled", 2)
    race.healthy()


@ENDS
def test_a_call_that_wants_the_job_at_once_waits_for_one_that_puts_it_off(
    race: Race, commits: bool
) -> None:
    job = queued(race)
    one, other = race.session(), race.session()
    one.begin()
    edit(one, 2)
    other.start(PLAIN)
    other.waits()
    end(one, commits)
    assert other.ends() == [(job,)]
    assert edit(race, 3) == (job, None), "nobody puts it off any more"
    assert started(race) == [(job, 3)]
    race.healthy()


def test_two_who_want_a_debounced_job_at_once_do_not_deadlock(race: Race) -> None:
    """Sharing the lock, each would wait for the other to write that it may not be put off."""
    job = queued(race)
    one, other = race.session(), race.session()
    keeper = race.session()
    keeper.rows("select pg_advisory_lock(%s)", GATE)
    race.conn.execute(GATED_CLOCK)
    for session in (one, other):
        session.start(PLAIN)
        session.waits()
    keeper.rows("select pg_advisory_unlock(%s)", GATE)
    assert [session.ends() for session in (one, other)] == [[(job,)]] * 2
    assert edit(race, 2) == (job, None)


@ENDS
def test_a_call_whose_transaction_stays_open_holds_its_job_back(race: Race, commits: bool) -> None:
    """Also beyond the start that it asked for; then the job starts at once."""
    job = due(race)
    producer, worker = race.session(), race.nonblocking()
    producer.begin()
    _, run_at = edit(producer, 2, "1 ms")
    until(lambda: race.one("select qwf.now() > %s", run_at))
    assert worker.one(PROMOTE) == 0
    assert claim(worker, 9) == []
    end(producer, commits)
    assert worker.one(PROMOTE) == 1
    assert started(worker) == [(job, 2 if commits else 1)]
    race.healthy()


@pytest.mark.parametrize("meanwhile", ["edited", "promoted", "claimed"])
def test_a_repeatable_read_producer_makes_a_job_of_its_own_or_gets_40001(
    race: Race, meanwhile: str
) -> None:
    job = due(race)
    producer = race.session()
    producer.begin("repeatable read")
    producer.rows("select 1 from qwf.jobs")
    if meanwhile == "edited":
        edit(race, 2)
    else:
        race.one(PROMOTE)
    held = claim(race) if meanwhile == "claimed" else []
    said = producer.sqlstate(EDIT, "1 h", 3)
    assert said == "40001" if meanwhile != "claimed" else said in ("40001", "00000")
    producer.rollback()
    assert state(race, job)[1] == (2 if meanwhile == "edited" else 1)
    finish(race, *held)
    race.healthy()


def test_an_edit_is_not_held_back_by_the_back_off_of_the_older_job(race: Race) -> None:
    job = queued(race)
    (held,) = claim(race)
    second, _ = edit(race, 2)
    edit(race, 3)
    finish(race, held, outcome="error", error="disk is full")
    assert race.status(job) == "scheduled"
    race.make_due(second)
    race.one(PROMOTE)
    assert started(race) == [(second, 3)]
    assert race.status(job) == "cancelled"
    race.healthy()


# A storm -----------------------------------------------------------------------------------------

SECONDS, STARTS = 3.0, 3  # it ends sooner once there were more starts
STORM = EDIT.replace("'max_attempts', 3", "'debounce_max', '400 ms'")
HANDED_OUT = """
    select (c.inputs ->> 'n')::int, c.job_id, c.token, qwf.now() from qwf.claim('cpu', %s, 3) c"""


def storm(connect: Connect, race: Race) -> tuple[int, list[Any]]:
    """Four producers edit one key, each call sooner than the one before it allows to start; two
    workers start what is due. Returns the last edit and all starts: edit, job, when."""
    over, quiet = threading.Event(), threading.Event()
    lock, numbers, given, faults = threading.Lock(), iter(range(1, 10**9)), [], []
    last: list[int] = [0]

    def produce() -> None:
        with connect() as conn:
            conn.autocommit = True
            while not quiet.is_set():
                with lock:  # the order of the edits is that of their commits
                    last[0] = next(numbers)
                    conn.execute(STORM, ["300 ms", last[0]])

    def work() -> None:
        with connect() as conn:
            conn.autocommit = True
            while not over.is_set():
                try:
                    conn.execute(PROMOTE)
                    for n, job, token, at in conn.execute(HANDED_OUT, [str(conn.info.backend_pid)]):
                        given.append((n, job, at))
                        conn.execute("select qwf.finish(%s, %s, 'completed')", [job, token])
                except psycopg.Error as error:
                    faults.append(error)

    threads = [threading.Thread(target=produce) for _ in range(4)]
    workers = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads + workers:
        thread.start()
    end = time.monotonic() + SECONDS
    while len(given) <= STARTS and time.monotonic() < end:
        time.sleep(0.02)
    quiet.set()
    for thread in threads:
        thread.join()
    left = "select count(*) from qwf.jobs where status <> 'completed'"
    until(lambda: faults or race.one(left) == 0)
    over.set()
    for thread in workers:
        thread.join()
    assert faults == []
    return last[0], sorted(given, key=lambda one: one[2])


def test_a_job_that_is_called_without_end_starts_when_its_longest_time_is_over(
    race: Race, connect: Connect
) -> None:
    last, starts = storm(connect, race)
    assert last > len(starts) * 2, "calls were merged"
    assert starts[-1][0] == last, "the last edit was used"
    assert len(starts) >= STARTS, "the calls did not put the job off until they ended"
    race.healthy()


BUGS = [
    (  # a call puts the job off for as long as it likes
        test_a_job_that_is_called_without_end_starts_when_its_longest_time_is_over,
        "_qwf.change_merged", "v_asked, v_start_by, ", "v_asked, ",
    ),
    (  # a call counts from before it waited
        test_of_two_calls_at_once_the_later_one_counts,
        "_qwf.change_merged", "v_now timestamptz := qwf.now();",
        "v_now timestamptz := statement_timestamp();",
    ),
    (  # a job that is queued is not put off
        test_a_job_that_is_just_promoted_is_put_off_all_the_same,
        "_qwf.change_merged", "coalesce(v_bound, v_starts)", "v_starts",
    ),
    (  # calls that change the job share its lock
        test_two_who_want_a_debounced_job_at_once_do_not_deadlock,
        "_qwf.merge_waiting", " and (j.options).start_by is null", "",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("test", "function", "text", "bug"), BUGS)
def test_a_planted_bug_is_found(
    race: Race, connect: Connect, test: Callable[..., None], function: str, text: str, bug: str
) -> None:
    source = race.one("select pg_get_functiondef(%s::regproc)", function)
    assert source.count(text) == 1, f"{function} has changed: plant the bug in its new text"
    race.conn.execute(source.replace(text, bug).encode())
    given = {"race": race, "connect": connect, "commits": True}
    named = {name: given[name] for name in inspect.signature(test).parameters}

    def look() -> None:
        # a storm whose producers all had to pause has not called without end: it is repeated
        for _ in range(8 if test is BUGS[0][0] else 1):
            test(**named)

    with pytest.raises((AssertionError, psycopg.Error)):
        look()
