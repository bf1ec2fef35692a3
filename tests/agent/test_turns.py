"""Turns, delays and the first of several with agents that are killed."""

from __future__ import annotations

import json
import signal
from typing import Any

from support.harness import Database, StartAgent, until

COUNT: dict[str, Any] = {
    "name": "count",
    "steps": [
        {
            "id": "turn",
            "node": "add",
            "queue": "default",
            "inputs": {"a": {"$coalesce": [{"$from": "item.sum"}, 0]}, "b": 1},
            "repeat": {"until": {"$from": "item.sum", "$eq": 8}, "max": 20, "every": 0.3},
            "retry": {"max_losses": 100},
        },
        {
            "id": "first",
            "node": "sleeping",
            "queue": "default",
            "map": [600, 0.01, 600],
            "min_success": 1,
            "stop_when_reached": True,
            "inputs": {"seconds": {"$from": "item"}},
        },
        {
            "id": "last",
            "node": "add",
            "queue": "default",
            "depends_on": ["turn", "first"],
            "delay": 0.5,
            "inputs": {"a": {"$from": "turn.sum"}},
        },
    ],
}
AGENT = ("--app", "bodies", "--slots", "5", "--lease", "3")
TURNS = "select elements from qwf.job_details where node_id = 'turn'"


def test_a_run_goes_on_with_its_next_turn_when_agents_are_killed(
    base: Database, start: StartAgent
) -> None:
    """Each turn counts once and starts from the one before, the losers of a map stop, and what is
    delayed waits, though two agents are killed between turns or in them."""
    base.one("select qwf.register_workflow(%s)", json.dumps(COUNT))
    run = base.one("select qwf.enqueue_run('count')")
    for turns in (3, 5):
        agent = start(*AGENT)
        until(lambda least=turns: base.one(TURNS) >= least, "the next turns")
        agent.signal(signal.SIGKILL)
        agent.ended()
        assert base.invariants() == []
    start(*AGENT)
    ended = "select finished_at is not null from qwf.runs where id = %s"
    until(lambda: base.one(ended, run), "the end of the run")
    assert base.one("select status::text from qwf.runs where id = %s", run) == "completed"
    nodes = base.conn.execute(
        "select node_id, status::text, output from qwf.job_details where run_id = %s", [run]
    ).fetchall()
    found = {row["node_id"]: row for row in nodes}
    turns_done = [found[f"turn[{turn}]"]["output"]["sum"] for turn in range(8)]
    assert turns_done == [*range(1, 9)]
    assert "turn[8]" not in found
    assert found["last"]["output"] == {"sum": 10}
    assert [found[f"first[{e}]"]["status"] for e in range(3)] == [
        "cancelled", "completed", "cancelled"
    ]  # fmt: skip
    twice = "select max(n) from (select count(*) n from qwf.job_attempts a where a.outcome = %s"
    assert base.one(f"{twice} group by a.job_id) t", "completed") == 1
    waited = (
        "select d.started_at - greatest(t.finished_at, f.finished_at) >= '0.5 s'"
        " from qwf.job_details d, qwf.job_details t, qwf.job_details f"
        " where d.node_id = 'last' and t.node_id = 'turn' and f.node_id = 'first'"
    )
    assert base.one(waited) is True
    assert base.invariants() == []
