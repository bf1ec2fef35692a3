"""The page of schedules."""

from __future__ import annotations

import html
import re
from typing import Any

import psycopg
import pytest

from support.visitors import Visit

Db = psycopg.Connection[Any]


def test_a_schedule_is_created_switched_and_dropped(visit: Visit, db: Db) -> None:
    admin = visit("admin")
    said = admin.do("create_schedule", name="hourly", task="sweep", cron="0 * * * *", args="")
    assert "schedule hourly is stored" in said.text
    page = visit("viewer").text("/schedules")
    assert "hourly" in page
    assert 'task <a href="/jobs?task=sweep">sweep</a>' in page
    assert '<span title="0 * * * *">every hour at minute 0</span>' in page
    assert "Drop schedule hourly</button>" in admin.text("/schedules")
    assert page.count("<li>") == 5  # the next five times
    admin.do("enable_schedule", name="hourly", enabled="false")
    assert db.execute("select enabled from qwf.schedules").fetchone() == (False,)
    admin.do("drop_schedule", name="hourly")
    assert "No schedule yet" in visit("viewer").text("/schedules")


def test_every_choice_of_the_form_is_stored(visit: Visit, db: Db) -> None:
    admin = visit("admin")
    form = admin.text("/schedules").partition("/do/create_schedule")[2]
    fields = {"catch_up": "all", "overlap": "allow", "priority": "7", "project": "p",
              "enabled": "false"}  # fmt: skip
    assert all(f'name="{name}"' in form for name in fields)
    admin.do("create_schedule", name="x", task="t", every="15 min", **fields)
    query = "select catch_up, overlap, priority::text, project, enabled::text from qwf.schedules"
    assert db.execute(query).fetchone() == tuple(fields.values())


def test_a_schedule_is_fired_now(visit: Visit, db: Db) -> None:
    db.execute("select qwf.create_schedule('hourly', 'sweep', every => '1 h')")
    admin = visit("admin")
    assert "Fire now" in admin.text("/schedules")
    assert "schedule hourly has fired" in admin.do("fire_schedule", name="hourly").text
    page = admin.text("/schedules")
    assert "/jobs/1" in page, "the job is linked"
    said = admin.do("fire_schedule", name="hourly")
    assert (said.status_code, "is not over" in said.text) == (409, True)
    event = db.execute(
        "select kind, login, detail->>'schedule' from _qwf.event_log where job_id is not null"
    ).fetchall()
    assert [(kind, schedule) for kind, _, schedule in event] == [("fired", "hourly")]
    assert "fired" in admin.text("/jobs/1")


def test_the_page_of_a_schedule_shows_times_and_firings_and_changes_it(
    visit: Visit, db: Db
) -> None:
    secret = '{"day": 1, "token": "s3cret"}'
    db.execute(
        "select qwf.create_schedule('n', task => 't', every => '2 h', args => %s, priority => 7,"
        " overlap => 'allow', expect => '{\"takes\": \"1 h\"}')", (secret,)
    )  # fmt: skip
    admin = visit("admin")
    assert admin.text("/schedules/n").count("It has not been due yet.") == 1
    for _ in range(2):
        admin.do("fire_schedule", name="n")
    page = admin.text("/schedules/n")
    assert page.count("<li><time") == 10
    assert page.count('<a href="/jobs/1" aria-label="job 1, queued">') == 1
    assert "Made by <span" in page
    form = page.partition('id="change"')[2]
    fields = dict(re.findall(r'<input name="(\w+)" value="([^"]*)"', form))
    assert (fields["task"], fields["every"]) == ("t", "02:00:00")
    texts = {
        name: html.unescape(text)
        for name, text in re.findall(r'<textarea name="(\w+)"[^>]*>([^<]*)', form)
    }
    assert "s3cret" not in page
    changed = texts | {"args": texts["args"].replace("1", "2")}
    said = admin.do(
        "create_schedule", name="n", task="t", every=fields["every"], priority="8",
        overlap="allow", **changed,
    )  # fmt: skip
    assert "schedule n is stored" in said.text
    query = "select args, priority, overlap, expect, every::text from qwf.schedules"
    stored = {"day": 2, "token": "s3cret"}, 8, "allow", {"takes": "1 h"}, "02:00:00"
    assert db.execute(query).fetchone() == stored
    assert 'id="change"' not in visit("viewer").text("/schedules/n")


