"""The end of one node starts many runs in one batch, while another session ends a node, too,
cancels, changes the limit, or is killed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.interleave import Claim, Race, claim, finish
from support.planted_bugs import BATCH_BUGS, put_in

ONE = {"name": "one", "steps": [{"id": "crop", "node": "crop", "inputs": {"x": {"$from": "x"}}}]}
FOLDER = {
    "name": "folder",
    "steps": [
        {"id": "scan", "node": "scan"},
        {"id": "sort", "node": "sort"},
        {
            "id": "each",
            "kind": "workflow",
            "workflow": "one",
            "depends_on": ["scan", "sort"],
            "map": {"$from": "list"},
            "inputs": {"x": {"$from": "item"}},
            "limit_by": "crops",
        },
        {"id": "sum", "node": "sum", "depends_on": ["each"], "run_if": "all_done"},
    ],
}
BELOW = "select context ->> 'x', status from qwf.runs where depth = 1 order by id"
LIVE = "select count(*) from qwf.runs where depth = 1 and finished_at is null"
MANY = 5


def folders(race: Race, count: int = 1, *, limit: int = 100) -> list[int]:
    """Runs of which one node is still to end before runs of all their elements start."""
    race.rows("select qwf.create_limit('crops', %s)", limit)
    for definition in (ONE, FOLDER):
        race.rows("select qwf.register_workflow(%s)", json.dumps(definition))
    context = json.dumps({"list": list(range(MANY))})
    return [race.one("select qwf.enqueue_run('folder', %s)", context) for _ in range(count)]


def last_before(race: Race, count: int = 1) -> list[Claim]:
    """The last node before the map, of each run."""
    claimed = claim(race, 2 * count)
    finish(race, *(one for one in claimed if one.name == "sort"))
    return [one for one in claimed if one.name == "scan"]


def ends_once(race: Race, run: int) -> None:
    """Let everything end, and assert that there was one run for each element."""
    race.complete_all()
    assert race.run_status(run) == "completed"
    query = "select count(*), count(distinct r.context) from qwf.runs r where r.depth = 1"
    assert race.rows(query) == [(MANY, MANY)]


def test_two_nodes_end_at_once_and_start_the_runs_once(race: Race) -> None:
    """The second finds the run locked; what it leaves starts all of them."""
    (run,) = folders(race)
    scan, sort = sorted(claim(race, 2), key=lambda one: one.name)
    first, second = race.session(), race.nonblocking()
    first.begin()
    assert finish(first, scan) == [("ok", False)]
    assert finish(second, sort) == [("ok", True)]
    assert race.rows(BELOW) == []
    first.commit()
    race.settle()
    assert race.one(LIVE) == MANY
    ends_once(race, run)


def test_two_batches_at_once_share_the_places_of_a_limit(race: Race) -> None:
    """The second does not wait for the first, and both together start no more than the limit."""
    runs = folders(race, 2, limit=3)
    held = last_before(race, 2)
    first, second = race.session(), race.nonblocking()
    first.begin()
    second.begin()
    assert finish(first, held[0]) == [("ok", False)]
    assert finish(second, held[1])[0][0] == "ok"
    first.commit()
    second.commit()
    race.settle()
    most = race.one(LIVE)
    assert most == 3
    while claimed := claim(race, 1):
        finish(race, *claimed)
        most = max(most, race.one(LIVE))
        race.healthy()
    race.complete_all()
    assert most == 3
    assert [race.run_status(run) for run in runs] == ["completed"] * 2
    assert race.one("select count(*) from qwf.runs where depth = 1") == 2 * MANY


@pytest.mark.parametrize("commits", [True, False])
def test_the_run_is_cancelled_while_its_runs_start_together(race: Race, commits: bool) -> None:
    """The cancel waits for the batch, and ends every run of it."""
    (run,) = folders(race)
    held = last_before(race)
    worker, producer = race.session(), race.session()
    worker.begin()
    assert finish(worker, *held) == [("ok", False)]
    assert worker.one(LIVE) == MANY
    producer.start("select qwf.cancel_run(%s)", run)
    producer.waits()
    worker.commit() if commits else worker.rollback()
    assert producer.ends() == [(True,)]
    if not commits:
        finish(race, *held, outcome="cancelled")
    race.settle()
    assert {status for _, status in race.rows(BELOW)} == ({"cancelled"} if commits else set())
    race.complete_all()
    assert race.run_status(run) == "cancelled"
    assert race.statuses(run)["sum"] == "completed"


@pytest.mark.parametrize("commits", [True, False])
def test_no_runs_start_under_a_cancel_that_is_open(race: Race, commits: bool) -> None:
    """The finish does not wait; what it leaves starts the runs only if the cancel is taken back."""
    (run,) = folders(race)
    held = last_before(race)
    producer = race.session()
    producer.begin()
    producer.rows("select qwf.cancel_run(%s)", run)
    assert finish(race.nonblocking(), *held) == [("ok", True)]
    assert race.rows(BELOW) == []
    producer.commit() if commits else producer.rollback()
    race.settle()
    assert race.one("select count(*) from qwf.runs where depth = 1") == (0 if commits else MANY)
    race.complete_all()
    assert race.run_status(run) == ("cancelled" if commits else "completed")


@pytest.mark.parametrize("now", [1, 4])
def test_the_limit_changes_while_runs_start_together(race: Race, now: int) -> None:
    """Runs that have started go on; from then on the new limit counts, and each run starts once."""
    (run,) = folders(race, limit=3)
    held = last_before(race)
    worker, admin = race.session(), race.session()
    worker.begin()
    finish(worker, *held)
    assert worker.one(LIVE) == 3
    admin.start("select qwf.create_limit('crops', %s)", now)
    admin.waits_or_ends()
    worker.commit()
    admin.ends()
    race.settle()
    assert race.one(LIVE) == (3 if now == 1 else 4)
    while claimed := claim(race, 1):
        before: Any = race.one(LIVE)
        finish(race, *claimed)
        race.settle()
        assert race.one(LIVE) <= max(before - 1, now)
    ends_once(race, run)


def test_a_session_is_killed_while_it_starts_runs_together(race: Race) -> None:
    """Nothing of the batch is left: the node still runs, and its next report starts all of them.
    Another batch that waits for nothing goes on meanwhile."""
    run, other = folders(race, 2)
    held = last_before(race, 2)
    open_gate = race.gate("qwf.jobs", "new.queue = 'qwf.runs' and new.status = 'running'")
    worker = race.session()
    worker.start("select * from qwf.finish(%s, %s, 'completed', '{}')", held[0].job, held[0].token)
    worker.waits()
    worker.kill()
    with pytest.raises(Exception, match=r"terminat|closed"):
        worker.ends()
    assert race.rows(BELOW) == []
    assert race.status(held[0].job) == "running"
    race.healthy()
    open_gate()
    assert finish(race.nonblocking(), held[1]) == [("ok", False)]
    assert race.one(LIVE) == MANY
    assert finish(race, held[0]) == [("ok", False)]
    assert race.one(LIVE) == 2 * MANY
    race.complete_all()
    assert [race.run_status(one) for one in (run, other)] == ["completed"] * 2
    started = "select count(*) from qwf.jobs where queue = 'qwf.runs' and attempt <> 1"
    assert race.one(started + " and elements is null") == 0


@pytest.mark.parametrize("test", BATCH_BUGS)
def test_a_bug_is_found_by(race: Race, dsn: str, test: str) -> None:
    put_in(dsn, *BATCH_BUGS[test])
    name, *given = test.split(" ")
    with pytest.raises(AssertionError):
        globals()[name](race, *map(int, given))
