"""Cancelling while other things happen to the job."""

from __future__ import annotations

import pytest

from support.interleave import Claim, Race, claim, finish

VERDICT = "select verdict from qwf.heartbeat('w', array[%s]::uuid[])"


# cancel_run


def test_cancel_run_before_the_finish_of_a_node(race: Race) -> None:
    run = race.run("chain")
    (held,) = claim(race)
    producer = race.session()
    producer.begin()
    producer.rows("select qwf.cancel_run(%s)", run)
    assert finish(race.nonblocking(), held) == [("ok", True)]
    producer.commit()
    race.settle()
    assert race.run_status(run) == "cancelled"
    assert race.statuses(run) == {
        "chain/a": "completed",
        "chain/b": "cancelled",
        "chain/c": "cancelled",
    }


def test_cancel_run_after_the_finish_of_a_node(race: Race) -> None:
    run = race.run("chain")
    (held,) = claim(race)
    worker, producer = race.session(), race.session()
    worker.begin()
    assert finish(worker, held) == [("ok", False)]
    producer.start("select qwf.cancel_run(%s)", run)
    producer.waits()
    worker.commit()
    assert producer.ends() == [(True,)]
    race.settle()
    assert race.run_status(run) == "cancelled"
    assert race.statuses(run)["chain/b"] == "cancelled"


@pytest.mark.parametrize("outcome", ["error", "tempfail", "lost", "released"])
@pytest.mark.parametrize("first", ["cancel", "finish"])
def test_a_node_released_while_its_run_is_cancelled_is_not_queued_again(
    race: Race, first: str, outcome: str
) -> None:
    run = race.run("pair")
    race.rows("update qwf.jobs set options.max_attempts = 3")
    held = claim(race, 2)
    producer, worker = race.session(), race.session()
    opening, closing = (producer, worker) if first == "cancel" else (worker, producer)
    opening.begin()
    if first == "cancel":
        opening.rows("select qwf.cancel_run(%s)", run)
        assert finish(closing, held[0], outcome=outcome) == [("ok", True)]
        opening.commit()
    else:
        assert finish(opening, held[0], outcome=outcome) == [("ok", False)]
        closing.start("select qwf.cancel_run(%s)", run)
        closing.waits()
        opening.commit()
        closing.ends()
    race.settle()
    assert race.status(held[0].job) == "cancelled"
    assert finish(race, held[1], outcome=outcome) == [("ok", False)]
    race.settle()
    assert set(race.statuses(run).values()) == {"cancelled"}


@pytest.mark.parametrize("claim_commits", [True, False])
def test_cancel_run_while_a_claim_is_open(race: Race, claim_commits: bool) -> None:
    run = race.run("pair")
    race.rows("update qwf.runs set started_at = qwf.now(), status = 'running'")
    worker = race.session()
    worker.begin()
    (held,) = claim(worker)
    assert race.nonblocking().one("select qwf.cancel_run(%s)", run) is True
    race.healthy()
    if claim_commits:
        worker.commit()
        assert race.one(VERDICT, held.token) == "cancel"
        assert finish(race, held, outcome="cancelled") == [("ok", False)]
    else:
        worker.rollback()
    race.settle()
    assert set(race.statuses(run).values()) == {"cancelled"}


def test_a_claim_after_cancel_run_gets_nothing(race: Race) -> None:
    run = race.run("pair")
    producer = race.session()
    producer.begin()
    producer.rows("select qwf.cancel_run(%s)", run)
    assert claim(race.nonblocking(), 10) == []
    producer.commit()
    assert claim(race, 10) == []
    race.healthy()


def test_an_open_cancel_does_not_lock_jobs_claimed_meanwhile(race: Race) -> None:
    """cancel_run sees a queued node, a claim commits, and only then cancel_run takes its lock.

    A gate cannot be placed there, so 60 nodes are claimed one by one while the run is cancelled.
    """
    for _ in range(8):
        run = race.run("wide")
        finish(race, *claim(race))
        producer, claiming, worker = race.session(), race.session(), race.nonblocking()
        producer.begin()
        claiming.rows("create temp table held as select * from qwf.claim('cpu', 'w', 1)")
        claiming.start(
            "do $$begin for i in 1..60 loop"
            " insert into held select * from qwf.claim('cpu', 'w', 1); commit; end loop; end$$"
        )
        producer.rows("select qwf.cancel_run(%s)", run)
        claiming.ends()
        held = [Claim(r) for r in claiming.rows("select job_id, token::text, node_id from held")]
        tokens = [job.token for job in held]
        beat = "select verdict from qwf.heartbeat('w', %s::uuid[])"
        assert worker.rows(beat, tokens) == [("ok",)] * len(held)
        assert finish(worker, *held) == [("ok", True)] * len(held)
        producer.commit()
        race.settle()


