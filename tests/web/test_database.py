"""Statements of the page: one answer for everybody, and none from before a change."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import psycopg
import pytest
from starlette.requests import Request

from qwf_agent.web.reads.database import FRESH_S, Database
from qwf_agent.web.site.handlers import Refreshes
from support.bouncer import bouncer

Db = psycopg.Connection[Any]
COUNT = "select count(*) as jobs from qwf.jobs"
# Waits for the lock of the test, so that a change happens while it runs.
SLOW = "select count(*) as jobs, pg_advisory_lock_shared(%(key)s) from qwf.jobs"


def test_equal_questions_within_a_second_have_one_answer(dsn: str, db: Db) -> None:
    async def ask() -> list[int]:
        database = Database(dsn)
        counts = [(await database.rows(COUNT, {}, fresh_s=60.0))[0][0]["jobs"]]
        db.execute("select qwf.enqueue('t')")
        counts.append((await database.rows(COUNT, {}, fresh_s=60.0))[0][0]["jobs"])
        database.forget()
        counts.append((await database.rows(COUNT, {}, fresh_s=60.0))[0][0]["jobs"])
        await database.close()
        return counts

    assert asyncio.run(ask()) == [0, 0, 1]


def test_an_answer_that_was_asked_for_before_a_change_is_not_kept(dsn: str, db: Db) -> None:
    async def ask() -> tuple[int, int]:
        database = Database(dsn)
        db.execute("select pg_advisory_lock(7)")
        before = asyncio.ensure_future(database.rows(SLOW, {"key": 7}, fresh_s=60.0))
        waits = "select from pg_locks where locktype = 'advisory' and not granted"
        for _ in range(6000):
            await asyncio.sleep(0.01)
            if db.execute(waits).fetchone() is not None:
                break
        db.execute("select qwf.enqueue('t')")
        database.forget()
        db.execute("select pg_advisory_unlock(7)")
        old, _ = await before
        new, _ = await database.rows(SLOW, {"key": 7}, fresh_s=60.0)
        await database.close()
        return old[0]["jobs"], new[0]["jobs"]

    assert asyncio.run(ask()) == (0, 1)


def test_the_more_tabs_ask_again_the_longer_an_answer_serves() -> None:
    refresh = Request({"type": "http", "headers": [(b"hx-request", b"true")]})
    refreshes = Refreshes()
    assert [refreshes.fresh_s(refresh) for _ in range(10)] == [FRESH_S] * 10  # 2 a second
    several = [refreshes.fresh_s(refresh) for _ in range(300)]
    assert several == sorted(several)
    assert several[39] == 5.0  # 10 a second
    assert several[-1] == 10.0
    assert refreshes.fresh_s(Request({"type": "http", "headers": []})) == FRESH_S


@pytest.mark.fresh
def test_connections_that_were_lost_while_nobody_used_them_are_replaced(dsn: str, db: Db) -> None:
    async def ask_twice() -> None:
        data = Database(dsn)
        try:
            # as many connections as there may be, all of them lost
            slow = [data.rows("select pg_sleep(1), %(n)s::int", {"n": n}) for n in range(4)]
            await asyncio.gather(*slow)
            ours = "select pg_terminate_backend(pid) from pg_stat_activity"
            ours += " where application_name = 'qwf web' and datname = current_database()"
            killed = db.execute(ours).fetchall()
            assert len(killed) == 4
            assert await data.rows("select 1 as one", {}) is not None
        finally:
            await data.close()

    asyncio.run(ask_twice())


PREPARED = "select statement from pg_prepared_statements order by prepare_time"


@pytest.mark.parametrize("pooled", [False, True])
def test_a_session_of_its_own_prepares_what_it_reads_and_one_of_a_pooler_does_not(
    dsn: str, db: Db, pooled: bool
) -> None:
    """Both read with the same settings, and neither writes."""

    async def ask(where: str) -> None:
        data = Database(where)
        try:
            for _ in range(2):
                rows, _ = await data.rows(COUNT, {}, fresh_s=0.0)
                assert rows == [{"jobs": 0}]
            one = "select %(a)s::int + %(b)s::int as c"
            assert (await data.rows(one, {"a": 1, "b": 70_000}))[0] == [{"c": 70_001}]
            prepared, _ = await data.rows(PREPARED, {})
            texts = [row["statement"] for row in prepared if "pg_prepared" not in row["statement"]]
            assert texts == ([] if pooled else [COUNT, "select $1::int + $2::int as c"])
            settings, _ = await data.rows(
                "select current_setting('statement_timeout') as most,"
                " current_setting('search_path') as path, current_setting('timezone') as zone",
                {},
            )
            assert settings == [{"most": "2s", "path": "pg_catalog, pg_temp", "zone": "UTC"}]
            with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
                await data.rows("create table public.written ()", {})
        finally:
            await data.close()

    with contextlib.ExitStack() as stack:
        asyncio.run(ask(stack.enter_context(bouncer(dsn)).shared if pooled else dsn))


def test_a_view_that_gets_other_columns_is_read_again(dsn: str, db: Db) -> None:
    async def ask() -> list[dict[str, Any]]:
        data = Database(dsn)
        try:
            db.execute("create view public.seen as select 1 as one")
            await data.rows("select * from public.seen", {}, fresh_s=0.0)
            db.execute("drop view public.seen; create view public.seen as select 2 as two")
            return (await data.rows("select * from public.seen", {}, fresh_s=0.0))[0]
        finally:
            await data.close()

    assert asyncio.run(ask()) == [{"two": 2}]
