"""Changes of many rows at once: none without a tick, and all jobs of the ticked groups."""

from __future__ import annotations

import re
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support.made_jobs import fail, worker
from support.visitors import Visit

Db = psycopg.Connection[Any]


@pytest.mark.parametrize(
    "path",
    ["/jobs/all/cancel", "/runs/change?verb=cancel", "/runs/change?verb=retry&of=selected",
     "/failures/retry"],
)  # fmt: skip
def test_without_a_tick_and_a_filter_nothing_is_changed(visit: Visit, path: str) -> None:
    """The answer is 400, and says what to tick."""
    answer = visit("operator").get(path)
    assert answer.status_code == 400
    assert "Tick the " in answer.text


def test_ticked_groups_of_failures_are_counted_and_retried(visit: Visit, db: Db) -> None:
    box = worker(db, "default")
    torn = [fail(db, box, "resize", f"photo {number} is torn") for number in range(3)]
    paper, ink = fail(db, box, "print", "no paper"), fail(db, box, "print", "no ink")
    operator = visit("operator")
    marks = re.findall(
        r'name="group" value="([0-9a-f]+)"[^>]*aria-label="Select the group: ([^"]*)"',
        operator.text("/failures"),
    )
    assert [error for _, error in marks] == ["no ink", "no paper", "photo 2 is torn"]
    chosen = "&".join(f"group={mark}" for mark, error in marks if error != "no ink")
    page = operator.text(f"/failures/retry?since=24h&{chosen}")
    assert "Retry 2 groups of failures" in page
    assert '<button class="primary">Retry 4 jobs</button>' in page
    (jobs,) = re.findall(r'name="jobs" value="([^"]*)"', page)
    assert sorted(map(int, jobs.split(","))) == sorted([*torn, paper])
    assert "4 of 4 jobs run again" in operator.do("retry_jobs", jobs=jobs).text
    left = db.execute("select id from qwf.jobs where status = 'failed'").fetchall()
    assert left == [(ink,)]


def test_elements_of_a_map_have_a_bar(visit: Visit, db: Db) -> None:
    each = {"id": "each", "queue": "default", "map": {"$value": [1, 2, 3]}}
    step = {"id": "s", "kind": "pipeline", "pipeline": "p"}
    db.execute("select qwf.register_pipeline(%s)", (Jsonb({"name": "p", "nodes": [each]}),))
    db.execute("select qwf.register_workflow(%s)", (Jsonb({"name": "w", "steps": [step]}),))
    db.execute("select qwf.enqueue_run('w')")
    page = visit("operator").text("/runs/1/nodes/s/each")
    assert page.count('name="jobs" value=') == 3
    assert 'href="/jobs/all/cancel?run_id=1&amp;node=s%2Feach"' in page
    assert 'name="jobs"' not in visit("viewer").text("/runs/1/nodes/s/each")
