"""An agent that stops by itself when nothing is left to run."""

from __future__ import annotations

import json
from pathlib import Path

from qwf_agent.system.exit_codes import SWITCHED_OFF
from support.harness import Database, StartAgent, run_agent

NODES = [
    {"id": "first", "node": "add", "inputs": {"a": 1}},
    {"id": "second", "node": "add", "queue": "gpu", "depends_on": ["first"],
     "inputs": {"a": {"$from": "first.sum"}}},
    {"id": "third", "node": "add", "depends_on": ["second"],
     "inputs": {"a": {"$from": "second.sum"}}},
]  # fmt: skip
STEPS = [
    {"id": "sums", "kind": "pipeline", "pipeline": "p", "inputs": {}},
    {"id": "ok", "kind": "input", "widget": "confirm", "prompt": "Well?", "target": "yes",
     "depends_on": ["sums"]},
]  # fmt: skip
OPTIONS = ("--app", "bodies", "--queue", "cpu", "--queue", "gpu", "--gpu", "none", "--until-empty")


def test_it_runs_what_can_run_now_and_stops(base: Database, dsn: str, tmp_path: Path) -> None:
    for name, given in (("pipeline", {"nodes": NODES, "name": "p"}),
                        ("workflow", {"steps": STEPS, "name": "w"})):  # fmt: skip
        base.one(f"select qwf.register_{name}(%s)", json.dumps(given))
    base.one("select qwf.enqueue_run('w')")
    many = [base.enqueue("noop", queue="cpu") for _ in range(300)]
    due = base.enqueue("noop", queue="cpu", run_at="2100-01-01T00:00:00Z")
    base.conn.execute("update qwf.jobs set run_at = now() where id = %s", (due,))
    later = base.enqueue("noop", queue="cpu", run_at="2100-01-01T00:00:00Z")
    nobodys = base.enqueue("no_such_task", queue="cpu")
    others = base.enqueue("noop", queue="default")

    code, log = run_agent(tmp_path, *OPTIONS, QWF_DSN=dsn)
    assert code == 0, log
    assert "stopping: no body runs" in log
    states = base.conn.execute("select task, status::text from qwf.jobs where run_id is not null")
    assert sorted((row["task"], row["status"]) for row in states) == [
        *([("add", "completed")] * 3),
        ("input", "awaiting_input"),
    ]
    assert {base.job(job)["status"] for job in (*many, due)} == {"completed"}
    left = [base.job(job)["status"] for job in (later, nobodys, others)]
    assert left == ["scheduled", "queued", "queued"]
    assert base.one("select count(*) from qwf.workers where stopped_at is null") == 0
    assert base.invariants() == []


def test_it_stops_at_once_where_nothing_waits(base: Database, dsn: str, tmp_path: Path) -> None:
    code, log = run_agent(tmp_path, "--app", "bodies", QWF_DSN=dsn, QWF_UNTIL_EMPTY="1")
    assert code == 0, log
    assert base.one("select count(*) from qwf.workers where stopped_at is not null") == 1


def test_it_does_not_end_before_it_knows_whether_it_is_switched_on(
    base: Database, dsn: str, tmp_path: Path, start: StartAgent
) -> None:
    start("--app", "bodies", "--queue", "gpu", "--gpu", "none")  # its ticks leave nothing due
    for _ in range(8):
        job = base.enqueue("noop", queue="cpu")
        options = ("--app", "bodies", "--queue", "cpu", "--until-empty")
        code, log = run_agent(tmp_path, *options, QWF_DSN=dsn)
        assert code == 0, log
        assert base.job(job)["status"] == "completed"


def test_it_says_that_a_queue_which_is_switched_off_may_not_be_empty(
    base: Database, dsn: str, tmp_path: Path
) -> None:
    base.one("select qwf.worker_control('box', 'cpu', 'off')")
    job = base.enqueue("noop", queue="cpu")
    code, log = run_agent(tmp_path, *OPTIONS, "--host", "box", QWF_DSN=dsn)
    assert code == SWITCHED_OFF, log
    assert "queue cpu is switched off for this box: it may have jobs" in log
    assert base.job(job)["status"] == "queued"


def test_it_stops_while_other_queues_are_busy(base: Database, dsn: str, tmp_path: Path) -> None:
    """Each tick promotes jobs of another queue."""
    base.conn.execute(
        "select qwf.enqueue('noop', queue => 'gpu', run_at => now() + n * interval '0.2 s')"
        " from generate_series(1, 1500) n"
    )
    job = base.enqueue("noop", queue="cpu")
    options = ("--app", "bodies", "--queue", "cpu", "--until-empty")
    code, log = run_agent(tmp_path, *options, QWF_DSN=dsn)
    assert code == 0, log
    assert base.job(job)["status"] == "completed"
    assert base.one("select count(*) from qwf.jobs where status = 'scheduled'") > 0
