"""Clean-up nodes: the end of their run against running nodes, and against a second end."""

from __future__ import annotations

from typing import Any

import pytest

from support.interleave import Claim, Race, both_end, claim, finish, run_of

VERDICT = "select verdict from qwf.heartbeat('w', array[%s]::uuid[])"
CANCEL = "select qwf.cancel_run(%s)"
OUTCOMES = ["completed", "error", "fatal", "tempfail", "lost", "released", "cancelled"]


def tidied(race: Race, **clean: Any) -> tuple[int, Claim, Claim]:
    """A run of a and b, both running, c after a, and a clean-up after all of them."""
    run = run_of(
        race,
        {"id": "a"},
        {"id": "b", "retry": {"max_attempts": 3}},
        {"id": "c", "depends_on": ["a"]},
        {"id": "clean", "depends_on": ["a", "b", "c"], "run_if": "all_done", **clean},
    )
    a, b = claim(race, 2)
    return run, a, b


def finish_clean_up(race: Race, run: int, status: str) -> None:
    """Complete the clean-up, and assert that the run ends with `status` and nothing is left."""
    race.settle()
    held = claim(race, 10)
    assert [c.name for c in held] == ["s/clean"]
    assert race.run_status(run) == "running"
    finish(race, *held)
    race.settle()
    assert race.run_status(run) == status
    assert claim(race, 10) == []


@pytest.mark.parametrize("first", ["the failure", "the other"])
def test_clean_up_waits_for_nodes_that_run_when_the_run_fails(race: Race, first: str) -> None:
    """The clean-up opens once, after both nodes, in any order of commits."""
    for outcome in OUTCOMES:
        run, a, b = tidied(race)
        ends = [(a, "fatal"), (b, outcome)]
        if first == "the other":
            ends.reverse()
        both_end(race, *ends[0], *ends[1])
        if outcome == "cancelled" and first == "the other":
            finish_clean_up(race, run, "cancelled")
        else:
            finish_clean_up(race, run, "failed")


def test_clean_up_waits_for_a_body_whose_worker_is_gone(race: Race) -> None:
    run, a, b = tidied(race)
    finish(race, a, outcome="fatal")
    assert race.statuses(run)["s/clean"] == "blocked"
    race.expire_leases(b.job)
    finish_clean_up(race, run, "failed")


def test_a_node_claimed_while_the_run_fails_is_stopped_before_the_clean_up(race: Race) -> None:
    run, a, b = tidied(race)
    finish(race, b, outcome="released")
    claiming = race.session()
    claiming.begin()
    (again,) = claim(claiming)
    assert finish(race.nonblocking(), a, outcome="fatal") == [("ok", False)]
    race.one("select qwf.tick()")  # retries what it could not stop
    claiming.commit()
    race.settle()
    assert race.statuses(run)["s/clean"] == "blocked"
    assert race.one(VERDICT, again.token) == "cancel"
    finish(race, again, outcome="cancelled")
    finish_clean_up(race, run, "failed")


@pytest.mark.parametrize("commits", [True, False])
def test_an_open_cancel_blocks_no_worker(race: Race, commits: bool) -> None:
    run, a, b = tidied(race)
    producer, worker = race.session(), race.nonblocking()
    producer.begin()
    producer.rows(CANCEL, run)
    assert race.one(VERDICT, a.token) == "ok"
    assert finish(worker, a) == [("ok", True)]
    worker.one("select qwf.tick()")
    race.healthy()
    producer.commit() if commits else producer.rollback()
    race.settle()
    assert race.statuses(run)["s/c"] == ("cancelled" if commits else "queued")
    if not commits:
        finish(race, *claim(race))
    finish(race, b)
    finish_clean_up(race, run, "cancelled" if commits else "completed")


def test_cancelling_twice_at_once_leaves_the_clean_up_alone(race: Race) -> None:
    run, a, b = tidied(race)
    one, other = race.session(), race.session()
    one.begin()
    assert one.rows(CANCEL, run) == [(True,)]
    other.start(CANCEL, run)
    other.waits()
    one.commit()
    assert other.ends() == [(False,)]
    race.healthy()
    finish(race, a, b, outcome="cancelled")
    finish_clean_up(race, run, "cancelled")


