"""Pages while logins have registered thousands of workers, and while a part cannot be read."""

from __future__ import annotations

import re
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from qwf_agent.web.pages import overview, waiting
from qwf_agent.web.reads import snapshot
from support.visitors import Visit

Db = psycopg.Connection[Any]
SLOW = "select pg_sleep(60)"
MOST_BYTES = 500_000  # of a page that shows the first 200


def crowd(db: Db, count: int = 10_000) -> None:
    """Live workers, one a box, of which every tenth is dead."""
    db.execute("select qwf.create_queue('gpu')")
    db.execute(
        "insert into qwf.workers (id, host, queue, slots, last_seen)"
        " select format('h%%s:w', n), 'h' || n, 'gpu', 4,"
        "   now() - case when n %% 10 = 0 then interval '1 h' else '0' end"
        " from generate_series(1, %s::int) n",
        (count,),
    )
    db.execute("analyze qwf.workers")


def ask_and_fail(db: Db) -> None:
    """A question, and a job that failed."""
    steps = [{"id": "ok", "kind": "input", "widget": "confirm", "prompt": "Send it?",
              "target": "yes"}]  # fmt: skip
    db.execute("select qwf.register_workflow(%s)", (Jsonb({"name": "pick", "steps": steps}),))
    db.execute("select qwf.enqueue_run('pick', '{}')")
    db.execute("select qwf.enqueue('print')")
    db.execute(
        "select qwf.finish(c.job_id, c.token, 'fatal', null, 'no paper')"
        " from qwf.claim('default', 'printer') c"
    )


def test_ten_thousand_workers_are_counted_and_some_are_shown(visit: Visit, db: Db) -> None:
    crowd(db)
    viewer = visit("viewer")
    for path in ("/", "/fleet"):
        page = viewer.text(path)
        assert len(page) < MOST_BYTES, path
        shown = 20 if path == "/" else 200
        assert len(re.findall(r'<(?:li|section) [^>]*id="box-', page)) == shown
        assert f"and {9000 - shown:,} more workers, {9000 - shown:,} more boxes" in page
        assert 'id="left-out"' not in page
    assert "✗ 1,000 dead workers" in viewer.text("/")
    assert "and 950 more" in viewer.text("/fleet")


def test_a_worker_with_jobs_is_shown_before_thousands_without(visit: Visit, db: Db) -> None:
    crowd(db, 1000)
    db.execute("select qwf.register_worker('zebra', 'gpu', '{\"slots\": 2}')")
    db.execute("select qwf.enqueue('draw', queue => 'gpu')")
    (worker,) = db.execute("select id from qwf.workers where host = 'zebra'").fetchall()[0]
    db.execute("select qwf.claim('gpu', %s)", (worker,))
    for path in ("/", "/fleet"):
        assert 'id="box-zebra"' in visit("viewer").text(path)


def test_a_box_beyond_the_first_200_has_its_page(visit: Visit, db: Db) -> None:
    crowd(db, 1000)
    page = visit("admin").text("/fleet/h999")
    assert "0 of 4" in page
    assert "Drain" in page


@pytest.mark.parametrize("part", ["WORKERS", "CROWD", "BOXES", "SERVERS", "QUEUES"])
def test_a_slow_part_hides_no_question_and_no_failure(
    visit: Visit, db: Db, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    ask_and_fail(db)
    monkeypatch.setattr(overview if part == "QUEUES" else snapshot, part, SLOW)
    page = visit("viewer").text("/")
    assert "Left out, because the database takes too long" in page
    assert "Send it?" in page
    assert "no paper" in page


def test_a_part_that_cannot_be_computed_hides_nothing_else(
    visit: Visit, db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask_and_fail(db)
    monkeypatch.setattr(snapshot, "BOXES", "select 1 / 0 as host")
    page = visit("viewer").text("/")
    assert "or cannot compute it: boxes." in page
    assert "Send it?" in page


def test_a_list_says_that_its_reasons_are_left_out(
    visit: Visit, db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.execute("select qwf.enqueue('draw')")
    monkeypatch.setattr(waiting, "WHY", "select %(jobs)s, pg_sleep(60)")
    page = visit("viewer").text("/jobs")
    assert "draw" in page
    assert "why each job waits" in page
