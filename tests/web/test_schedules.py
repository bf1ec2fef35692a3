"""The page of schedules."""

from __future__ import annotations

from typing import Any

import psycopg

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
