"""The counters of a run while several sessions change its nodes: each end counts once."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest

from support.interleave import FINISH, Race, claim, finish, reports


def run_of(race: Race, *nodes: dict[str, Any]) -> int:
    """Start a run of these nodes, as step s; returns its id."""
    race.rows("select qwf.register_pipeline(%s)", json.dumps({"name": "p", "nodes": nodes}))
    step = {"id": "s", "kind": "pipeline", "pipeline": "p"}
    race.rows("select qwf.register_workflow(%s)", json.dumps({"name": "counted", "steps": [step]}))
    return int(race.one("select qwf.enqueue_run('counted')"))


@pytest.mark.parametrize("way", ["one batch", "cancel_run", "cancel_job"])
@pytest.mark.parametrize("clean", [{}, {"map": [1, 2]}])
def test_a_map_stopped_while_its_last_element_ends_counts_once(
    race: Race, way: str, clean: dict[str, Any]
) -> None:
    """The clean-up waits for y, and for its own elements if it is a map."""
    run = run_of(
        race,
        {"id": "x"},
        {"id": "y"},
        {"id": "m", "map": [1]},
        {"id": "clean", "depends_on": ["x", "y", "m"], "run_if": "all_done", **clean},
    )
    held = {c.name: c for c in claim(race, 3)}
    if way == "one batch":
        both = json.loads(reports(held["s/x"], outcome="fatal"))
        both += json.loads(reports(held["s/m[0]"]))
        race.rows("select * from qwf.finish_many(%s)", json.dumps(both))
    else:
        holder = race.session()
        holder.begin()
        holder.rows("select from qwf.runs where id = %s for no key update", run)
        finish(race, held["s/x"], held["s/m[0]"])
        holder.rollback()
        stopped = run if way == "cancel_run" else race.job(run, "s/m")
        race.rows(f"select qwf.{way}(%s)", stopped)
    race.settle()
    assert race.statuses(run)["s/clean"] == "blocked"
    assert race.one("select remaining_deps from qwf.jobs where node_id = 's/clean'") == 1
    finish(race, held["s/y"], outcome="cancelled")
    race.settle()
    opened = claim(race, 10)
    assert len(opened) == (2 if clean else 1)
    for one in opened:
        assert race.run_status(run) == "running"
        finish(race, one)
        race.healthy()
    assert race.run_status(run) == ("failed" if way == "one batch" else "cancelled")


@pytest.mark.parametrize("way", ["answer", "finish"])
def test_a_node_that_asks_while_it_is_being_stopped(race: Race, way: str) -> None:
    """It asks after the events were taken, and before the nodes to stop are searched."""
    run_of(
        race,
        {"id": "a", "on_failure": "ask" if way == "answer" else "fail"},
        {"id": "b", "on_failure": "ask"},
        {"id": "clean", "depends_on": ["a", "b"], "run_if": "all_done"},
    )
    a, b = claim(race, 2)
    stopping = race.session()
    if way == "answer":
        finish(race, a, outcome="fatal")
    open_gate = race.gate("qwf.runs", "new.ending is not null")
    if way == "answer":
        stopping.start("select qwf.answer_job(%s, '\"abort\"')", a.job)
    else:
        stopping.start(FINISH, reports(a, outcome="fatal"))
    stopping.waits()
    assert finish(race.nonblocking(), b, outcome="fatal") == [("ok", True)]
    race.healthy()
    open_gate()
    ((answer, *pending),) = stopping.ends()
    assert answer
    assert pending in ([], [False])
    race.settle()
    assert race.status(b.job) == "cancelled"
    assert [c.name for c in claim(race, 10)] == ["s/clean"]


@pytest.mark.parametrize("call", ["cancel_job(%s)", "answer_job(%s, '\"skip\"')"])
def test_an_element_no_longer_exists_after_a_retry_of_its_map(race: Race, call: str) -> None:
    run = run_of(race, {"id": "m", "map": [1, 2], "on_failure": "ask"})
    bad, other = claim(race, 2)
    finish(race, bad, outcome="fatal")
    race.rows("select qwf.answer_job(%s, '\"abort\"')", bad.job)
    finish(race, other, outcome="cancelled")
    assert race.run_status(run) == "failed"
    retrying, person = race.session(), race.session()
    retrying.begin()
    retrying.rows("select qwf.retry_run(%s, 's/m')", run)
    person.start(f"select qwf.{call}", bad.job)
    person.waits()
    retrying.commit()
    with pytest.raises(psycopg.Error) as refused:
        person.ends()
    assert refused.value.sqlstate == "QW001"
    race.complete_all()
    assert race.run_status(run) == "completed"
