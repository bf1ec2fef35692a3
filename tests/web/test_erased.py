"""Pages of jobs and runs that have been erased."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from support.visitors import Visit

Db = psycopg.Connection[Any]
WORKFLOW = {
    "name": "w",
    "steps": [
        {"id": "ask", "kind": "input", "widget": "pick_one", "target": "x", "options": ["anna"],
         "prompt": "anna?"},
    ],
}  # fmt: skip


def test_their_pages_show_the_marks(visit: Visit, db: Db) -> None:
    db.execute('select qwf.enqueue(\'t\', \'{"to": "anna"}\', labels => \'{"person": "42"}\')')
    db.execute(
        "select qwf.finish(job_id, token, 'fatal', null, 'anna', '{\"log_tail\": \"anna\"}')"
        " from qwf.claim('default', 'box:w', 1)"
    )
    db.execute("select qwf.register_workflow(%s)", (Jsonb(WORKFLOW),))
    db.execute("select qwf.enqueue_run('w', labels => '{\"person\": \"42\"}')")
    db.execute("select qwf.submit_input(id, 'ask', '\"anna\"') from qwf.runs")
    jobs = db.execute("select id, run_id from qwf.jobs order by id").fetchall()
    paths = [f"/jobs/{job}" for job, _ in jobs] + [f"/runs/{run}" for _, run in jobs if run]
    before = visit("admin")
    assert all("anna" in before.text(path) for path in paths[:2])
    db.execute('select qwf.erase(\'{"label": {"person": "42"}}\')')
    after = visit("admin")
    for path in [*paths, "/jobs", "/failures", "/events", "/audit", "/runs"]:
        shown = after.text(path)
        assert "person" not in shown or path in ("/audit", "/events"), path
        if not path.startswith("/runs/"):  # its definition has the question, and stays
            assert "anna" not in shown, path
    assert all("$erased" in after.text(path) for path in paths[:2])
