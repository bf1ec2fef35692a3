"""A cancelled job stops: it is told to stop first, then killed."""

from __future__ import annotations

import json
from pathlib import Path

from qwf_agent.child.cancel import CancelEvent
from support.harness import Database, StartAgent, alive, until


def test_a_body_that_listens_ends_by_itself(shared: Database, tmp_path: Path) -> None:
    file = tmp_path / "said"
    job_id = shared.enqueue("cooperative", {"file": str(file)})
    until(lambda: file.exists() and file.read_text() == "started")
    assert shared.one("select qwf.cancel_job(%s, 'not needed')", job_id) == "requested"
    job = shared.ended(job_id)
    assert job["status"] == "cancelled"
    assert file.read_text() == "told to stop"
    assert [a["outcome"] for a in shared.attempts(job_id)] == ["cancelled"]


def test_the_next_job_of_that_child_is_not_cancelled(shared: Database, tmp_path: Path) -> None:
    for n in range(4):
        file = tmp_path / f"said{n}"
        job_id = shared.enqueue("cooperative", {"file": str(file)})
        until(lambda file=file: file.exists() and file.read_text() == "started")
        shared.one("select qwf.cancel_job(%s)", job_id)
        assert shared.ended(job_id)["status"] == "cancelled"
        output = shared.ended(shared.enqueue("whoami"))["output"]
        assert not output["set"]


def test_a_body_that_does_not_listen_is_killed_after_the_grace(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    base.conn.execute("update qwf.settings set cancel_grace = '0.3 s'")
    start("--app", "bodies")
    file = tmp_path / "pid"
    job_id = base.enqueue("stubborn", {"file": str(file)})
    body = int(until(lambda: file.exists() and file.read_text()))
    base.one("select qwf.cancel_job(%s)", job_id)
    assert base.ended(job_id)["status"] == "cancelled"
    assert not alive(body)
    assert base.ended(base.enqueue("noop"))["status"] == "completed"


def test_cancelling_a_run_stops_its_running_nodes(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    start("--nodes", "steps", "--app", "bodies", "--queue", "cpu")
    file = tmp_path / "said"
    node = {"id": "n", "node": "cooperative", "inputs": {"file": str(file)}}
    step = {"id": "s", "kind": "pipeline", "pipeline": "p"}
    base.one("select qwf.register_pipeline(%s)", json.dumps({"name": "p", "nodes": [node]}))
    base.one("select qwf.register_workflow(%s)", json.dumps({"name": "w", "steps": [step]}))
    run = base.one("select qwf.enqueue_run('w')")
    until(lambda: file.exists() and file.read_text() == "started")
    base.one("select qwf.cancel_run(%s)", run)
    job = base.ended(base.one("select id from qwf.jobs where run_id = %s", run))
    assert job["status"] == "cancelled"
    assert file.read_text() == "told to stop"


def test_the_event_can_be_used_again() -> None:
    event = CancelEvent()
    assert not event.wait(0)
    event.set()
    event.set()
    assert event.wait()
    event.clear()
    assert not event.is_set()
    assert not event.wait(0.001)