def test_cancel_run_twice_at_once(race: Race) -> None:
    run = race.run("pair")
    first, second = race.session(), race.session()
    first.begin()
    assert first.one("select qwf.cancel_run(%s)", run) is True
    second.start("select qwf.cancel_run(%s)", run)
    second.waits()
    first.commit()
    assert second.ends() == [(False,)]
    assert race.one("select count(*) from _qwf.event_log where kind = 'cancelled'") == 1


@pytest.mark.parametrize("commits", [True, False])
@pytest.mark.parametrize("guarded", [True, False])
def test_cancel_run_while_a_promotion_is_open(race: Race, guarded: bool, commits: bool) -> None:
    run = race.run("guarded" if guarded else "pair", run_at="2100-01-01")
    race.rows("update qwf.jobs set run_at = qwf.now() - interval '1 s' where status = 'scheduled'")
    promoting = race.session()
    promoting.begin()
    assert promoting.one("select _qwf.promote_due()") > 0
    assert race.nonblocking().one("select qwf.cancel_run(%s)", run) is True
    race.healthy()
    promoting.commit() if commits else promoting.rollback()
    race.settle()
    assert set(race.statuses(run).values()) == {"cancelled"}


def test_a_promotion_after_cancel_run_does_nothing(race: Race) -> None:
    run = race.run("guarded", run_at="2100-01-01")
    race.rows("update qwf.jobs set run_at = qwf.now() - interval '1 s' where status = 'scheduled'")
    producer = race.session()
    producer.begin()
    producer.rows("select qwf.cancel_run(%s)", run)
    assert race.nonblocking().one("select _qwf.promote_due()") == 0
    producer.commit()
    race.settle()
    assert set(race.statuses(run).values()) == {"cancelled"}


# cancel_job


@pytest.mark.parametrize("claim_commits", [True, False])
def test_cancel_job_while_a_claim_is_open(race: Race, claim_commits: bool) -> None:
    job = race.one("select qwf.enqueue('t', queue => 'cpu')")
    worker = race.session()
    worker.begin()
    (held,) = claim(worker)
    assert race.nonblocking().one("select qwf.cancel_job(%s)", job) == "requested"
    if claim_commits:
        worker.commit()
        race.settle()
        assert race.one(VERDICT, held.token) == "cancel"
        assert race.one("select qwf.progress(%s, %s, 0.5)", job, held.token) == "cancel"
        assert finish(race, held, outcome="released") == [("ok", False)]
    else:
        worker.rollback()
        race.settle()
    assert race.status(job) == "cancelled"
    assert race.rows("select * from qwf.cancel_requests") == []


@pytest.mark.parametrize("outcome", ["completed", "error", "released", "cancelled"])
def test_cancel_job_before_the_finish(race: Race, outcome: str) -> None:
    """The request is not committed yet when the job ends or is released."""
    job = race.one("select qwf.enqueue('t', queue => 'cpu', max_attempts => 3)")
    (held,) = claim(race)
    producer = race.session()
    producer.begin()
    assert producer.one("select qwf.cancel_job(%s)", job) == "requested"
    assert finish(race.nonblocking(), held, outcome=outcome) == [("ok", False)]
    producer.commit()
    race.settle()
    assert race.status(job) == ("completed" if outcome == "completed" else "cancelled")
    assert race.rows("select * from qwf.cancel_requests") == []


@pytest.mark.parametrize("outcome", ["completed", "error", "released", "cancelled"])
def test_cancel_job_after_the_finish(race: Race, outcome: str) -> None:
    """The end of the job is not committed yet when someone cancels it."""
    job = race.one("select qwf.enqueue('t', queue => 'cpu', max_attempts => 3)")
    (held,) = claim(race)
    worker = race.session()
    worker.begin()
    assert finish(worker, held, outcome=outcome) == [("ok", False)]
    assert race.nonblocking().one("select qwf.cancel_job(%s)", job) == "requested"
    worker.commit()
    race.settle()
    assert race.status(job) == ("completed" if outcome == "completed" else "cancelled")
    assert race.rows("select * from qwf.cancel_requests") == []


