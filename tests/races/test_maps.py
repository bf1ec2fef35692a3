"""Elements of a map against each other, the end of their map, and its run."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import psycopg
import pytest

from support.interleave import FINISH, Claim, Race, Session, claim, finish, map_run, reports

OUTCOMES = ["completed", "error", "fatal", "tempfail", "lost", "released", "cancelled"]
VERDICT = "select verdict from qwf.heartbeat('w', array[%s]::uuid[])"


def elements(race: Race, run: int) -> Counter[str]:
    """The number of elements of the run's map in each state."""
    rows = race.rows("select status from qwf.jobs where run_id = %s and parent_id is not null", run)
    return Counter(status for (status,) in rows)


def by_name(claims: list[Claim]) -> dict[str, Claim]:
    return {c.name: c for c in claims}


def report_cancelled(race: Race, *held: Claim) -> None:
    """Report running elements as cancelled, as a worker does when it is told to stop."""
    live = [c for c in held if race.status(c.job) == "running"]
    assert [race.one(VERDICT, c.token) for c in live] == ["cancel"] * len(live)
    finish(race, *live, outcome="cancelled")
    race.settle()


# two elements at once


@pytest.mark.parametrize("commits", [True, False])
def test_two_elements_that_finish_concurrently_both_count(race: Race, commits: bool) -> None:
    run = map_run(race, 2)
    one, other = claim(race, 2)
    first = race.session()
    first.begin()
    assert finish(first, one) == [("ok", False)]
    assert finish(race.nonblocking(), other) == [("ok", True)]
    race.healthy()
    first.commit() if commits else first.rollback()
    race.settle()
    if not commits:
        assert race.statuses(run)["s/m"] == "blocked"
        finish(race, one)
    assert race.statuses(run)["s/m"] == "completed"
    ((inputs,),) = race.rows("select inputs from qwf.claim('cpu', 'w')")
    assert inputs == {"all": [{"y": 1}, {"y": 1}]}


@pytest.mark.parametrize("limit", [1, 3])
def test_max_parallel_holds_however_the_ends_are_applied(race: Race, limit: int) -> None:
    """Half of the ends wait in the outbox and are applied with a later one."""
    run = map_run(race, 7, max_parallel=limit)
    holder = race.session()
    while (open_ := elements(race, run))["queued"]:
        assert open_["queued"] + open_["running"] <= limit
        held = claim(race, 10)
        assert len(held) <= limit
        holder.begin()
        holder.rows("select from qwf.runs where id = %s for no key update", run)
        finish(race, *held[::2])
        assert elements(race, run)["queued"] == 0
        holder.rollback()
        finish(race, *held[1::2])
        race.settle()
    assert elements(race, run) == {"completed": 7}
    race.complete_all()
    assert race.run_status(run) == "completed"


def test_a_released_element_keeps_its_slot(race: Race) -> None:
    run = map_run(race, 3, max_parallel=1, retry={"max_attempts": 3})
    (held,) = claim(race, 10)
    for outcome in ("released", "lost", "tempfail"):
        assert finish(race, held, outcome=outcome) == [("ok", False)]
        race.settle()
        assert elements(race, run)["blocked"] == 2
        race.make_due(held.job)
        race.settle()
        (again,) = claim(race, 10)
        assert again.job == held.job
        assert finish(race, held) == [("lost", False)]
        held = again
    assert finish(race, held) == [("ok", False)]
    race.complete_all()
    assert race.run_status(run) == "completed"


# the end of the map


@pytest.mark.parametrize("policy", ["fail", "continue"])
@pytest.mark.parametrize("first", ["the failure", "the other"])
def test_an_element_that_ends_as_its_map_fails(race: Race, policy: str, first: str) -> None:
    """Neither waits for the other, and nothing of the map remains, in any order of commits."""
    worker, nonblocking = race.session(), race.nonblocking()
    for outcome in OUTCOMES:
        run = map_run(race, 4, on_failure=policy, max_parallel=2, retry={"max_attempts": 3})
        bad, other = claim(race, 2)
        opening, closing = (bad, "fatal"), (other, outcome)
        if first == "the other":
            opening, closing = closing, opening
        worker.begin()
        assert finish(worker, opening[0], outcome=opening[1]) == [("ok", False)]
        assert finish(nonblocking, closing[0], outcome=closing[1]) == [("ok", True)]
        race.healthy()
        worker.commit()
        race.settle()
        report_cancelled(race, *claim(race, 10)) if policy == "fail" else race.complete_all()
        assert elements(race, run).keys() <= {"completed", "failed", "cancelled"}
        assert race.statuses(run)["s/m"] == "failed"
        assert race.run_status(run) == ("failed" if policy == "fail" else "completed")


