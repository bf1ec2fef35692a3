"""The notifications on channel qwf_events, and none while they are switched off."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.interleave import Race, Session, claim, finish

Event = dict[str, Any]
ON = "update qwf.settings set notify_events = true"


@pytest.fixture
def listener(race: Race) -> Session:
    """A session that listens, with events switched on."""
    race.rows(ON)
    session = race.session()
    session.rows("listen qwf_events")
    return session


def heard(session: Session) -> list[Event]:
    """Events received so far; the round trip fetches those sent before it."""
    session.rows("select 1")
    return [json.loads(n.payload) for n in session.conn.notifies(timeout=0)]


def names(session: Session) -> list[str]:
    return [event["event"] for event in heard(session)]


def test_nothing_is_sent_unless_switched_on(race: Race, listener: Session) -> None:
    race.rows("update qwf.settings set notify_events = false")
    race.run("asked")
    race.run("single")
    finish(race, *claim(race), outcome="fatal")
    assert heard(listener) == []


def test_the_end_of_a_run_is_sent(race: Race, listener: Session) -> None:
    run = race.run("single", project="p")
    assert heard(listener) == []
    finish(race, *claim(race))
    assert heard(listener) == [
        {
            "event": "run_ended", "run_id": run, "workflow": "single", "project": "p",
            "status": "completed",
        }
    ]  # fmt: skip


def test_a_failed_job_is_sent_with_its_error_and_then_its_run(
    race: Race, listener: Session
) -> None:
    run = race.run("single")
    held = claim(race)
    finish(race, *held, outcome="fatal", error="boom\nTraceback")
    assert heard(listener) == [
        {
            "event": "job_failed", "job_id": held[0].job, "run_id": run, "node_id": "single/a",
            "task": "work", "queue": "cpu", "project": "", "error": "boom",
        },
        {
            "event": "run_ended", "run_id": run, "workflow": "single", "project": "",
            "status": "failed", "error": "single/a failed: boom",
        },
    ]  # fmt: skip


def test_a_question_is_sent_when_it_is_asked(race: Race, listener: Session) -> None:
    run = race.run("asked_later")
    assert heard(listener) == []
    finish(race, *claim(race))
    (asked,) = heard(listener)
    assert (asked["event"], asked["run_id"], asked["node_id"]) == ("input_asked", run, "ask")
    assert asked["prompt"] == "What?"


def test_a_failure_that_asks_is_a_question(race: Race, listener: Session) -> None:
    job = race.one("select qwf.enqueue('a', queue => 'cpu', on_failure => 'ask')")
    finish(race, *claim(race), outcome="fatal", error="boom")
    (asked,) = heard(listener)
    assert (asked["event"], asked["job_id"], asked["error"]) == ("input_asked", job, "boom")
    race.rows("select qwf.answer_job(%s, '\"abort\"')", job)
    assert names(listener) == ["job_failed"]


def test_a_scheduled_retry_is_not_a_failure(race: Race, listener: Session) -> None:
    race.rows("select qwf.enqueue('a', queue => 'cpu', max_attempts => 2)")
    finish(race, *claim(race), outcome="error")
    assert heard(listener) == []


@pytest.mark.parametrize("call", ["select qwf.cancel_run(%s)", "select qwf.cancel_run(%s, 'no')"])
def test_a_cancelled_run_has_ended(race: Race, listener: Session, call: str) -> None:
    race.rows(call, race.run("asked"))
    assert names(listener) == ["input_asked", "run_ended"]


def test_elements_that_fail_from_the_start_are_sent(race: Race, listener: Session) -> None:
    race.rows(
        "select qwf.register_pipeline(%s)",
        json.dumps(
            {
                "name": "p",
                "nodes": [
                    {
                        "id": "m", "node": "work", "map": [{"x": 1}, {}], "min_success": 1,
                        "inputs": {"x": {"$from": "item.x"}},
                    }
                ],
            }
        ),
    )  # fmt: skip
    race.rows(
        "select qwf.register_workflow(%s)",
        json.dumps(
            {"name": "w", "steps": [{"id": "s", "kind": "pipeline", "pipeline": "p"}]}
        ),
    )  # fmt: skip
    race.rows("select qwf.enqueue_run('w')")
    (failed,) = heard(listener)
    assert (failed["event"], failed["node_id"]) == ("job_failed", "s/m[1]")


def test_an_end_is_sent_at_commit(race: Race, listener: Session) -> None:
    race.run("single")
    worker = race.session()
    worker.begin()
    finish(worker, *claim(worker))
    assert heard(listener) == []
    worker.rollback()
    assert heard(listener) == []
    finish(race, *claim(race))
    assert names(listener) == ["run_ended"]


def test_a_workflow_without_nodes_ends_at_once(race: Race, listener: Session) -> None:
    race.rows('select qwf.register_workflow(\'{"name": "empty", "steps": []}\')')
    race.rows("select qwf.enqueue_run('empty')")
    assert names(listener) == ["run_ended"]


def test_an_error_of_any_length_fits(race: Race, listener: Session) -> None:
    race.run("single")
    finish(race, *claim(race), outcome="fatal", error="\u00fc" * 100_000)
    job, run = [event["error"] for event in heard(listener)]
    assert len(job) == 500
    assert run.endswith(" failed: " + "\u00fc" * 200)  # the node, and the line that tells most
