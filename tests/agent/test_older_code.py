"""The web is deployed with a new argument before the workers: no job fails."""

from __future__ import annotations

import importlib.util
import os
import signal
from pathlib import Path
from typing import Any

import psycopg

from qwf_agent import jobs
from support.harness import PACKAGE, Database, StartAgent, until

OLD = """
from qwf_agent import App
app = App()
@app.task("send")
def send(to: str) -> dict:
    return {"sent": [to]}
"""
NEW = OLD.replace("to: str", "to: str, cc: str").replace("[to]", "[to, cc]")
SOON = "update qwf.jobs set run_at = qwf.now() where status = 'scheduled'"


def new_task(folder: Path) -> Any:
    """The task as the new web has it."""
    file = folder / "new_mail.py"
    file.write_text(NEW)
    spec = importlib.util.spec_from_file_location("new_mail", file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.send


def test_jobs_of_a_newer_web_wait_for_newer_workers(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    code = tmp_path / "mail.py"
    code.write_text(OLD)
    agent = start("--app", "mail", "--host", "box-a", PYTHONPATH=f"{PACKAGE}{os.pathsep}{tmp_path}")
    send = new_task(tmp_path)
    with psycopg.connect(base.dsn) as conn:
        ids = jobs.enqueue_many(conn, [send.job(f"to {n}", cc="me") for n in range(20)])
        ids += [send.enqueue(conn, "ada", cc="me"), send.options(key="k").enqueue(conn, "b", "c")]
    unchecked = base.enqueue("send", {"to": "ada", "cc": "me"})
    assert base.ended(unchecked)["status"] == "failed", "nobody has compared its arguments"
    waiting = "select count(*) from qwf.jobs where status = 'scheduled'"
    until(lambda: base.one(waiting) == len(ids), "the releases")
    why = base.one("select string_agg(w, ' ') from qwf.why_not(%s) w", ids[0])
    assert "after: box-a runs older code: send() does not take the argument 'cc'" in why
    assert base.job(ids[0])["labels"] == {}
    events = "select count(*) from _qwf.event_log where kind = 'older_code'"
    assert base.one(events) == len(ids)
    base.conn.execute(SOON)  # still the old code
    until(lambda: base.one("select min(attempt) from qwf.jobs where id = any(%s)", ids) == 2)
    until(lambda: base.one(waiting) == len(ids), "the releases")
    assert base.one(events) == len(ids)
    code.write_text(NEW)
    agent.signal(signal.SIGHUP)

    def all_done() -> bool:
        base.conn.execute(SOON)
        return bool(base.one(
            "select bool_and(status = 'completed') from qwf.jobs where id = any(%s)", ids
        ))  # fmt: skip

    until(all_done, "the jobs")
    assert "send: released (older_code), attempt 1, runs again in" in agent.said()
    assert base.one("select max(failures + losses) from qwf.jobs where id = any(%s)", ids) == 0
    assert base.job(ids[0])["output"] == {"sent": ["to 0", "me"]}
    assert base.invariants() == []


def test_null_is_a_mistake_of_the_producer(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    (tmp_path / "mail.py").write_text(NEW)
    start("--app", "mail", PYTHONPATH=f"{PACKAGE}{os.pathsep}{tmp_path}")
    with psycopg.connect(base.dsn) as conn:
        job_id = new_task(tmp_path).enqueue(conn, "ada", cc=None)
    job = base.ended(job_id)
    assert job["status"] == "failed"
    assert "which is null" in job["last_error"]