def test_an_element_that_ends_after_its_map(race: Race) -> None:
    for outcome in OUTCOMES:
        run = map_run(race, 2, on_failure="continue", retry={"max_attempts": 3})
        bad, late = claim(race, 2)
        finish(race, bad, outcome="fatal")
        assert race.statuses(run)["s/m"] == "failed"
        assert race.one(VERDICT, late.token) == "cancel"
        race.healthy()
        assert finish(race, late, outcome=outcome) == [("ok", False)]
        race.healthy()
        assert race.status(late.job) == ("completed" if outcome == "completed" else "cancelled")
        race.complete_all()
        assert race.run_status(run) == "completed"
        assert race.one("select failed_nodes from qwf.runs where id = %s", run) == 1


def test_an_element_claimed_as_its_map_fails_is_told_to_stop(race: Race) -> None:
    """The failure does not wait for the claim, and the worker keeps what it claimed."""
    run = map_run(race, 3)
    (bad,) = claim(race)
    claiming = race.session()
    claiming.begin()
    (taken,) = claim(claiming)
    assert finish(race.nonblocking(), bad, outcome="fatal") == [("ok", False)]
    race.healthy()
    claiming.commit()
    race.settle()
    assert race.run_status(run) == "failed"
    report_cancelled(race, taken)
    assert elements(race, run) == {"failed": 1, "cancelled": 2}


def test_a_killed_failure_leaves_the_map_unchanged(race: Race) -> None:
    run = map_run(race, 3)
    held = claim(race, 3)
    worker = race.session()
    worker.begin()
    finish(worker, held[0], outcome="fatal")
    worker.kill()
    race.healthy()
    finish(race, *held)
    race.complete_all()
    assert race.run_status(run) == "completed"


# a person decides about an element


def asking(race: Race) -> tuple[int, Claim]:
    """A run with one element that waits for a decision and one that runs."""
    run = map_run(race, 3, on_failure="ask", max_parallel=2)
    bad, other = claim(race, 2)
    assert finish(race, bad, outcome="fatal") == [("ok", False)]
    assert race.status(bad.job) == "awaiting_input"
    assert elements(race, run)["blocked"] == 1
    return run, other


DECIDE = "select qwf.submit_input(%s, 's/m[0]', %s)"


@pytest.mark.parametrize("first", ["the answer", "the finish"])
def test_a_decision_and_the_finish_of_another_element_at_once(race: Race, first: str) -> None:
    opening, closing = race.session(), race.session(lock_timeout="5s")
    for answer in ("retry", "skip", "abort"):
        run, other = asking(race)
        opening.begin()
        if first == "the answer":
            opening.rows(DECIDE, run, json.dumps(answer))
            assert finish(closing, other) == [("ok", True)]
            race.healthy()
            opening.commit()
        else:
            assert finish(opening, other) == [("ok", False)]
            closing.start(DECIDE, run, json.dumps(answer))
            closing.waits()
            opening.commit()
            closing.ends()
        race.settle()
        assert elements(race, run)["queued"] <= 2
        race.complete_all()
        assert race.run_status(run) == ("failed" if answer == "abort" else "completed")


STOPS = {
    "cancel": "select qwf.cancel_run(%s)",
    "deadline": "select _qwf.fail_overdue_runs() where %s > 0",
    "another": "select qwf.submit_input(%s, 's/m[1]', '\"abort\"')",
}


@pytest.mark.parametrize("stop", STOPS)
def test_a_decision_while_its_map_stops_is_refused(race: Race, stop: str) -> None:
    run, other = asking(race)
    finish(race, other, outcome="fatal")
    race.rows("update qwf.runs set deadline_at = qwf.now() - interval '1 s'")
    stopping, person = race.session(), race.session()
    stopping.begin()
    stopping.rows(STOPS[stop], run)
    person.start(DECIDE, run, '"retry"')
    person.waits()
    stopping.commit()
    assert raises(person) == "QW002"
    gone(race, run, "cancelled" if stop == "cancel" else "failed")


