"""The page of schedules."""

from __future__ import annotations

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
    assert "task sweep" in page
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
