"""An agent dies in a compensation node, and the run is retried."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

from support.harness import Database, StartAgent, until

PAYMENT = {"payment": {"$from": "charge.payment"}}
STEPS: list[dict[str, Any]] = [
    {"id": "charge", "node": "charge"},
    {"id": "refund", "node": "refund", "compensates": ["charge"], "inputs": PAYMENT},
    {"id": "ship", "node": "ship", "depends_on": ["charge"],
     "inputs": {**PAYMENT, "folder": {"$from": "folder"}}},
]  # fmt: skip
ORDER = {"name": "order", "steps": [{**step, "queue": "default"} for step in STEPS]}
STATUS = "select status::text from qwf.runs where id = %s"
EFFECTS = "select array_agg(what || ' ' || payment order by number) from effects"


def test_a_refund_whose_agent_was_killed_is_made_once(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """The next agent refunds, a retry charges again, and then the goods are shipped."""
    base.one("select qwf.create_queue('default', lease => '1.5 s')")
    base.conn.execute(
        "create table effects (number serial, what text, payment text, primary key (what, payment))"
    )
    base.one("select qwf.register_workflow(%s)", json.dumps(ORDER))
    run = base.one("select qwf.enqueue_run('order', %s)", json.dumps({"folder": str(tmp_path)}))
    first = start("--app", "orders", "--host", "a")
    until(lambda: "refund payment 1" in (base.one(EFFECTS) or []), "the refund")
    for pid in [first.pid, *first.children()]:
        os.kill(pid, signal.SIGKILL)
    assert base.one(STATUS, run) == "running"
    assert base.invariants() == []
    start("--app", "orders", "--host", "b")
    until(lambda: base.one(STATUS, run) == "failed", "the end of the run")
    refund = base.one("select id from qwf.jobs where node_id = 'refund'")
    assert [one["outcome"] for one in base.attempts(refund)] == ["lost", "completed"]
    (tmp_path / "truck").touch()
    assert base.one("select qwf.retry_run(%s)", run) == 2
    until(lambda: base.one(STATUS, run) == "completed", "the end of the retry")
    assert base.one(EFFECTS) == [
        *("charge payment 1", "refund payment 1", "charge payment 2", "ship payment 2")
    ]
    assert base.invariants() == []