@pytest.mark.parametrize("stop", STOPS)
def test_a_decision_just_before_its_map_stops_has_no_effect(race: Race, stop: str) -> None:
    run, other = asking(race)
    finish(race, other, outcome="fatal")
    race.rows("update qwf.runs set deadline_at = qwf.now() - interval '1 s'")
    person, stopping = race.session(), race.session()
    person.begin()
    person.rows(DECIDE, run, '"retry"')
    race.nonblocking().one("select qwf.tick()")  # the deadline does not wait
    assert race.run_status(run) == "awaiting_input"
    stopping.start(STOPS[stop], run)
    if stop != "deadline":
        stopping.waits()
    person.commit()
    stopping.ends()
    gone(race, run, "cancelled" if stop == "cancel" else "failed")


def gone(race: Race, run: int, status: str) -> None:
    """Assert that the run ended with `status` and that no element is left."""
    race.settle()
    assert claim(race, 10) == []
    assert race.run_status(run) == status
    assert elements(race, run).keys() <= {"completed", "failed", "cancelled"}


def raises(session: Session) -> str | None:
    """SQLSTATE of the error the started statement ends with."""
    with pytest.raises(psycopg.Error) as refused:
        session.ends()
    return refused.value.sqlstate


@pytest.mark.parametrize("stop", ["cancel", "deadline"])
def test_an_element_that_asks_while_its_run_is_stopped(race: Race, stop: str) -> None:
    run = map_run(race, 2, on_failure="ask")
    race.rows("update qwf.runs set deadline_at = qwf.now() - interval '1 s'")
    held = claim(race, 2)
    stopping = race.session()
    stopping.begin()
    stopping.rows(STOPS[stop], run)
    assert finish(race.nonblocking(), held[0], outcome="fatal") == [("ok", True)]
    race.healthy()
    stopping.commit()
    race.settle()
    report_cancelled(race, held[1])
    assert elements(race, run) == {"cancelled": 2}
    assert race.rows("select * from qwf.pending_inputs") == []


# the run


def test_a_map_being_expanded_blocks_no_session(race: Race) -> None:
    """An answer in an open transaction opens a map: others continue, and it appears at once."""
    asked = {"id": "ask", "kind": "input", "widget": "text", "target": "said"}
    map_run(race, 3)
    step = {"id": "s", "kind": "pipeline", "pipeline": "p", "depends_on": ["ask"]}
    definition = {"name": "asked_map", "steps": [asked, step]}
    race.rows("select qwf.register_workflow(%s)", json.dumps(definition))
    run = race.one("select qwf.enqueue_run('asked_map')")
    person, worker = race.session(), race.nonblocking()
    person.begin()
    person.rows("select qwf.submit_input(%s, 'ask', '\"x\"')", run)
    held = claim(worker, 10)
    assert len(held) == 3
    assert worker.one(VERDICT, held[0].token) == "ok"
    finish(worker, *held)
    worker.one("select qwf.tick()")
    race.healthy()
    person.kill()
    race.healthy()
    race.rows("select qwf.submit_input(%s, 'ask', '\"x\"')", run)
    assert elements(race, run) == {"queued": 3}
    race.complete_all()
    assert race.run_status(run) == "completed"


def test_a_map_whose_expansion_is_cut_off_is_expanded_later(race: Race) -> None:
    """A statement timeout in the middle leaves the event; no element exists twice."""
    nodes = [{"id": "a"}, {"id": "m", "depends_on": ["a"], "map": {"$from": "a.y"}}]
    race.rows("select qwf.register_pipeline(%s)", json.dumps({"name": "p", "nodes": nodes}))
    step = {"id": "s", "kind": "pipeline", "pipeline": "p"}
    race.rows("select qwf.register_workflow(%s)", json.dumps({"name": "late", "steps": [step]}))
    run = race.one("select qwf.enqueue_run('late')")
    (held,) = claim(race)
    open_gate = race.gate("qwf.jobs", f"old.id = {race.job(run, 's/m')} and new.elements > 0")
    hasty = race.session(statement_timeout="4s")
    report = json.loads(reports(held))
    report[0]["output"] = {"y": [1, 2, 3]}
    assert hasty.rows(FINISH, json.dumps(report)) == [("ok", True)]
    assert elements(race, run) == {}
    race.healthy()
    open_gate()
    race.settle()
    assert elements(race, run) == {"queued": 3}
    race.complete_all()
    assert race.run_status(run) == "completed"


