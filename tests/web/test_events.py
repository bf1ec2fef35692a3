"""The page of events."""

from __future__ import annotations

import re
from typing import Any

import psycopg

from support.visitors import Visit

Db = psycopg.Connection[Any]


def happens(db: Db, kind: str, subject: str, times: int = 1) -> None:
    db.execute(
        "insert into _qwf.event_log (kind, subject, detail) select %s, %s,"
        ' \'{"reason": "<b>"}\' from generate_series(1, %s)',
        (kind, subject, times),
    )
    db.execute("select _qwf.number_events()")


def numbers(page: str) -> list[int]:
    return [int(number) for number in re.findall(r'id="event-(\d+)"', page)]


def test_events_are_listed_the_newest_first(visit: Visit, db: Db) -> None:
    viewer = visit("viewer")
    happens(db, "fired", "nightly", 120)
    happens(db, "worker_off", "boat")
    page = viewer.text("/events")
    assert numbers(page) == list(range(121, 71, -1))
    assert "reason &lt;b&gt;" in page
    assert numbers(viewer.text("/events?before=72")) == list(range(71, 21, -1))
    page = viewer.text("/events?before=22")
    assert numbers(page) == list(range(21, 0, -1))
    assert "Older" not in page.replace("Older and newer", "")


def test_a_page_without_events_says_so(visit: Visit) -> None:
    assert "Nothing has happened yet." in visit("viewer").text("/events")


def test_they_are_found_by_kind_and_by_subject(visit: Visit, db: Db) -> None:
    viewer = visit("viewer")
    happens(db, "worker_off", "boat")
    happens(db, "fired", "nightly", 60)
    assert numbers(viewer.text("/events?kind=worker_off")) == [1]
    assert numbers(viewer.text("/events?subject=boat&kind=worker_off")) == [1]
    assert numbers(viewer.text("/events?subject=boat&kind=fired")) == []
    assert "No event here matches." in viewer.text("/events?kind=%00x")
    assert numbers(viewer.text("/events?before=nonsense")) == list(range(61, 11, -1))


def test_the_page_of_a_run_lists_its_tries(visit: Visit, db: Db) -> None:
    db.execute('select qwf.register_workflow(\'{"name": "empty", "steps": []}\')')
    db.execute("select qwf.enqueue_run('empty')")
    ((run,),) = db.execute("select id from qwf.runs").fetchall()
    path = f"/runs/{run}?show=history"
    assert "How each try" not in visit("viewer").text(path)
    db.execute(
        "insert into _qwf.event_log (run_id, kind, detail) values (%s, 'run_ended',"
        ' \'{"status": "failed", "seconds": 90, "node": "s/a", "error": "s/a failed: boom"}\')',
        (run,),
    )
    page = visit("viewer").text(path)
    assert re.search(r'id="try-2".*1 min 30 s.*s/a.*s/a failed: boom', page)
