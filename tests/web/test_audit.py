"""The page Audit, and who began a run or a job."""

from __future__ import annotations

import re
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from qwf_agent.web.pages import audit
from support.visitors import Visit

Db = psycopg.Connection[Any]


def test_it_lists_who_did_what_and_filters(visit: Visit, db: Db) -> None:
    admin = visit("admin")
    db.execute("set qwf.acting_for = 'ada <b>'")
    db.execute("select qwf.pause_queue('gpu'), qwf.create_limit('api', 2)")
    page = admin.text("/audit")
    for shown in ("queue changed", ">paused</span>", "<q>ada &lt;b&gt;</q>", "limit changed"):
        assert shown in page
    assert page.index("limit changed") < page.index(">paused</span>"), "the newest comes first"
    of_queue = admin.text("/audit?subject=gpu&login=" + db.info.user)
    assert (">paused</span>" in of_queue, "limit changed" in of_queue) == (True, False)
    assert "limit changed" not in admin.text("/audit?kind=queue_changed&since=2h")
    assert "Nothing like that was done" in admin.text("/audit?login=nobody%00")
    assert "This filter does not work" in admin.text("/audit?since=gestern")


def test_an_empty_list_says_so(visit: Visit) -> None:
    assert "Nobody has changed anything yet" in visit("viewer").text("/audit")


def test_many_acts_are_on_pages(visit: Visit, db: Db, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "A_PAGE", 2)
    for number in range(1, 6):
        db.execute(f"select qwf.create_limit('l{number}', 1)")
    path, seen = "/audit?kind=limit_changed", []
    viewer = visit("viewer")
    while path:
        page = viewer.text(path)
        seen.append(re.findall(r"subject=(l\d)", page))
        more = re.search(r'href="([^"]*)">Older', page)
        path = more[1].replace("&amp;", "&") if more else ""
    assert seen == [["l5", "l4"], ["l3", "l2"], ["l1"]]


def test_a_login_that_looks_like_a_login_and_a_name_is_one_field(visit: Visit, db: Db) -> None:
    db.execute("insert into _qwf.event_log (kind, subject, login) values"
               " ('queue_changed', 'gpu', 'page for ada')")  # fmt: skip
    page = visit("viewer").text("/audit")
    row = page[page.index('id="act-') :]
    assert ">page for ada</a></td>" in row
    assert "<q>" not in row[: row.index("</tr>")]


def test_a_run_and_a_job_say_who_began_them(visit: Visit, db: Db) -> None:
    steps = [{"id": "ask", "kind": "input", "widget": "confirm"}]
    db.execute("select qwf.register_workflow(%s)", [Jsonb({"name": "w", "steps": steps})])
    db.execute("set qwf.acting_for = 'ada'")
    db.execute("select qwf.enqueue_run('w'), qwf.enqueue('t')")
    db.execute("select qwf.create_schedule('nightly', 'sweep', cron => '@daily')")
    db.execute("select qwf.fire_schedule('nightly')")
    viewer = visit("viewer")
    who = f'<b>{db.info.user}</b> <span class="muted">acting for</span> <q>ada</q>'
    assert f'Started by <span class="who">{who}' in viewer.text("/runs/1")
    job, swept = (
        db.execute("select id from qwf.jobs where task = %s", [task]).fetchone()
        for task in ("t", "sweep")
    )
    assert job is not None
    assert swept is not None
    assert who in viewer.text(f"/jobs/{job[0]}")
    assert ">nightly</a>, fired by" in viewer.text(f"/jobs/{swept[0]}")