@pytest.mark.parametrize("commits", [True, False])
def test_cancelling_a_run_with_a_map_blocks_no_worker(race: Race, commits: bool) -> None:
    run = map_run(race, 6, max_parallel=4)
    held = claim(race, 2)
    producer, worker = race.session(), race.nonblocking()
    producer.begin()
    producer.rows("select qwf.cancel_run(%s)", run)
    assert claim(worker, 10) == []
    assert worker.one(VERDICT, held[0].token) == "ok"
    assert finish(worker, held[0]) == [("ok", True)]
    worker.one("select qwf.tick()")
    race.healthy()
    producer.commit() if commits else producer.rollback()
    race.settle()
    if commits:
        report_cancelled(race, held[1])
        assert elements(race, run) == {"completed": 1, "cancelled": 5}
        assert race.run_status(run) == "cancelled"
    else:
        finish(race, held[1])
        race.complete_all()
        assert race.run_status(run) == "completed"


# retry


def failed(race: Race, **keys: Any) -> tuple[int, dict[str, Claim]]:
    """A run that failed because of an element of its map, and the claims of its elements."""
    run = map_run(race, 4, **keys)
    held = by_name(claim(race, 4))
    finish(race, held["s/m[0]"])
    finish(race, held["s/m[1]"], outcome="fatal")
    report_cancelled(race, *held.values())
    assert race.run_status(run) == "failed"
    return run, held


@pytest.mark.parametrize("commits", [True, False])
def test_retrying_a_map_while_old_workers_report(race: Race, commits: bool) -> None:
    """Completed elements are kept, the others run again once; the old tokens are invalid."""
    run, held = failed(race)
    producer, worker = race.session(), race.nonblocking()
    producer.begin()
    assert producer.one("select qwf.retry_run(%s)", run) == 2
    assert claim(worker, 10) == []
    assert {v for v, _ in finish(worker, held["s/m[2]"], held["s/m[3]"])} == {"lost"}
    worker.one("select qwf.tick()")
    race.healthy()
    producer.commit() if commits else producer.rollback()
    race.settle()
    again = claim(race, 10)
    assert sorted(c.name for c in again) == (["s/m[1]", "s/m[2]", "s/m[3]"] if commits else [])
    finish(race, *again)
    race.complete_all()
    assert race.run_status(run) == ("completed" if commits else "failed")


def test_two_retries_at_once_run_nothing_twice(race: Race) -> None:
    run, _ = failed(race)
    one, other = race.session(), race.session()
    one.begin()
    one.rows("select qwf.retry_run(%s)", run)
    other.start("select qwf.retry_run(%s)", run)
    other.waits()
    one.commit()
    assert raises(other) == "QW002"
    assert elements(race, run) == {"completed": 1, "queued": 3}
    race.healthy()


def test_retrying_from_a_map_while_old_workers_report(race: Race) -> None:
    """A retry from the map drops its elements: a late report about one of them is lost."""
    run, held = failed(race)
    producer, worker = race.session(), race.nonblocking()
    producer.begin()
    producer.rows("select qwf.retry_run(%s, 's/m')", run)
    assert {v for v, _ in finish(worker, held["s/m[2]"], held["s/m[3]"])} == {"lost"}
    producer.commit()
    race.settle()
    assert elements(race, run) == {"queued": 4}
    assert {v for v, _ in finish(worker, *held.values())} == {"lost"}
    race.complete_all()
    assert race.run_status(run) == "completed"


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_an_element_that_ends_from_an_old_snapshot(race: Race, isolation: str) -> None:
    strict = race.session()
    for outcome in ("completed", "fatal", "released"):
        run = map_run(race, 3, max_parallel=2)
        one, other = claim(race, 2)
        strict.begin(isolation)
        strict.rows("select count(*) from qwf.jobs")
        assert finish(race, one) == [("ok", False)]
        try:
            finish(strict, other, outcome=outcome)
            strict.commit()
        except psycopg.errors.SerializationFailure:
            strict.rollback()
            finish(race, other, outcome=outcome)
        race.settle()
        if outcome == "fatal":
            report_cancelled(race, *claim(race, 10))
            assert race.run_status(run) == "failed"
        else:
            race.complete_all()
            assert race.run_status(run) == "completed"


