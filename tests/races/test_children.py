"""Runs that are steps of other runs: a run ends, stops or starts while somebody acts on the run
above it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.interleave import Claim, Race, claim, finish
from support.planted_bugs import CHILD_BUGS, put_in

ONE = {
    "name": "one",
    "steps": [
        {"id": "crop", "node": "crop", "inputs": {"x": {"$from": "x"}}},
        {"id": "write", "node": "write", "depends_on": ["crop"]},
    ],
}
ALBUM = {
    "name": "album",
    "steps": [
        {
            "id": "each",
            "kind": "workflow",
            "workflow": "one",
            "map": {"$from": "list"},
            "inputs": {"x": {"$from": "item"}},
        },
        {"id": "sum", "node": "sum", "depends_on": ["each"]},
    ],
}
ORDER = {
    "name": "order",
    "steps": [
        {"id": "charge", "node": "charge"},
        {"id": "refund", "node": "refund", "compensates": ["charge"]},
        {"id": "ship", "node": "ship", "depends_on": ["charge"]},
    ],
}
RUNS = "select status from qwf.runs where parent_id is not null order by id"


def album(race: Race, count: int = 2, start: str = "") -> int:
    """Enqueue a run above `count` others."""
    for definition in (ONE, ALBUM):
        race.rows("select qwf.register_workflow(%s)", json.dumps(definition))
    if start == "paused":
        race.rows("select qwf.pause_queue('qwf.runs')")
    context = json.dumps({"list": list(range(count))})
    run: int = race.one("select qwf.enqueue_run('album', %s)", context)
    if start == "paused":
        race.rows("select qwf.resume_queue('qwf.runs')")
    return run


def last_nodes(race: Race, count: int = 2) -> list[Claim]:
    """Run the children up to their last nodes, which are claimed."""
    finish(race, *claim(race, count))
    return claim(race, count)


def below(race: Race) -> list[str]:
    return [status for (status,) in race.rows(RUNS)]


def test_two_runs_of_a_map_end_at_once(race: Race) -> None:
    """The second is answered pending, and one drain tells the run above."""
    run = album(race)
    held = last_nodes(race)
    first, second = race.session(), race.nonblocking()
    first.begin()
    assert finish(first, held[0]) == [("ok", False)]
    assert finish(second, held[1]) == [("ok", True)]
    assert below(race) == ["running", "completed"]
    race.healthy()
    first.commit()
    assert race.one("select qwf.drain_outbox()") == 1
    race.healthy()
    assert race.statuses(run)["sum"] == "queued"
    race.complete_all()
    assert race.run_status(run) == "completed"


def test_the_run_above_is_locked_while_a_run_ends(race: Race) -> None:
    """Nobody waits: the finish is answered pending."""
    run = album(race)
    held = last_nodes(race)
    stranger = race.session()
    stranger.begin()
    stranger.rows("select from qwf.runs where id = %s for update", run)
    assert finish(race.nonblocking(), *held) == [("ok", True), ("ok", True)]
    stranger.commit()
    race.settle()
    assert race.statuses(run)["sum"] == "queued"


@pytest.mark.parametrize("commits", [True, False])
def test_the_run_above_is_cancelled_before_the_last_finish(race: Race, commits: bool) -> None:
    run = album(race)
    held = last_nodes(race)
    producer = race.session()
    producer.begin()
    producer.rows("select qwf.cancel_run(%s)", run)
    assert finish(race.nonblocking(), *held) == [("ok", True), ("ok", True)]
    producer.commit() if commits else producer.rollback()
    race.settle()
    assert below(race) == ["cancelled" if commits else "completed"] * 2
    assert race.run_status(run) == ("cancelled" if commits else "running")
    assert race.rows("select from qwf.outbox") == []


def test_the_run_above_is_cancelled_after_the_finish_of_a_run(race: Race) -> None:
    run = album(race)
    held = last_nodes(race)
    worker, producer = race.session(), race.session()
    worker.begin()
    assert finish(worker, held[0]) == [("ok", False)]
    producer.start("select qwf.cancel_run(%s)", run)
    producer.waits()
    worker.commit()
    assert producer.ends() == [(True,)]
    assert sorted(below(race)) == ["cancelled", "completed"]
    assert finish(race, held[1], outcome="cancelled") == [("ok", False)]
    race.settle()
    assert race.run_status(run) == "cancelled"


@pytest.mark.parametrize("first", ["cancel", "finish"])
def test_a_run_of_a_step_is_cancelled_while_it_ends(race: Race, first: str) -> None:
    """An element that is cancelled counts as failed."""
    run = album(race)
    held = last_nodes(race)
    child = race.one("select run_id from qwf.jobs where id = %s", held[0].job)
    producer, worker = race.session(), race.session()
    if first == "cancel":
        producer.begin()
        assert producer.one("select qwf.cancel_run(%s)", child)
        assert finish(worker, held[0]) == [("ok", True)]
        producer.commit()
    else:
        worker.begin()
        assert finish(worker, held[0]) == [("ok", False)]
        producer.start("select qwf.cancel_run(%s)", child)
        producer.waits()
        worker.commit()
        with pytest.raises(Exception, match="the run is over"):
            producer.ends()
    finish(race, held[1])
    race.settle()
    assert race.run_status(run) == ("failed" if first == "cancel" else "running")
    assert race.run_status(child) == ("cancelled" if first == "cancel" else "completed")


def test_two_servers_start_no_run_twice(race: Race) -> None:
    album(race, 5, start="paused")
    first, second = race.session(), race.nonblocking()
    first.begin()
    first.rows("select _qwf.serve_runs(1)")
    second.rows("select _qwf.serve_runs(5000)")
    first.commit()
    race.settle()
    assert race.one("select count(distinct context ->> 'x') from qwf.runs") == 5
    assert race.one("select count(*) from qwf.runs where parent_id is not null") == 5


@pytest.mark.parametrize("commits", [True, False])
def test_the_run_above_is_cancelled_while_its_runs_start(race: Race, commits: bool) -> None:
    """The cancel does not wait; the runs end with the next drain."""
    run = album(race, start="paused")
    race.rows("update qwf.runs set started_at = qwf.now(), status = 'running'")
    server, producer = race.session(), race.nonblocking()
    server.begin()
    server.rows("select _qwf.serve_runs(5000)")
    assert producer.one("select qwf.cancel_run(%s)", run)
    server.commit() if commits else server.rollback()
    race.settle()
    assert race.run_status(run) == "cancelled"
    assert set(below(race)) <= {"cancelled"}
    assert set(race.statuses(run).values()) == {"cancelled"}


@pytest.mark.parametrize("pruned", [True, False])
def test_a_run_is_pruned_while_the_run_above_is_retried(race: Race, pruned: bool) -> None:
    """The retry waits for nobody: 5 seconds later it goes on, with a new run if need be."""
    run = album(race)
    held = last_nodes(race)
    race.rows("select qwf.cancel_run(%s)", run)
    finish(race, *held, outcome="cancelled")
    race.rows("update qwf.runs set finished_at = finished_at - interval '3 years' where depth = 1")
    race.rows("update qwf.jobs set finished_at = finished_at - interval '3 years'"
              " where run_id in (select id from qwf.runs where depth = 1)")  # fmt: skip
    old = [row[0] for row in race.rows("select id from qwf.runs where depth = 1")]
    pruner = race.session()
    pruner.begin()
    pruner.rows("select qwf.prune()")
    assert race.nonblocking().one("select qwf.retry_run(%s)", run) > 0
    waiting = "select count(*) from qwf.jobs where queue = 'qwf.runs' and status = 'scheduled'"
    assert race.one(waiting) == 2
    pruner.commit() if pruned else pruner.rollback()
    race.rows("update qwf.jobs set run_at = qwf.now() where status = 'scheduled'")
    race.complete_all()
    race.complete_all()
    assert race.run_status(run) == "completed"
    kept = [row[0] for row in race.rows("select id from qwf.runs where depth = 1")]
    assert (set(kept) & set(old) == set()) is pruned


@pytest.mark.parametrize("outcome", ["completed", "cancelled"])
def test_a_body_of_the_last_run_ends_while_its_step_is_tried_again(
    race: Race, outcome: str
) -> None:
    """The step waits until that body has ended, then goes on with that run: it does nothing twice,
    and the late report ends no attempt of the step."""
    run = album(race, 1)
    (body,) = claim(race, 1)
    race.rows("select qwf.cancel_run(%s)", run)
    assert (race.run_status(run), below(race)) == ("cancelled", ["cancelled"])
    assert race.one("select qwf.retry_run(%s)", run) == 2
    step = race.job(run, "each[0]")
    assert race.status(step) == "scheduled"
    worker = race.session()
    worker.begin()
    assert finish(worker, body, outcome=outcome)[0][0] == "ok"
    race.make_due(step)
    race.nonblocking().rows("select qwf.tick()")
    assert race.status(step) == "scheduled"
    race.healthy()
    worker.commit()
    race.make_due(step)
    race.settle()
    assert (race.status(step), below(race)) == ("running", ["queued"])
    race.complete_all()
    assert (race.run_status(run), below(race)) == ("completed", ["completed"])
    crops = "select count(*) from qwf.job_attempts where job_id = %s"
    assert race.one(crops, body.job) == (1 if outcome == "completed" else 2)
    assert race.one("select attempt from qwf.jobs where id = %s", step) == 2


@pytest.mark.parametrize("first", ["serve", "cancel"])
def test_a_run_in_line_is_cancelled_while_it_starts(race: Race, first: str) -> None:
    race.rows("select qwf.register_workflow(%s)", json.dumps(ONE))
    race.rows("select qwf.pause_queue('qwf.runs')")
    enqueue = "select qwf.enqueue_run('one', '{\"x\": 1}', max_attempts => 2)"
    run: int = race.one(enqueue)
    race.rows("select qwf.resume_queue('qwf.runs')")
    server, producer = race.session(), race.session()
    if first == "serve":
        server.begin()
        server.rows("select _qwf.serve_runs(500)")
        producer.start("select qwf.cancel_run(%s)", run)
        producer.waits()
        server.commit()
        assert producer.ends() == [(True,)]
    else:
        producer.begin()
        producer.rows("select qwf.cancel_run(%s)", run)
        race.nonblocking().rows("select _qwf.serve_runs(500)")
        producer.commit()
    race.settle()
    race.rows("update qwf.jobs set run_at = qwf.now() where status = 'scheduled'")
    race.settle()
    assert race.run_status(run) == "cancelled"
    job: Any = race.one("select status from qwf.jobs where queue = 'qwf.runs'")
    assert job == "cancelled"


@pytest.mark.parametrize("first", ["serve", "cancel"])
def test_a_retry_in_line_is_cancelled_while_it_is_served(race: Race, first: str) -> None:
    """Whoever comes first, what it had done is taken back in its place."""
    race.rows("select qwf.register_workflow(%s)", json.dumps(ORDER))
    race.rows("select qwf.create_limit('etl', 1)")
    enqueue = "select qwf.enqueue_run('order', limit_by => 'etl')"
    run: int = race.one(enqueue)
    race.complete_all()
    race.rows(enqueue)
    (held,) = claim(race)
    race.rows("select qwf.retry_run(%s, 'ship')", run)
    server, producer = race.session(), race.session()
    (server if first == "serve" else producer).begin()
    if first == "serve":
        finish(server, held, outcome="fatal")
        producer.start("select qwf.cancel_run(%s)", run)
        producer.waits()
        server.commit()
        assert producer.ends() == [(True,)]
    else:
        producer.rows("select qwf.cancel_run(%s)", run)
        finish(server, held, outcome="fatal")
        producer.commit()
    race.rows("update qwf.jobs set run_at = qwf.now() where status = 'scheduled'")
    race.settle()
    assert race.statuses(run)["refund"] == "queued"
    race.complete_all()
    assert race.run_status(run) == "cancelled"
    assert race.one("select taken_back from qwf.compensations where run_id = %s", run)


def test_two_runs_take_the_only_place_of_a_limit(race: Race) -> None:
    """Never two at once; the end of the first starts the second in its own transaction."""
    race.rows("select qwf.register_workflow(%s)", json.dumps(ONE))
    race.rows("select qwf.create_limit('etl', 1)")
    enqueue = "select qwf.enqueue_run('one', '{\"x\": 1}', limit_by => 'etl')"
    producers = [race.session(), race.nonblocking()]
    for producer in producers:
        producer.begin()
        producer.rows(enqueue)
    for producer in producers:
        producer.commit()
    race.settle()
    live = "select count(*) from qwf.jobs where queue = 'qwf.runs' and status = 'running'"
    assert race.one(live) == 1
    finish(race, *last_nodes(race, 1))
    assert race.one(live) == 1
    assert sorted(below(race)) == ["completed", "queued"]
    race.complete_all()
    assert below(race) == ["completed", "completed"]


@pytest.mark.parametrize("test", CHILD_BUGS)
def test_a_bug_is_found_by(race: Race, dsn: str, test: str) -> None:
    put_in(dsn, *CHILD_BUGS[test])
    with pytest.raises(AssertionError):
        globals()[test](race)
