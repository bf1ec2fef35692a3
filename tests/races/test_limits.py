"""Limits while several sessions claim, finish, crash and change them."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from support.interleave import FINISH, Race, Session, claim, finish, reports

HELD = "select count(job_id) from qwf.limit_slots"


def limited(race: Race, count: int, limit: str = "api", queue: str = "cpu") -> list[int]:
    """Enqueue `count` jobs of a limit; returns their ids in order."""
    query = "select qwf.enqueue('t', queue => %s, limit_by => %s)"
    return [race.one(query, queue, limit) for _ in range(count)]


def test_max_running_of_a_queue_holds_against_uncommitted_claims(race: Race) -> None:
    race.rows("select qwf.create_queue('cpu', max_running => 3)")
    race.rows("select qwf.enqueue('t', queue => 'cpu') from generate_series(1, 10)")
    rivals = [race.nonblocking() for _ in range(5)]
    for rival in rivals:
        rival.begin()
    taken = [len(claim(rival, n)) for rival, n in zip(rivals, (1, 1, 5, 5, 1), strict=True)]
    assert taken == [1, 1, 1, 0, 0]
    rivals[0].rollback()
    assert len(claim(rivals[4], 9)) == 1
    for rival in rivals[1:]:
        rival.commit()
    assert claim(race, 9) == []
    assert race.one(HELD) == 3
    race.healthy()


def test_a_limit_holds_against_uncommitted_claims(race: Race) -> None:
    race.rows("select qwf.create_limit('api', 2)")
    limited(race, 4)
    limited(race, 4, queue="gpu")
    first, second, third = race.nonblocking(), race.nonblocking(), race.nonblocking()
    for session in (first, second, third):
        session.begin()
    assert len(claim(first)) == 1
    assert len(claim(second, 9, "gpu")) == 1
    assert claim(third, 9) == []
    for session in (first, second, third):
        session.commit()
    assert claim(race, 9) == []
    race.healthy()


def test_with_one_slot_a_second_claim_does_not_get_the_second_job(race: Race) -> None:
    """Neither while the claim of the first is open, nor when it is rolled back."""
    race.rows("select qwf.create_limit('api', 1)")
    jobs = limited(race, 2)
    first, second = race.session(), race.nonblocking()
    first.begin()
    assert [c.job for c in claim(first)] == jobs[:1]
    assert claim(second, 9) == []
    first.rollback()
    assert [c.job for c in claim(second, 9)] == jobs[:1]


def test_with_one_slot_jobs_run_in_claim_order_under_concurrent_claims(race: Race) -> None:
    race.rows("select qwf.create_limit('api', 1)")
    jobs = limited(race, 60)
    race.rows("select qwf.enqueue('other', queue => 'cpu') from generate_series(1, 60)")
    race.rows("create sequence public.moment")
    race.rows("create table public.handed_out (job bigint, moment bigint)")

    def work(session: Session) -> None:
        while race_is_on(session):
            session.begin()
            held = claim(session, 2)
            for one in held:
                session.rows(
                    "insert into handed_out select id, nextval('moment') from qwf.jobs"
                    " where id = %s and limit_by is not null",
                    one.job,
                )
            session.commit()
            finish(session, *held)

    def race_is_on(session: Session) -> bool:
        return bool(session.one("select exists (select from qwf.jobs where status = 'queued')"))

    sessions = [race.session() for _ in range(4)]
    with ThreadPoolExecutor(len(sessions)) as pool:
        list(pool.map(work, sessions))
    order = [row[0] for row in race.rows("select job from handed_out order by moment")]
    assert order == jobs
    race.healthy()


def test_a_claim_that_holds_a_slot_of_one_limit_does_not_block_the_others(race: Race) -> None:
    race.rows("select qwf.create_limit('api', 1), qwf.create_limit('disk', 1)")
    first_of_api, _ = limited(race, 2)
    first_of_disk, _ = limited(race, 2, "disk")
    rival = race.session()
    rival.begin()
    assert [c.job for c in claim(rival)] == [first_of_api]
    assert [c.job for c in claim(race.nonblocking())] == [first_of_disk]


@pytest.mark.parametrize("limit", [None, "disk"])
def test_a_locked_job_does_not_block_the_limited_job_behind_it(
    race: Race, limit: str | None
) -> None:
    """However long it takes: the job before it may be cancelled in an open transaction."""
    race.rows("select qwf.create_limit('api', 1), qwf.create_limit('disk', 1)")
    query = "select qwf.enqueue('t', queue => 'cpu', priority => 1, limit_by => %s)"
    head = race.one(query, limit)
    jobs = limited(race, 1)
    producer = race.session()
    producer.begin()
    producer.rows("select qwf.cancel_job(%s)", head)
    assert [c.job for c in claim(race)] == jobs
    producer.rollback()
    assert [c.job for c in claim(race)] == [head]
    race.healthy()


@pytest.mark.parametrize("end", ["rollback", "kill"])
def test_a_failed_claim_holds_no_slot(race: Race, end: str) -> None:
    race.rows("select qwf.create_limit('api', 1)")
    jobs = limited(race, 2)
    worker = race.session()
    worker.begin()
    assert claim(worker)
    getattr(worker, end)()
    assert race.one(HELD) == 0
    assert [c.job for c in claim(race)] == jobs[:1]
    race.healthy()


def test_the_slot_of_a_dead_worker_is_free_once_its_job_is_reclaimed(race: Race) -> None:
    race.rows("select qwf.create_limit('api', 1)")
    jobs = limited(race, 2)
    (dead,) = claim(race)
    race.expire_leases(dead.job)
    assert claim(race, 9) == []  # the slot is held until then
    race.settle()
    assert race.one(HELD) == 0
    (again,) = claim(race, 9)
    assert again.job == jobs[0]
    assert finish(race, dead) == [("lost", False)]
    assert race.one(HELD) == 1  # a stale report frees nothing
    race.healthy()


def test_two_concurrent_ends_of_a_job_free_its_slot_once(race: Race) -> None:
    race.rows("select qwf.create_limit('api', 1)")
    limited(race, 3)
    (held,) = claim(race)
    first, second = race.session(), race.session()
    first.begin()
    assert finish(first, held, outcome="released") == [("ok", False)]
    second.start(FINISH, reports(held, outcome="error"))
    second.waits()
    first.commit()
    assert second.ends() == [("lost", False)]
    assert len(claim(race, 9)) == 1
    race.healthy()


def test_a_limit_is_lowered_without_waiting_for_a_claim(race: Race) -> None:
    race.rows("select qwf.create_limit('api', 3)")
    limited(race, 9)
    worker, admin = race.session(), race.nonblocking()
    worker.begin()
    held = claim(worker, 3)
    assert len(held) == 3
    admin.rows("select qwf.create_limit('api', 1)")
    assert claim(race, 9) == []
    worker.commit()
    race.healthy()
    for one in held[:2]:
        finish(race, one)
        assert claim(race, 9) == []
    finish(race, held[2])
    assert len(claim(race, 9)) == 1
    race.healthy()


def test_slots_that_an_open_transaction_removes_are_not_handed_out(race: Race) -> None:
    race.rows("select qwf.create_limit('api', 2)")
    limited(race, 5)
    admin = race.session()
    admin.begin()
    admin.rows("select qwf.create_limit('api', 1)")
    assert len(claim(race.nonblocking(), 9)) == 1
    admin.rollback()
    assert len(claim(race, 9)) == 1
    race.healthy()


def test_two_administrators_agree_on_a_limit(race: Race) -> None:
    first, second = race.session(), race.session()
    first.begin()
    first.rows("select qwf.create_limit('api', 5)")
    second.start("select qwf.create_limit('api', 2)")
    second.waits()
    first.commit()
    second.ends()
    limited(race, 9)
    assert len(claim(race, 9)) == 2
    race.healthy()


def test_a_job_that_ends_while_its_queue_is_limited_frees_its_slot(race: Race) -> None:
    race.rows("select qwf.enqueue('t', queue => 'cpu') from generate_series(1, 4)")
    first, second = claim(race, 2)
    worker, admin = race.session(), race.session()
    worker.begin()
    finish(worker, first)
    admin.begin()
    admin.rows("set local lock_timeout = '5s'")
    admin.rows("select qwf.create_queue('cpu', max_running => 1)")  # skips the first job
    other = race.session()
    other.start(FINISH, reports(second))
    other.waits()
    admin.commit()
    assert other.ends() == [("ok", False)]
    worker.commit()
    assert race.one(HELD) == 0
    assert len(claim(race, 9)) == 1
    race.healthy()


def test_a_job_that_ends_while_its_queue_is_limited_again_removes_no_slot(race: Race) -> None:
    """Its end sees no limit, and the new limit sees the slot it holds."""
    race.rows("select qwf.create_queue('cpu', max_running => 3)")
    race.rows("select qwf.enqueue('t', queue => 'cpu') from generate_series(1, 9)")
    held = claim(race, 2)
    race.rows("select qwf.drop_limit('queue:cpu')")
    worker = race.session()
    worker.begin()
    finish(worker, *held)
    race.nonblocking().rows("select qwf.create_queue('cpu', max_running => 3)")
    worker.commit()
    race.healthy()
    assert len(claim(race, 9)) == 3


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_a_job_that_ends_in_an_old_snapshot_holds_no_slot_of_a_new_limit(
    race: Race, isolation: str
) -> None:
    race.rows("select qwf.enqueue('t', queue => 'cpu')")
    held = claim(race)
    worker = race.session()
    worker.begin(isolation)
    worker.rows("select count(*) from qwf.jobs")
    race.rows("select qwf.create_queue('cpu', max_running => 1)")
    if worker.sqlstate(FINISH, reports(*held)) == "40001":
        worker.rollback()
        finish(race, *held)
    else:
        worker.commit()
    race.healthy()


def test_the_limit_of_a_queue_is_lifted_and_set_again_under_an_open_claim(race: Race) -> None:
    race.rows("select qwf.create_queue('cpu', max_running => 3)")
    race.rows("select qwf.enqueue('t', queue => 'cpu') from generate_series(1, 9)")
    first, second = claim(race, 2)
    worker, admin = race.session(), race.nonblocking()
    worker.begin()
    (third,) = claim(worker)
    finish(race, first)
    admin.rows("select qwf.drop_limit('queue:cpu')")
    worker.commit()
    race.healthy()
    assert len(claim(race, 1)) == 1
    race.rows("select qwf.create_queue('cpu', max_running => 2)")
    race.healthy()
    finish(race, second)
    assert claim(race, 9) == []  # two run
    finish(race, third)
    assert len(claim(race, 9)) == 1
    race.healthy()


def test_a_queue_is_limited_while_its_limit_is_lifted(race: Race) -> None:
    """Both wait for a third session, and must not wait for each other."""
    race.rows("select qwf.create_queue('cpu', max_running => 3)")
    holder, lifts, limits = race.session(), race.session(), race.session()
    holder.begin()
    holder.rows("select from qwf.limits for update")
    lifts.start("select qwf.drop_limit('queue:cpu')")
    lifts.waits()
    limits.start("select qwf.create_queue('cpu', max_running => 2)")
    limits.waits()
    holder.commit()
    lifts.ends()
    limits.ends()
    assert race.one("select max_running from qwf.limits") == 2
    race.healthy()


def test_limits_hold_at_every_moment_under_random_work(race: Race) -> None:
    """Claims of all sizes, every outcome, rolled-back claims, and a limit that goes up and down."""
    race.rows("select qwf.create_limit('api', 3), qwf.create_limit('disk', 2)")
    race.rows("select qwf.create_queue('cpu', max_running => 5)")
    race.rows(
        "select count(*) from qwf.enqueue_many((select jsonb_agg(jsonb_build_object('task', 't',"
        " 'queue', (array['cpu', 'gpu'])[1 + mod(n, 2)], 'priority', mod(n, 3), 'max_attempts', 3,"
        " 'limit_by', (array['api', 'disk', null])[1 + mod(n, 3)], 'backoff', '[0]'::jsonb))"
        " from generate_series(1, 150) n))"
    )
    left = "select count(*) from qwf.jobs where finished_at is null"
    too_many = """
        select 'cpu', count(*) from qwf.jobs where status = 'running' and queue = 'cpu'
        having count(*) > 5
        union all
        select 'api', count(*) from qwf.jobs where status = 'running' and limit_by = 'api'
        having count(*) > 3
    """

    def work(session: Session, seed: int) -> None:
        dice = random.Random(seed)
        while session.one(left):
            session.begin()
            held = claim(session, dice.choice([1, 1, 2, 5]), dice.choice(["cpu", "gpu"]))
            if dice.random() < 0.1:
                session.rollback()
                continue
            session.commit()
            for one in held:
                outcome = dice.choice(["completed", "completed", "error", "released", "lost"])
                finish(session, one, outcome=outcome)
            session.rows("select _qwf.promote_due()")

    def change(session: Session) -> None:
        dice = random.Random(0)
        while session.one(left):
            session.rows("select qwf.create_limit('disk', %s)", dice.randint(1, 4))

    workers = [race.session() for _ in range(3)]
    admin = race.session()
    with ThreadPoolExecutor(len(workers) + 1) as pool:
        done = [pool.submit(work, session, n) for n, session in enumerate(workers)]
        done.append(pool.submit(change, admin))
        while not all(one.done() for one in done):
            race.healthy()
            assert race.rows(too_many) == []
        for one in done:
            one.result()
    assert race.one(HELD) == 0
    race.healthy()


WORKFLOW = """select qwf.register_workflow(
    '{"name": "w", "steps": [{"id": "a", "command": ["true"]}]}')"""
PUTS = {  # each puts work into a limit; %s is its name
    "enqueue": "select qwf.enqueue('t', queue => 'cpu', limit_by => %s)",
    "with a key": "select qwf.enqueue('t', queue => 'cpu', key => 'k', limit_by => %s)",
    "enqueue_many": """select qwf.enqueue_many(jsonb_build_array(
        '{"task": "t"}'::jsonb, jsonb_build_object('task', 't', 'limit_by', %s::text)))""",
    "enqueue_run": "select qwf.enqueue_run('w', limit_by => %s)",
    "retry_job": "select qwf.retry_job(j.id) from qwf.jobs j where j.limit_by = %s",
}


@pytest.mark.parametrize("name", ["api", "customer:acme"])
@pytest.mark.parametrize("puts", PUTS)
def test_a_limit_is_not_dropped_while_an_open_transaction_puts_work_into_it(
    race: Race, puts: str, name: str
) -> None:
    """Nor does work come to one that is being dropped: either would wait forever."""
    limit = name.partition(":")[0]
    race.rows("select qwf.create_limit('api', 1), qwf.create_limit('customer', 1, keyed => true)")
    race.rows(WORKFLOW)
    if puts == "retry_job":
        race.rows("select qwf.cancel_job(qwf.enqueue('t', queue => 'cpu', limit_by => %s))", name)
    producer, admin, worker = race.session(), race.session(), race.nonblocking()
    producer.begin()
    producer.rows(PUTS[puts], name)
    admin.start("select qwf.drop_limit(%s)", limit)
    admin.waits()
    race.rows("select qwf.enqueue('t', queue => 'cpu')")
    assert len(claim(worker, 9)) == 1  # neither an enqueue without a limit nor a claim waits
    producer.commit()
    with pytest.raises(psycopg.Error, match="limit is in use"):
        admin.ends()
    race.rows("select qwf.cancel_run(r.id) from qwf.runs r")
    race.rows(
        "select qwf.cancel_job(j.id) from qwf.jobs j where j.limit_by = %s and %s",
        name,
        puts != "enqueue_run",
    )
    admin.begin()
    admin.rows("select qwf.drop_limit(%s)", limit)
    producer.start(PUTS[puts], name)
    producer.waits()
    admin.commit()
    with pytest.raises(psycopg.Error, match="no such limit"):
        producer.ends()
    race.healthy()


@pytest.mark.parametrize("limit_by", ["smtp", "customer:acme"])
def test_a_hold_counts_once_it_commits_and_no_claim_waits_for_it(race: Race, limit_by: str) -> None:
    race.rows("select qwf.create_limit('smtp', 9), qwf.create_limit('customer', 9, keyed => true)")
    race.rows("select qwf.enqueue('t', queue => 'cpu', limit_by => %s) from generate_series(1, 3)",
              limit_by)  # fmt: skip
    hold = "select qwf.hold_limit(%s, qwf.now() + %s::interval) - qwf.now() > '90 min'"
    name = limit_by.partition(":")[0]
    body, other, worker = race.session(), race.session(), race.nonblocking()
    body.begin()
    assert not body.one(hold, name, "1 h")
    assert len(claim(worker)) == 1
    other.start(hold, name, "2 h")
    other.waits()
    worker.rows("select qwf.tick()")
    body.commit()
    assert other.ends() == [(True,)]
    assert race.one(hold, name, "1 h"), "the later of the two"
    assert claim(worker, 9) == []
    body.begin()
    body.one("select qwf.hold_limit(%s, null)", name)
    assert claim(worker, 9) == []
    body.commit()
    assert len(claim(worker, 9)) == 2
    race.healthy()