@pytest.mark.parametrize("claimed", [True, False])
def test_cancelling_the_clean_up_itself_ends_the_run(race: Race, claimed: bool) -> None:
    run, a, b = tidied(race)
    finish(race, a, outcome="fatal")
    finish(race, b, outcome="cancelled")
    race.settle()
    held = claim(race) if claimed else []
    producer, worker = race.session(), race.nonblocking()
    producer.begin()
    producer.rows("select qwf.cancel_job(%s)", race.job(run, "s/clean"))
    assert [worker.one(VERDICT, c.token) for c in held] == ["ok"] * claimed
    race.healthy()
    producer.commit()
    assert [worker.one(VERDICT, c.token) for c in held] == ["cancel"] * claimed
    finish(race, *held, outcome="cancelled")
    race.settle()
    assert race.run_status(run) == "failed"  # that was decided first
    assert race.statuses(run)["s/clean"] == "cancelled"


def test_a_failure_during_the_clean_up_changes_nothing(race: Race) -> None:
    """The clean-up node does not depend on the node that fails."""
    run = run_of(
        race, {"id": "a"}, {"id": "b", "run_if": "all_done"}, {"id": "c", "run_if": "all_done"}
    )
    a, b, c = claim(race, 3)
    finish(race, a, outcome="fatal")
    assert race.run_status(run) == "running"
    first = race.session()
    first.begin()
    assert finish(first, b, outcome="fatal") == [("ok", False)]
    assert finish(race.nonblocking(), c, outcome="fatal") == [("ok", True)]
    race.healthy()
    first.commit()
    race.settle()
    ((status, error),) = race.rows("select status, error from qwf.runs where id = %s", run)
    assert (status, error) == ("failed", "s/a failed: fatal")


@pytest.mark.parametrize("first", ["cancel", "fail"])
def test_a_cancel_and_a_failure_at_once_clean_up_once(race: Race, first: str) -> None:
    run, a, b = tidied(race)
    one, other = race.session(), race.session()
    one.begin()
    if first == "cancel":
        one.rows(CANCEL, run)
        assert finish(race.nonblocking(), a, outcome="fatal") == [("ok", True)]
        one.commit()
    else:
        assert finish(one, a, outcome="fatal") == [("ok", False)]
        other.start("select qwf.cancel_job(%s)", b.job)
        other.waits()
        one.commit()
        assert other.ends() == [("requested",)]
    race.settle()
    finish(race, b, outcome="cancelled")
    finish_clean_up(race, run, "cancelled" if first == "cancel" else "failed")


def test_a_clean_up_that_is_a_map_outlives_the_run(race: Race) -> None:
    """Its elements continue while those of another map are stopped."""
    run = run_of(
        race,
        {"id": "m", "map": [1, 2, 3], "max_parallel": 2},
        {"id": "clean", "depends_on": ["m"], "run_if": "all_done", "map": [1, 2, 3]},
    )
    bad, late = claim(race, 10)
    finish(race, bad, outcome="fatal")
    assert race.one(VERDICT, late.token) == "cancel"
    finish(race, late, outcome="cancelled")
    race.healthy()
    held = claim(race, 10)
    assert len(held) == 3
    first = race.session()
    first.begin()
    assert finish(first, held[0]) == [("ok", False)]
    assert finish(race.nonblocking(), held[1], held[2])[0] == ("ok", True)
    first.commit()
    race.settle()
    assert race.run_status(run) == "failed"
    assert race.statuses(run)["s/clean"] == "completed"


def test_a_retry_of_a_run_that_was_cleaned_up_cleans_up_again(race: Race) -> None:
    run, a, b = tidied(race)
    finish(race, a, outcome="fatal")
    finish(race, b)
    finish_clean_up(race, run, "failed")
    race.rows("select qwf.retry_run(%s)", run)
    race.healthy()
    assert race.statuses(run) == {
        "s/a": "queued",
        "s/b": "completed",
        "s/c": "blocked",
        "s/clean": "blocked",
    }
    finish(race, *claim(race, 10))
    finish(race, *claim(race, 10))
    finish_clean_up(race, run, "completed")
