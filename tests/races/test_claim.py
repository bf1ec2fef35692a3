"""Claims against each other, against cancelling, and against killed sessions."""

from __future__ import annotations

import pytest

from support.interleave import Race, claim, finish

RUNNING = "select count(*) from qwf.jobs where status = 'running'"


def test_two_claims_share_the_queue_without_waiting(race: Race) -> None:
    race.rows("select qwf.enqueue('t', queue => 'cpu') from generate_series(1, 4)")
    first, second = race.session(), race.nonblocking()
    first.begin()
    taken = claim(first, 2)
    others = claim(second, 10)
    first.commit()
    assert len(taken) == len(others) == 2
    assert {c.job for c in taken}.isdisjoint(c.job for c in others)
    assert finish(race, *taken, *others) == [("ok", False)] * 4
    race.healthy()


def test_an_uncommitted_claim_leaves_nothing(race: Race) -> None:
    run = race.run("chain")
    worker = race.session()
    worker.begin()
    assert claim(worker)
    worker.rollback()
    assert race.statuses(run) == {"chain/a": "queued", "chain/b": "blocked", "chain/c": "blocked"}
    assert race.run_status(run) == "queued"
    assert race.rows("select * from qwf.job_attempts") == []
    race.complete_all()
    assert race.run_status(run) == "completed"
    assert race.one("select max(attempt) from qwf.jobs") == 1


def test_a_worker_killed_before_its_claim_commits_held_nothing(race: Race) -> None:
    run = race.run("chain")
    worker = race.session()
    worker.begin()
    assert claim(worker)
    worker.kill()
    assert [c.name for c in claim(race)] == ["chain/a"]
    assert race.one("select max(attempt) from qwf.jobs where run_id = %s", run) == 1


def test_a_claim_killed_in_the_middle_of_its_statement_held_nothing(race: Race) -> None:
    run = race.run("pair")
    second = race.job(run, "pair/b")
    race.gate("qwf.jobs", f"old.id = {second} and new.status = 'running'")
    worker = race.session()
    worker.start("select * from qwf.claim('cpu', 'w', 2)")
    worker.waits()
    assert claim(race.nonblocking(), 2) == []
    worker.kill()
    assert race.statuses(run) == {"pair/a": "queued", "pair/b": "queued"}
    race.healthy()


def test_a_claim_skips_what_an_open_transaction_cancels(race: Race) -> None:
    kept = race.one("select qwf.enqueue('t', queue => 'cpu', priority => 200)")
    gone = race.one("select qwf.enqueue('t', queue => 'cpu')")
    producer, worker = race.session(), race.nonblocking()
    producer.begin()
    assert producer.one("select qwf.cancel_job(%s)", gone) == "cancelled"
    assert [c.job for c in claim(worker, 5)] == [kept]
    producer.rollback()
    assert [c.job for c in claim(worker, 5)] == [gone]


def test_a_claim_during_which_a_run_is_cancelled_hands_out_the_rest(race: Race) -> None:
    """The run is over when the claim wants to mark it as started."""
    run = race.run("pair")
    other = race.one("select qwf.enqueue('t', queue => 'cpu')")
    open_gate = race.gate("qwf.jobs", f"old.id = {other} and new.status = 'running'")
    worker = race.session()
    worker.start("select job_id from qwf.claim('cpu', 'w', 10)")
    worker.waits()
    assert race.one("select qwf.cancel_run(%s)", run) is True
    open_gate()
    assert (other,) in worker.ends()
    assert race.run_status(run) == "cancelled"
    race.settle()


def test_a_claim_survives_a_node_left_over_from_a_cancelled_run(
    race: Race,
) -> None:
    """A node locked when its run was cancelled stays queued until the outbox is drained."""
    run = race.run("pair")
    other = race.one("select qwf.enqueue('t', queue => 'cpu')")
    holder, dying = race.session(), race.session()
    holder.begin()
    holder.rows("select qwf.cancel_run(%s)", run)
    holder.rows("savepoint it_will_not_happen")
    holder.rollback()
    holder.begin()
    holder.rows("select from qwf.runs where id = %s for no key update", run)
    dying.begin()
    assert len(claim(dying, 2)) == 2
    holder.rollback()
    race.nonblocking().rows("select qwf.cancel_run(%s)", run)
    dying.kill()
    assert other in {c.job for c in claim(race, 10)}
    race.settle()
    assert race.run_status(run) == "cancelled"


@pytest.mark.parametrize("first", ["claim", "deregister"])
def test_a_job_claimed_while_its_worker_deregisters_is_released(race: Race, first: str) -> None:
    worker = race.one("select qwf.register_worker('box', 'cpu')")
    job = race.one("select qwf.enqueue('t', queue => 'cpu')")
    claiming = race.session()
    if first == "claim":
        claiming.begin()
        assert claim(claiming, worker=worker)
        race.nonblocking().rows("select qwf.deregister_worker(%s)", worker)
        claiming.commit()
    else:
        race.rows("select qwf.deregister_worker(%s)", worker)
        assert claim(claiming, worker=worker)
    assert race.one(RUNNING) == 1
    race.expire_leases(job)
    race.settle()
    assert race.status(job) == "queued"
    assert race.one("select losses from qwf.jobs") == 1
