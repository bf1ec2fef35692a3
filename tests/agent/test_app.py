"""What producers and task authors import."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime, timedelta, timezone

import psycopg
import pytest
from bodies import add, app, say_hello

from qwf_agent import App
from support.harness import PACKAGE, Database


def test_a_task_is_still_a_function() -> None:
    assert add(1) == {"sum": 3}
    assert add.__name__ == "add"


def test_it_is_enqueued_in_the_callers_transaction(base: Database) -> None:
    with psycopg.connect(base.dsn) as conn:
        job_id = say_hello.enqueue(conn, who="Ada")
        assert base.one("select count(*) from qwf.jobs") == 0
    job = base.job(job_id)
    assert (job["task"], job["queue"], job["max_attempts"]) == ("greet", "cpu", 2)
    assert job["timeout"] == timedelta(seconds=30)
    assert job["inputs"] == {"who": "Ada"}


def test_a_rollback_removes_the_job(base: Database) -> None:
    with psycopg.connect(base.dsn) as conn:
        add.enqueue(conn, a=1)
        conn.rollback()
    assert base.one("select count(*) from qwf.jobs") == 0


def test_options_apply_to_a_copy_of_the_task(base: Database) -> None:
    when = datetime(2040, 1, 2, tzinfo=timezone.utc)
    special = add.options(
        priority=5, run_at=when, key="k", labels={"a": 1}, timeout=timedelta(minutes=2),
        backoff=[1, 2], once=True, project="p", queue="gpu", max_attempts=3,
    )  # fmt: skip
    job = base.job(special.enqueue(base.conn, a=1))
    assert (job["priority"], job["run_at"], job["key"], job["once"]) == (5, when, "k", True)
    assert (job["labels"], job["project"], job["queue"]) == ({"a": 1}, "p", "gpu")
    assert (job["timeout"], job["backoff"]) == (timedelta(minutes=2), [1, 2])
    plain = base.job(add.enqueue(base.conn, a=1))
    assert (plain["priority"], plain["run_at"], plain["key"]) == (100, None, None)


def test_an_unknown_option_is_named() -> None:
    with pytest.raises(TypeError, match="'urgency'"):
        add.options(urgency=1)


def test_arguments_have_to_be_json(base: Database) -> None:
    with pytest.raises(ValueError, match="JSON"):
        add.enqueue(base.conn, a=float("nan"))
    with pytest.raises(psycopg.Error) as error:
        add.options(queue="nonesuch").enqueue(base.conn, a=1)
    assert error.value.sqlstate == "QW006"


def test_two_tasks_with_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="'greet'"):
        app.task("greet")(lambda: None)
    assert App().tasks == {}


def test_importing_app_needs_no_database_driver() -> None:
    code = "import sys; sys.modules['psycopg'] = None; from qwf_agent import App; App()"
    subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(PACKAGE)}, check=True)