# a map that is done when enough elements completed

ENOUGH = {"min_success": 1, "stop_when_reached": True}


@pytest.mark.parametrize("commits", [True, False])
def test_two_elements_of_which_each_is_enough_finish_at_once(race: Race, commits: bool) -> None:
    """The map is done once, with what had completed by then, and nobody waits for anybody."""
    run = map_run(race, 4, **ENOUGH)
    held = by_name(claim(race, 3))
    first, second = race.session(), race.nonblocking()
    first.begin()
    assert finish(first, held["s/m[0]"]) == [("ok", False)]
    assert finish(second, held["s/m[1]"]) == [("ok", True)]
    race.healthy()
    first.commit() if commits else first.rollback()
    race.settle()
    output = race.one("select output from qwf.jobs where run_id = %s and elements = 4", run)
    assert [one is not None for one in output] == [commits, not commits, False, False]
    left = [c for c in held.values() if race.status(c.job) == "running"]
    assert len(left) == (1 if commits else 2)
    assert race.statuses(run)["s/z"] == "blocked", "an element still stops"
    report_cancelled(race, *left)
    assert race.statuses(run)["s/z"] == "queued"
    race.complete_all()
    assert race.run_status(run) == "completed"


def test_an_element_is_claimed_as_another_is_enough(race: Race) -> None:
    """The finish does not wait for the claim; the worker keeps the element and is told to stop."""
    run = map_run(race, 3, **ENOUGH)
    (good,) = claim(race)
    claiming = race.session()
    claiming.begin()
    (taken,) = claim(claiming)
    assert finish(race.nonblocking(), good) == [("ok", False)]
    assert race.statuses(run)["s/m"] == "completed"
    race.healthy()
    claiming.commit()
    race.settle()
    report_cancelled(race, taken)
    assert elements(race, run) == {"completed": 1, "cancelled": 2}
    race.complete_all()
    assert race.run_status(run) == "completed"


def test_an_element_ends_in_any_way_after_its_map_is_done(race: Race) -> None:
    """The list does not change, nothing is tried again, and what follows runs once."""
    for outcome in OUTCOMES:
        run = map_run(race, 2, retry={"max_attempts": 3}, **ENOUGH)
        good, late = claim(race, 2)
        finish(race, good)
        assert finish(race, late, outcome=outcome) == [("ok", False)]
        race.healthy()
        assert race.status(late.job) == ("completed" if outcome == "completed" else "cancelled")
        assert race.one("select output from qwf.jobs where run_id = %s and elements = 2", run) == [
            {"y": 1}, None
        ]  # fmt: skip
        race.complete_all()
        assert race.run_status(run) == "completed"


@pytest.mark.parametrize("first", ["the cancel", "the finish"])
def test_the_run_is_cancelled_as_an_element_is_enough(race: Race, first: str) -> None:
    run = map_run(race, 3, **ENOUGH)
    good, other = claim(race, 2)
    one, two = race.session(), race.session()
    one.begin()
    if first == "the cancel":
        one.rows("select qwf.cancel_run(%s)", run)
        assert finish(race.nonblocking(), good) == [("ok", True)]
        one.commit()
    else:
        assert finish(one, good) == [("ok", False)]
        two.start("select qwf.cancel_run(%s)", run)
        two.waits()
        one.commit()
        two.ends()
    report_cancelled(race, other)
    assert race.run_status(run) == "cancelled"
    assert race.statuses(run)["s/m"] == ("cancelled" if first == "the cancel" else "completed")
    race.rows("select qwf.retry_run(%s)", run)
    race.healthy()
    race.complete_all()
    assert race.run_status(run) == "completed"


# a repeat: turns, one after the other


