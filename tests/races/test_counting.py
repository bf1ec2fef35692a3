"""What is counted off for a run while others change its nodes: each end once, none forgotten."""

from __future__ import annotations

import json
from typing import Any

import pytest
from interleave import Race, claim, finish, reports


def run_of(race: Race, *nodes: dict[str, Any]) -> int:
    """A run of these nodes, as step s; its id."""
    race.rows("select qwf.register_pipeline(%s)", json.dumps({"name": "p", "nodes": nodes}))
    step = {"id": "s", "kind": "pipeline", "pipeline": "p"}
    race.rows("select qwf.register_workflow(%s)", json.dumps({"name": "counted", "steps": [step]}))
    return int(race.one("select qwf.enqueue_run('counted')"))


@pytest.mark.parametrize("way", ["one batch", "cancel_run", "cancel_job"])
@pytest.mark.parametrize("clean", [{}, {"map": [1, 2]}])
def test_a_map_that_is_stopped_as_its_last_element_ends_counts_once(
    race: Race, way: str, clean: dict[str, Any]
) -> None:
    """The clean-up waits for y, and for its own elements where it is a map."""
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
