"""The locked version of a row is updated, whatever changes it before, between or after."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from support.interleave import FINISH, GATE, Claim, Race, Session, claim, finish, reports

ABLE = """
create or replace function _qwf.can_run(p_job qwf.jobs, p_worker qwf.workers) returns boolean
language plpgsql as $$
begin
  if p_job.task = 'gate' then
    perform pg_catalog.pg_advisory_xact_lock_shared({gate});
  end if;
  return true;
end $$
"""
WALKS = {  # properties of the job and of the worker that select each walk
    "next": ("run_next = false", {}),
    "newest": ("run_next = false", {"rank": -1}),
    "warm": ("required_model = 'm'", {"models": ["m"], "current_model": "m"}),
    "light": ("light = true", {}),
    "limited": ("limit_by = 'l'", {}),
    "limited_light": ("limit_by = 'l', light = true", {}),
}


def walk_gate(race: Race) -> Callable[[], None]:
    """Make a claim wait at the job 'gate', after its snapshot and before it reads later jobs."""
    race.rows(ABLE.format(gate=GATE))
    keeper = race.session()
    keeper.rows("select pg_advisory_lock(%s)", GATE)
    return lambda: keeper.rows("select pg_advisory_unlock(%s)", GATE) and None


def two_behind_each_other(race: Race, walk: str) -> tuple[Session, int, Callable[[], None]]:
    """Start a claim that waits at the first of two jobs; its session, the second job, the gate."""
    race.rows("select qwf.create_limit('l', 5)")
    terms, info = WALKS[walk]
    worker = race.one("select qwf.register_worker('h', 'cpu', %s)", json.dumps(info))
    tasks = ["a", "gate"] if walk == "newest" else ["gate", "a"]
    race.rows("select qwf.enqueue(t, queue => 'cpu') from unnest(%s::text[]) t", tasks)
    race.rows(f"update qwf.jobs set {terms}")
    open_gate = walk_gate(race)
    session = race.session()
    session.begin()
    session.start(
        "select job_id, token::text, task from qwf.claim('cpu', %s, 10, null, %s)",
        worker,
        "light" in walk,
    )
    session.waits()
    return session, race.one("select id from qwf.jobs where task = 'a'"), open_gate


@pytest.mark.parametrize("walk", WALKS)
def test_a_job_that_changed_since_the_snapshot_is_claimed_as_it_is_now(
    race: Race, walk: str
) -> None:
    worker, job, open_gate = two_behind_each_other(race, walk)
    for priority in (90, 110, 120):
        race.rows("select qwf.change_job(%s, priority => %s)", job, priority)
    open_gate()
    claimed = [Claim(row) for row in worker.ends()]
    assert sorted(c.name for c in claimed) == ["a", "gate"]
    assert finish(worker, *claimed) == [("ok", False)] * 2
    worker.commit()
    assert race.one("select priority from qwf.jobs where id = %s", job) == 120
    race.healthy()


@pytest.mark.parametrize("walk", WALKS)
def test_a_job_cancelled_since_the_snapshot_is_skipped(race: Race, walk: str) -> None:
    worker, job, open_gate = two_behind_each_other(race, walk)
    assert race.one("select qwf.cancel_job(%s)", job) == "cancelled"
    open_gate()
    assert [row[2] for row in worker.ends()] == ["gate"]
    worker.commit()
    assert race.status(job) == "cancelled"
    race.healthy()


def test_a_job_is_reported_after_each_kind_of_savepoint_rollback(race: Race) -> None:
    run = race.run("chain")
    race.begin()
    for _ in range(3):
        (held,) = claim(race)
        race.rows("savepoint before")
        race.rows("select qwf.progress(%s, %s, 0.5)", held.job, held.token)
        assert finish(race, held) == [("ok", False)]
        race.rows("rollback to before")
        race.rows("select * from qwf.heartbeat('w', %s::uuid[])", [held.token])
        assert finish(race, held) == [("ok", False)]
    race.commit()
    assert race.run_status(run) == "completed"
    race.healthy()


@pytest.mark.parametrize("isolation", ["read committed", "repeatable read", "serializable"])
def test_jobs_are_claimed_and_reported_in_one_statement(race: Race, isolation: str) -> None:
    runs = [race.run("chain") for _ in range(3)]
    race.begin(isolation)
    for _ in range(3):
        assert (
            race.rows(
                "select qwf.finish(c.job_id, c.token, 'completed', '{\"y\": 1}')"
                " from qwf.claim('cpu', 'w', 10) c"
            )
            == [("ok",)] * 3
        )
    race.commit()
    assert {race.run_status(run) for run in runs} == {"completed"}
    race.healthy()


def test_a_batch_of_every_outcome_for_free_locked_and_cancelled_runs(race: Race) -> None:
    runs = [race.run("fanin") for _ in range(20)]
    for how in ("fail", "ask"):
        race.rows("select qwf.enqueue('t', queue => 'cpu', on_failure => %s)"
                  " from generate_series(1, 30)", how)  # fmt: skip
    held = claim(race, 200)
    other = race.session()
    other.begin()
    other.rows("select from qwf.runs where id = any (%s) for no key update", runs[:5])
    race.rows("select qwf.cancel_run(%s)", runs[7])
    race.rows("select qwf.cancel_job(%s)", held[-1].job)
    outcomes = ["completed", "error", "lost", "released", "fatal", "tempfail", "cancelled"]
    batch = [
        report
        for i, c in enumerate(held)
        for report in json.loads(reports(c, outcome=outcomes[i % 7], error=None if i % 5 else "e"))
    ]
    batch += [
        {**batch[0], "token": None},
        {**batch[0], "token": "00000000-0000-0000-0000-000000000000"},
        {**batch[0], "job_id": 0},
        batch[3],
        {**batch[4], "outcome": "error", "error": "other"},
    ]
    verdicts = [v for v, _ in race.rows(FINISH, json.dumps(batch))]
    assert verdicts == ["ok"] * len(held) + ["lost", "lost", "lost", "ok", "lost"]
    race.healthy()
    other.commit()
    race.settle()
    race.complete_all()
    assert race.one("select count(*) from qwf.jobs where status = 'queued'") == 0


@pytest.mark.parametrize("on_failure", ["fail", "continue", "ask"])
@pytest.mark.parametrize("beside", ["nobody", "a lock on the run", "cancel_run"])
def test_a_node_that_cannot_start_is_refused_whatever_happens_to_its_run(
    race: Race, beside: str, on_failure: str
) -> None:
    nodes = [
        {"id": "a", "node": "work"},
        {"id": "b", "node": "work", "depends_on": ["a"], "on_failure": on_failure,
         "inputs": {"x": {"$from": "a.gone"}}},
        {"id": "c", "node": "work", "depends_on": ["a"]},
    ]  # fmt: skip
    race.rows("select qwf.register_pipeline(%s)", json.dumps({"name": "p", "nodes": nodes}))
    steps = [{"id": "p", "kind": "pipeline", "pipeline": "p"}]
    race.rows("select qwf.register_workflow(%s)", json.dumps({"name": "w", "steps": steps}))
    run = race.one("select qwf.enqueue_run('w')")
    (first,) = claim(race)
    finish(race, first)
    refused = race.job(run, "p/b")
    open_gate = race.gate("qwf.jobs", f"old.id = {refused} and new.claimed_by is not null")
    other = race.session()
    if beside == "a lock on the run":
        other.begin()
        other.rows("select from qwf.runs for no key update")
    worker = race.session()
    worker.start("select job_id, token::text, node_id from qwf.claim('cpu', 'w', 10)")
    worker.waits()
    if beside == "cancel_run":
        race.rows("select qwf.cancel_run(%s)", run)
    open_gate()
    claimed = [Claim(row) for row in worker.ends()]
    assert [c.name for c in claimed] == ["p/c"]
    race.healthy()
    if beside == "a lock on the run":
        other.commit()
    finish(race, *claimed)
    race.settle()
    ends = {"fail": "failed", "continue": "completed", "ask": "awaiting_input"}
    assert race.run_status(run) == ("cancelled" if beside == "cancel_run" else ends[on_failure])