def repeat_run(race: Race, **keys: Any) -> int:
    """Start a run of a node that repeats until its body says so."""
    until = {"$from": "item.ready", "$default": False}
    step = {"id": "look", "node": "look", "repeat": {"until": until, "max": 5, **keys}}
    race.rows("select qwf.register_workflow(%s)", json.dumps({"name": "poll", "steps": [step]}))
    return int(race.one("select qwf.enqueue_run('poll')"))


@pytest.mark.parametrize("every", [{}, {"every": "30 s"}])
@pytest.mark.parametrize("first", ["the cancel", "the turn"])
def test_a_turn_ends_as_its_run_is_cancelled(race: Race, first: str, every: Any) -> None:
    """No other turn begins, and a retry goes on with the next one."""
    run = repeat_run(race, **every)
    (turn,) = claim(race)
    one, producer = race.session(), race.session()
    one.begin()
    if first == "the cancel":
        one.rows("select qwf.cancel_run(%s)", run)
        assert finish(race.nonblocking(), turn) == [("ok", True)]
        one.commit()
    else:
        assert finish(one, turn) == [("ok", False)]
        producer.start("select qwf.cancel_run(%s)", run)
        producer.waits()
        one.commit()
        producer.ends()
    race.settle()
    after = {"the cancel": {"completed": 1}, "the turn": {"completed": 1, "cancelled": 1}}
    assert elements(race, run) == after[first]
    assert race.run_status(run) == "cancelled"
    race.rows("select qwf.retry_run(%s)", run)
    race.healthy()
    state = "scheduled" if every and first == "the cancel" else "queued"
    assert elements(race, run) == {"completed": 1, state: 1}


def test_a_turn_is_promoted_as_its_run_is_cancelled(race: Race) -> None:
    run = repeat_run(race, every="1 s")
    finish(race, *claim(race))
    (due,) = race.rows("select id from qwf.jobs where status = 'scheduled'")
    race.rows("update qwf.jobs set run_at = qwf.now() - interval '1 s' where id = %s", due[0])
    promoting = race.session()
    promoting.begin()
    assert promoting.one("select _qwf.promote_due()") == 1
    assert race.nonblocking().one("select qwf.cancel_run(%s)", run) is True
    race.healthy()
    promoting.commit()
    race.settle()
    assert elements(race, run) == {"completed": 1, "cancelled": 1}
    assert race.run_status(run) == "cancelled"


# a delay


@pytest.mark.parametrize("commits", [True, False])
def test_a_delayed_node_is_promoted_as_its_run_is_cancelled(race: Race, commits: bool) -> None:
    """Nobody waits; however it ends, the node is cancelled, and a retry delays it again."""
    step = {"id": "a", "node": "a", "delay": "1 h"}
    race.rows("select qwf.register_workflow(%s)", json.dumps({"name": "later", "steps": [step]}))
    run = int(race.one("select qwf.enqueue_run('later')"))
    assert race.statuses(run) == {"a": "scheduled"}
    race.rows("update qwf.jobs set run_at = qwf.now() - interval '1 s'")
    promoting = race.session()
    promoting.begin()
    assert promoting.one("select _qwf.promote_due()") == 1
    assert race.nonblocking().one("select qwf.cancel_run(%s)", run) is True
    race.healthy()
    promoting.commit() if commits else promoting.rollback()
    race.settle()
    assert race.statuses(run) == {"a": "cancelled"}
    assert race.run_status(run) == "cancelled"
    race.rows("select qwf.retry_run(%s)", run)
    assert race.statuses(run) == {"a": "scheduled"}


def test_the_run_is_cancelled_as_a_promoted_node_is_opened(race: Race) -> None:
    step = {"id": "a", "node": "a", "delay": "1 h"}
    race.rows("select qwf.register_workflow(%s)", json.dumps({"name": "later", "steps": [step]}))
    run = int(race.one("select qwf.enqueue_run('later')"))
    race.rows("update qwf.jobs set run_at = qwf.now() - interval '1 s'")
    race.rows("select _qwf.promote_due()")
    opening, producer = race.session(), race.session()
    opening.begin()
    opening.rows("select qwf.drain_outbox()")
    producer.start("select qwf.cancel_run(%s)", run)
    producer.waits()
    opening.commit()
    producer.ends()
    race.settle()
    assert race.statuses(run) == {"a": "cancelled"}
    assert race.run_status(run) == "cancelled"