@pytest.mark.parametrize("level", ["viewer", "operator"])
def test_only_admins_change_and_fire_schedules(visit: Visit, db: Db, level: str) -> None:
    db.execute("select qwf.create_schedule('hourly', 'sweep', every => '1 h')")
    visitor = visit(level)
    page = visitor.text("/schedules")
    for action in ("fire_schedule", "enable_schedule", "create_schedule", "drop_schedule"):
        assert f"/do/{action}" not in page
        assert visitor.do(action, name="hourly").status_code == 403, action
    assert db.execute("select count(*) from qwf.jobs").fetchone() == (0,)


def test_a_bad_schedule_is_refused_with_its_problem(visit: Visit) -> None:
    answer = visit("admin").do("create_schedule", name="x", task="t", cron="61 * * * *")
    assert answer.status_code == 409
    assert "61" in answer.text


def test_schedules_of_a_project(visit: Visit, db: Db) -> None:
    for name, project in (("one", "a"), ("two", "b")):
        db.execute("select qwf.create_schedule(%s, 't', every => '1 h', project => %s)",
                   (name, project))  # fmt: skip
    page = visit("viewer").text("/schedules?project=a")
    assert ("one" in page, "two" in page) == (True, False)


def test_a_backfill_is_planned_begun_paused_and_followed(visit: Visit, db: Db) -> None:
    """Times are of the zone of the schedule; the plan says what is left out, and why."""
    db.execute("""select qwf.create_schedule('etl', 'load', cron => '30 0 * * *',
      overlap => 'allow', timezone => 'Europe/Berlin', args => '{"day": {"$from": "due.date"}}')""")
    db.execute("select qwf.fire_schedule('etl', '2026-03-29 22:30Z')")
    admin = visit("admin")
    page = admin.text("/schedules/etl?since=2026-03-28&until=2026-04-01")
    assert "3 of 4 times fire." in page
    assert "1 left out: being worked on." in page
    assert 'value="2026-03-27T23:00:00' in page, "midnight in Berlin"
    assert 'value="2026-03-31T22:00:00' in page, "and after its clocks have changed"
    said = admin.do("backfill", name="etl", since="2026-03-27T23:00:00Z", at_once="2",
                    until="2026-03-31T22:00:00Z")  # fmt: skip
    assert "schedule etl.backfill.1 has begun; of 4 times are left out: 1 open" in said.text
    db.execute("select _qwf.fire_schedules()")
    for page in ("/schedules/etl", "/schedules/etl.backfill.1"):
        text = visit("viewer").text(page)
        assert "3 of 4 times," in text
        assert "2 open, 0 completed, 1 left out" in text
        assert "it was being worked on" in text
    admin.do("enable_schedule", name="etl.backfill.1", enabled="false")
    assert "Go on" in admin.text("/schedules/etl")
    assert "etl.backfill.1" in admin.text("/schedules")
    admin.do("drop_schedule", name="etl.backfill.1")
    assert "dropped" in visit("viewer").text("/schedules/etl.backfill.1")


def test_a_plan_that_can_do_nothing_says_why(visit: Visit, db: Db) -> None:
    db.execute("select qwf.create_schedule('etl', 'load', cron => '@daily')")
    viewer = visit("viewer")
    assert "no time of the schedule lies between" in viewer.text(
        "/schedules/etl?since=2026-01-01+01:00&until=2026-01-01+02:00"
    )
    assert "lies ahead" in viewer.text("/schedules/etl?since=2026-01-01&until=2999-01-01")
    assert "invalid input syntax" in viewer.text("/schedules/etl?since=soon&until=2026-01-01")
    assert viewer.get("/schedules/elt").status_code == 404
