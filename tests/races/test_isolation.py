"""Callers in repeatable read or serializable may get 40001, but nothing is lost."""

from __future__ import annotations

import psycopg
import pytest

from support.interleave import FINISH, Race, Session, claim, finish, reports

STRICT = pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])


def old_snapshot(race: Race, isolation: str) -> Session:
    """A session whose transaction keeps seeing the database as it is now."""
    session = race.session()
    session.begin(isolation)
    session.rows("select count(*) from qwf.jobs")
    return session


@STRICT
@pytest.mark.parametrize("outcome", ["released", "lost", "tempfail"])
def test_a_run_cancelled_from_an_old_snapshot_keeps_no_node(
    race: Race, isolation: str, outcome: str
) -> None:
    """The snapshot shows a node as running that was released since."""
    run = race.run("pair")
    held = claim(race, 2)
    producer = old_snapshot(race, isolation)
    assert finish(race, held[0], outcome=outcome) == [("ok", False)]
    try:
        producer.rows("select qwf.cancel_run(%s)", run)
        producer.commit()
    except psycopg.errors.SerializationFailure:
        producer.rollback()
        race.rows("select qwf.cancel_run(%s)", run)
    race.settle()
    assert race.status(held[0].job) == "cancelled"
    assert finish(race, held[1], outcome="cancelled") == [("ok", False)]
    race.healthy()


@STRICT
def test_a_run_that_fails_from_an_old_snapshot_keeps_no_node(race: Race, isolation: str) -> None:
    run = race.run("pair")
    held = claim(race, 2)
    worker = old_snapshot(race, isolation)
    assert finish(race, held[0], outcome="released") == [("ok", False)]
    try:
        finish(worker, held[1], outcome="fatal")
        worker.commit()
    except psycopg.errors.SerializationFailure:
        worker.rollback()
        finish(race, held[1], outcome="fatal")
    race.settle()
    assert race.run_status(run) == "failed"
    assert race.status(held[0].job) == "cancelled"


@STRICT
def test_a_run_stopped_in_strict_sessions_leaves_no_events(race: Race, isolation: str) -> None:
    """Later ticks do not read it again forever."""
    run = race.run("pair")
    agent = race.session(default_transaction_isolation=isolation)
    held = claim(agent)
    agent.rows("select qwf.cancel_run(%s)", run)
    agent.rows("select qwf.tick()")
    assert race.rows("select kind from qwf.outbox") == [("stop",)]  # its body still runs
    finish(agent, *held, outcome="cancelled")
    agent.rows("select qwf.tick()")
    assert race.rows("select kind from qwf.outbox") == []
    race.healthy()


@STRICT
def test_siblings_that_finish_from_old_snapshots_open_the_fan_in(
    race: Race, isolation: str
) -> None:
    run = race.run("fanin")
    held = claim(race, 2)
    one, other = old_snapshot(race, isolation), old_snapshot(race, isolation)
    for session, job in ((one, held[0]), (other, held[1])):
        try:
            finish(session, job)
            session.commit()
        except psycopg.errors.SerializationFailure:
            session.rollback()
            assert finish(race, job)[0][0] == "ok"
        race.healthy()
    race.settle()
    assert race.statuses(run)["fanin/c"] == "queued"


@STRICT
def test_a_stale_token_from_an_old_snapshot_changes_nothing(race: Race, isolation: str) -> None:
    job = race.one("select qwf.enqueue('t', queue => 'cpu')")
    (held,) = claim(race)
    zombie = old_snapshot(race, isolation)
    race.expire_leases(job)
    race.settle()
    (heir,) = claim(race)
    with pytest.raises(psycopg.errors.SerializationFailure):
        finish(zombie, held)
    zombie.rollback()
    assert finish(race, held) == [("lost", False)]
    assert finish(race, heir) == [("ok", False)]
    race.healthy()


