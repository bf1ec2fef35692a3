"""`qwf_agent.testing.empty`: what happened is gone, what was configured stays."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from qwf_agent import App
from qwf_agent.testing import empty, run_until_idle
from qwf_agent.testing.emptying import KEPT

app = App()
TABLES = "select schemaname, tablename from pg_tables where schemaname in ('qwf', '_qwf')"


@app.task("greet")
def greet() -> dict[str, str]:
    return {"text": "hello"}


def test_jobs_and_what_is_known_about_them_are_gone(dsn: str, db: psycopg.Connection[Any]) -> None:
    assert table_rows(db) <= set(KEPT)  # of a new database
    db.execute("select qwf.create_queue('mine'), qwf.create_limit('two', 2, 5, '1 hour')")
    db.execute("select qwf.create_schedule('s', task => 'greet', every => '1 day')")
    greet.options(limit_by="two").enqueue(db)
    assert [attempt.outcome for attempt in run_until_idle(dsn, app).ran] == ["completed"]
    greet.options(limit_by="two").enqueue(db)
    assert db.execute("select count(*) from qwf.claim('default', 'w')").fetchone() == (1,)
    assert table_rows(db) - set(KEPT)
    empty(dsn)
    assert table_rows(db) <= set(KEPT)
    assert table_rows(db) >= {"qwf.queues", "qwf.limits", "qwf.schedules", "qwf.settings"}
    used = "select from qwf.limit_slots where job_id is not null"
    assert db.execute(used).fetchall() == []
    assert db.execute("select from qwf.limit_starts where isfinite(used_at)").fetchall() == []
    assert db.execute("select * from qwf.check_invariants()").fetchall() == []
    greet.enqueue(db)
    assert [attempt.outcome for attempt in run_until_idle(dsn, app).ran] == ["completed"]


def table_rows(db: psycopg.Connection[Any]) -> set[str]:
    """The tables that have rows."""
    return {
        f"{schema}.{table}"
        for schema, table in db.execute(TABLES).fetchall()
        if db.execute(f"select from {schema}.{table} limit 1").fetchall()
    }


def test_all_tables_that_are_kept_exist(db: psycopg.Connection[Any]) -> None:
    for name in KEPT:
        assert db.execute("select to_regclass(%s)", [name]).fetchone() != (None,)


def test_a_database_with_another_name_is_not_emptied(dsn: str) -> None:
    server = make_conninfo(dsn, dbname="postgres")
    assert conninfo_to_dict(dsn)["dbname"] != "postgres"
    with pytest.raises(ValueError, match="postgres is not emptied"):
        empty(server)