def test_cancel_job_of_a_node_ends_its_run_whichever_session_settles_it(race: Race) -> None:
    run = race.run("pair")
    held = claim(race, 2)
    assert race.one("select qwf.cancel_job(%s)", held[0].job) == "requested"
    worker = race.session()
    worker.begin()
    finish(worker, held[1])  # holds the run
    assert finish(race, held[0], outcome="cancelled") == [("ok", True)]
    worker.commit()
    race.settle()
    assert race.run_status(run) == "cancelled"


def test_cancelling_a_node_of_a_locked_run_counts_correctly(race: Race) -> None:
    """A guarded node is being promoted when someone cancels it."""
    run = race.run("asked", run_at="2100-01-01")
    node = race.job(run, "ask")
    race.make_due(node)
    promoting, holder = race.session(), race.session()
    promoting.begin()
    promoting.one("select _qwf.promote_due()")
    assert race.nonblocking().one("select qwf.cancel_job(%s)", node) == "requested"
    promoting.commit()
    holder.begin()
    holder.rows("select from qwf.runs where id = %s for no key update", run)
    race.one("select qwf.tick()")
    race.healthy()
    holder.commit()
    race.settle()
    assert race.run_status(run) == "cancelled"
    assert set(race.statuses(run).values()) == {"cancelled"}


def test_a_request_that_is_settled_while_the_outbox_is_drained_is_not_lost(race: Race) -> None:
    """The drain has read the node, and opens it after it was cancelled."""
    run = race.run("asked_twice", run_at="2100-01-01")
    first, second = race.job(run, "ask"), race.job(run, "ask2")
    race.make_due(first, second)
    promoting, draining = race.session(), race.session()
    promoting.begin()
    promoting.one("select _qwf.promote_due()")
    assert race.nonblocking().one("select qwf.cancel_job(%s)", second) == "requested"
    promoting.commit()
    open_gate = race.gate("qwf.jobs", f"old.id = {first} and new.status = 'awaiting_input'")
    draining.start("select qwf.drain_outbox()")
    draining.waits()
    race.nonblocking().one("select qwf.tick()")
    open_gate()
    draining.ends()
    race.healthy()
    race.settle()
    assert race.run_status(run) == "cancelled"
    assert set(race.statuses(run).values()) == {"cancelled"}


def test_a_hanging_tick_that_read_a_request_does_not_block_the_worker(race: Race) -> None:
    job = race.one("select qwf.enqueue('t', queue => 'cpu')")
    worker, ticking = race.session(), race.session()
    worker.begin()
    (held,) = claim(worker)
    assert race.one("select qwf.cancel_job(%s)", job) == "requested"
    ticking.begin()
    ticking.one("select qwf.tick()")  # the job is locked: nothing to settle yet
    worker.commit()
    assert finish(race.nonblocking(), held) == [("ok", False)]
    ticking.commit()
    race.settle()
    assert race.rows("select * from qwf.cancel_requests") == []


def test_cancelling_a_run_reads_only_its_own_nodes(race: Race) -> None:
    """Hundreds of other jobs in the table do not make hundreds of calls."""

    def calls() -> int:
        run = race.run("diamond")
        race.begin()
        race.rows("set local track_functions = 'all'")
        race.rows("select qwf.cancel_run(%s)", run)
        made = race.one("select sum(calls)::int from pg_stat_xact_user_functions")
        race.commit()
        return int(made)

    calls()  # the first call of a session does more
    before = calls()
    race.rows("select qwf.enqueue('t', queue => 'cpu') from generate_series(1, 300)")
    assert calls() < before + 100


def test_a_request_for_a_job_that_leaves_no_row_is_forgotten(race: Race) -> None:
    race.rows("select qwf.create_queue('mail', keep_completed => false)")
    job = race.one("select qwf.enqueue('t', queue => 'mail')")
    (held,) = claim(race, queue="mail")
    producer = race.session()
    producer.begin()
    assert producer.one("select qwf.cancel_job(%s)", job) == "requested"
    assert finish(race.nonblocking(), held) == [("ok", False)]
    producer.commit()
    race.settle()
    assert race.rows("select job_id from qwf.cancel_requests") == []
    kinds = race.rows("select kind from _qwf.event_log order by id")
    assert kinds == [("queue_changed",), ("cancel_requested",)], "what was asked stays known"
