"""One call that reports and claims, against other sessions: both parts hold, or neither."""

from __future__ import annotations

import pytest

from support.interleave import Race, Row, Session, claim, finish, reports

QUERY = (
    "select coalesce(j.node_id, j.task), c.verdict, c.pending"
    " from qwf.finish_and_claim(%s, 'cpu', %s, %s) c join qwf.jobs j on j.id = c.job_id"
)


def hop(session: Session, *held: object, worker: str = "w", max_jobs: int = 1) -> list[Row]:
    """Name, verdict and pending of each row: answers first, then jobs."""
    return session.rows(QUERY, reports(*held), worker, max_jobs)  # type: ignore[arg-type]


def test_nobody_else_can_claim_the_node_that_it_opens(race: Race) -> None:
    run = race.run("chain")
    (a,) = claim(race)
    worker = race.session()
    worker.begin()
    assert hop(worker, a) == [("chain/a", "ok", False), ("chain/b", None, None)]
    assert claim(race.nonblocking(), 5) == []
    worker.commit()
    assert claim(race, 5) == []
    assert race.status(race.job(run, "chain/b")) == "running"
    race.healthy()


def test_a_session_killed_before_the_commit_leaves_both_undone(race: Race) -> None:
    run = race.run("chain")
    (a,) = claim(race)
    worker = race.session()
    worker.begin()
    hop(worker, a)
    worker.kill()
    assert race.status(race.job(run, "chain/a")) == "running"
    assert race.status(race.job(run, "chain/b")) == "blocked"
    assert hop(race, a) == [("chain/a", "ok", False), ("chain/b", None, None)]
    race.healthy()


def test_a_call_whose_answer_was_lost_can_be_repeated(race: Race) -> None:
    run = race.run("chain")
    (a,) = claim(race)
    hop(race, a)
    assert hop(race, a) == [("chain/a", "ok", False)], "b is held, by a claim nobody knows of"
    race.expire_leases(race.job(run, "chain/b"))
    race.settle()
    assert [b.name for b in claim(race)] == ["chain/b"]
    race.healthy()


def test_two_parents_of_one_node_end_at_once(race: Race) -> None:
    race.run("fanin")
    a, b = claim(race, 2)
    one = race.session()
    one.begin()
    assert hop(one, a) == [("fanin/a", "ok", False)]
    assert hop(race.nonblocking(), b) == [("fanin/b", "ok", True)], "the first holds the run"
    one.commit()
    assert race.one("select qwf.drain_outbox()") == 1
    assert hop(race) == [("fanin/c", None, None)]
    race.healthy()


def test_a_stale_report_is_answered_lost_and_the_job_may_be_handed_out(race: Race) -> None:
    job = race.one("select qwf.enqueue('t', queue => 'cpu')")
    (zombie,) = claim(race, worker="zombie")
    race.expire_leases(job)
    engine, worker = race.session(), race.session()
    engine.begin()
    assert engine.rows("select _qwf.reclaim()") == [(job,)]
    worker.start(QUERY, reports(zombie), "heir", 1)
    worker.waits()
    engine.commit()
    assert worker.ends() == [("t", "lost", False), ("t", None, None)]
    assert race.rows("select status::text, claimed_by from qwf.jobs") == [("running", "heir")]
    assert finish(race, zombie) == [("lost", False)]
    race.healthy()


@pytest.mark.parametrize("isolation", ["read committed", "repeatable read"])
def test_it_works_at_each_isolation(race: Race, isolation: str) -> None:
    race.run("chain")
    (a,) = claim(race)
    worker = race.session()
    worker.begin(isolation)
    assert hop(worker, a) == [("chain/a", "ok", False), ("chain/b", None, None)]
    worker.commit()
    race.healthy()