@STRICT
def test_two_claims_from_old_snapshots_share_nothing(race: Race, isolation: str) -> None:
    race.rows("select qwf.enqueue('t', queue => 'cpu')")
    late = old_snapshot(race, isolation)
    assert len(claim(race)) == 1
    try:
        assert claim(late) == []
    except psycopg.errors.SerializationFailure:
        late.rollback()
    assert race.one("select attempt from qwf.jobs") == 1


@STRICT
@pytest.mark.parametrize("call", ["drain_outbox()", "tick()"])
def test_a_drain_from_an_old_snapshot_loses_no_event(race: Race, isolation: str, call: str) -> None:
    run = race.run("diamond")
    holder = race.session()
    holder.begin()
    holder.rows("select from qwf.runs where id = %s for no key update", run)
    assert finish(race, *claim(race)) == [("ok", True)]
    holder.rollback()
    late = old_snapshot(race, isolation)
    race.settle()
    assert finish(race, *claim(race)) == [("ok", False)]
    try:
        late.rows(f"select qwf.{call}")
        late.commit()
    except psycopg.errors.SerializationFailure:
        late.rollback()
    race.healthy()
    race.complete_all()
    assert race.run_status(run) == "completed"
    assert race.rows("select * from qwf.outbox") == []


@STRICT
@pytest.mark.parametrize("workflow", ["asked", "asked_twice"])
def test_an_answer_from_an_old_snapshot(race: Race, isolation: str, workflow: str) -> None:
    run = race.run(workflow)
    late = old_snapshot(race, isolation)
    answer = "select qwf.submit_input(%s, 'ask', '\"x\"')"
    if workflow == "asked_twice":
        race.rows("select qwf.submit_input(%s, 'ask2', '\"x\"')", run)
    else:
        race.rows(answer, run)
    with pytest.raises(psycopg.errors.SerializationFailure):
        late.rows(answer, run)
    late.rollback()
    if workflow == "asked_twice":
        race.rows(answer, run)
    race.complete_all()
    assert race.run_status(run) == "completed"


@STRICT
def test_a_key_taken_since_an_old_snapshot_is_not_taken_twice(race: Race, isolation: str) -> None:
    late = old_snapshot(race, isolation)
    first = race.one("select qwf.enqueue('t', key => 'k')")
    try:
        assert late.one("select qwf.enqueue('t', key => 'k')") == first
    except psycopg.errors.SerializationFailure:
        late.rollback()
    assert race.one("select count(*) from qwf.jobs") == 1


@STRICT
def test_all_work_in_strict_sessions_ends(race: Race, isolation: str) -> None:
    """The calls of an agent, in the isolation that a cautious administrator made the default."""
    runs = [race.run("diamond") for _ in range(3)]
    agent = race.session(default_transaction_isolation=isolation)
    for _ in range(20):
        agent.rows("select qwf.tick()")
        if held := claim(agent, 4):
            agent.rows(FINISH, reports(*held))
        race.healthy()
    assert [race.run_status(run) for run in runs] == ["completed"] * 3


@STRICT
@pytest.mark.parametrize("same", [True, False], ids=["the same", "another"])
@pytest.mark.parametrize("registered", [True, False], ids=["known", "new"])
def test_a_definition_registered_from_an_old_snapshot_must_be_retried(
    race: Race, isolation: str, same: bool, registered: bool
) -> None:
    """Unless the snapshot shows the same definition, which keeps its version."""
    pipeline = "select qwf.register_pipeline(%s)"
    workflow = "select qwf.register_workflow(%s)"
    definitions = [
        (pipeline, '{"name": "p", "nodes": [{"id": "%s"}]}'),
        (workflow, '{"name": "w", "steps": [{"id": "%s", "kind": "input", "widget": "json"}]}'),
    ]
    for register, text in definitions:
        if registered:
            race.rows(register, text % "zero")
        late = old_snapshot(race, isolation)
        assert race.one(register, text % "one") == (2 if registered else 1)
        with pytest.raises(psycopg.errors.SerializationFailure):
            late.rows(register, text % ("one" if same else "two"))
        late.rollback()
        assert race.one(register, text % ("one" if same else "two")) == 1 + registered + (not same)
