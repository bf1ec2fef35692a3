"""Maps of workflows within a map of a workflow: cancelled, retried, signalled while agents die."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

from support.harness import Database, StartAgent, until

X = {"$from": "photo"}
PHOTO: dict[str, Any] = {
    "name": "photo",
    "outputs": {"photo": {"$from": "write.photo"}},
    "steps": [
        {"id": "crop", "node": "crop", "queue": "default", "inputs": {"photo": X}},
        {"id": "wanted", "kind": "input", "signal": "wanted", "target": "by",
         "depends_on": ["crop"], "schema": {"type": "object", "required": ["name"]}},
        {"id": "frame", "node": "frame", "queue": "default", "depends_on": ["wanted"],
         "inputs": {"photo": X, "gate": {"$from": "gate"}}},
        {"id": "write", "node": "write", "queue": "default", "depends_on": ["frame"],
         "inputs": {"photo": X}},
    ],
}  # fmt: skip
FOLDER: dict[str, Any] = {
    "name": "folder",
    "outputs": {"photos": {"$from": "each"}},
    "steps": [
        {"id": "each", "kind": "workflow", "workflow": "photo", "map": {"$from": "photos"},
         "inputs": {"photo": {"$from": "item"}, "gate": {"$from": "gate"}}},
    ],
}  # fmt: skip
LIBRARY: dict[str, Any] = {
    "name": "library",
    "steps": [
        {"id": "each", "kind": "workflow", "workflow": "folder", "map": {"$from": "folders"},
         "inputs": {"photos": {"$from": "item"}, "gate": {"$from": "gate"}}},
    ],
}  # fmt: skip
PHOTOS = [["a", "b"], ["c", "d", "e"]]
COUNT = sum(map(len, PHOTOS))
OPEN = "select count(*) from qwf.runs where finished_at is null"
WAITING = "select count(*) from qwf.waits where kind = 'signal'"
RUNNING = "select count(*) from qwf.jobs where node_id = 'frame' and status = 'running'"
ATTEMPTS = """
select j.node_id, count(*) as attempts, count(*) filter (where a.outcome = 'completed') as done
from qwf.job_attempts a join qwf.jobs j on j.id = a.job_id where j.queue = 'default' group by 1
"""


def test_the_rest_of_nested_maps_goes_on_after_kills_a_cancel_and_a_signal(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """The cancel reaches the bodies two levels down, the retry runs only what is left, the signal
    counts once, and the lists come in order."""
    base.one("select qwf.create_queue('default', lease => '1.5 s')")
    base.conn.execute("create table effects (photo text, node text, primary key (photo, node))")
    for definition in (PHOTO, FOLDER, LIBRARY):
        base.one("select qwf.register_workflow(%s)", json.dumps(definition))
    context = {"folders": PHOTOS, "gate": str(tmp_path / "gate")}
    run = base.one("select qwf.enqueue_run('library', %s)", json.dumps(context))
    agent = start("--app", "album", "--slots", "5", "--host", "a")
    until(lambda: base.one(WAITING) == COUNT, "the photos to wait for the signal")
    assert base.one("select qwf.signal('wanted', '7')") == 0  # which does not fit
    kill(agent)
    assert base.one("select qwf.signal('wanted', '{\"name\": \"ada\"}')") == COUNT
    agent = start("--app", "album", "--slots", "5", "--host", "b")
    until(lambda: base.one(RUNNING) == COUNT, "the frames")

    base.one("select qwf.cancel_run(%s)", run)
    until(lambda: base.one(OPEN) == 0, "the end of all runs")
    until(lambda: base.one(RUNNING) == 0, "the end of all bodies")
    assert base.one("select count(*) from qwf.runs where status = 'cancelled'") == 1 + 2 + COUNT
    assert base.invariants() == []

    base.one("select qwf.retry_run(%s)", run)
    until(lambda: base.one(RUNNING) == COUNT, "the frames again")
    kill(agent)
    (tmp_path / "gate").touch()
    start("--app", "album", "--slots", "5", "--host", "c")
    until(lambda: base.one(OPEN) == 0, "the end of the retry")
    assert base.one("select status::text from qwf.runs where id = %s", run) == "completed"
    output = base.one("select output from qwf.jobs where run_id = %s and node_id = 'each'", run)
    assert output == [{"photos": [{"photo": photo} for photo in folder]} for folder in PHOTOS]
    rows = base.conn.execute(ATTEMPTS).fetchall()
    assert {row["node_id"]: (row["attempts"], row["done"]) for row in rows} == {
        "crop": (COUNT, COUNT),
        "frame": (3 * COUNT, COUNT),  # cancelled, lost, completed
        "write": (COUNT, COUNT),
    }
    assert base.one("select count(*) from effects") == 3 * COUNT
    assert base.one(WAITING) == 0
    assert base.invariants() == []


def kill(agent: Any) -> None:
    for pid in [agent.pid, *agent.children()]:
        os.kill(pid, signal.SIGKILL)
