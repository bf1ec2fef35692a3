"""A job is enqueued on the connection that the program has, whichever driver it is of."""

from __future__ import annotations

import asyncio
import sqlite3
from datetime import timedelta

import asyncpg
import psycopg
import pytest
import sqlalchemy
from bodies import say_hello

from qwf_agent import jobs
from support.drivers import ASYNC, SYNC, address, database, url
from support.harness import Database

TEXT = "50% of $1 :x \\ 'q'"
task = say_hello.options(
    priority=5, run_at=timedelta(hours=1), key="k", timeout=timedelta(minutes=2), once=True,
    labels={"text": TEXT}, backoff=[1, 2],
)  # fmt: skip


def check(base: Database, job_id: int) -> None:
    """The job is stored with everything it was enqueued with."""
    job = base.job(job_id)
    assert job["inputs"] == {"who": TEXT}
    assert (job["labels"], job["backoff"], job["priority"]) == ({"text": TEXT}, [1, 2], 5)
    assert (job["timeout"], job["once"], job["key"]) == (timedelta(minutes=2), True, "k")
    assert job["status"] == "scheduled"


@pytest.mark.parametrize("kind", SYNC)
def test_a_connection(base: Database, kind: str) -> None:
    with SYNC[kind](base.dsn) as opened:
        job_id = task.enqueue(opened.conn, who=TEXT)
        assert base.one("select count(*) from qwf.jobs") == 0, "not before the commit"
        opened.commit()
    check(base, job_id)


@pytest.mark.parametrize("kind", ASYNC)
def test_an_asynchronous_connection(base: Database, kind: str) -> None:
    async def enqueue() -> int:
        async with ASYNC[kind](base.dsn) as opened:
            job_id = await task.enqueue_async(opened.conn, who=TEXT)
            assert base.one("select count(*) from qwf.jobs") == 0, "not before the commit"
            await opened.commit()
            return job_id

    check(base, asyncio.run(enqueue()))


def test_a_connection_with_raw_cursors(base: Database) -> None:
    with psycopg.connect(base.dsn, cursor_factory=psycopg.RawCursor) as conn:
        job_id = task.enqueue(conn, who=TEXT)
        conn.commit()
        with pytest.raises(TimeoutError):
            jobs.wait(conn, job_id, timeout="0 s")
    check(base, job_id)


def test_an_asynchronous_connection_with_raw_cursors(base: Database) -> None:
    async def enqueue() -> int:
        raw = psycopg.AsyncRawCursor
        async with await psycopg.AsyncConnection.connect(base.dsn, cursor_factory=raw) as conn:
            return await task.enqueue_async(conn, who=TEXT)

    check(base, asyncio.run(enqueue()))


def test_any_other_driver_runs_the_statement(base: Database) -> None:
    sql, params = task.statement(who=TEXT)
    conn = psycopg.RawCursor(base.conn)  # it takes $1, $2, as the server does
    row = conn.execute(sql, params).fetchone()
    assert row is not None
    check(base, row[0] if isinstance(row, tuple) else row["enqueue"])


def test_what_is_no_connection_is_refused(base: Database) -> None:
    engine = sqlalchemy.create_engine(url(base.dsn, "psycopg"))
    for wrong in (base.dsn, None, engine, sqlite3.connect(":memory:")):
        with pytest.raises(TypeError, match=r"cannot use .*: pass a connection of"):
            task.enqueue(wrong, who="Ada")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"ends in _async cannot use psycopg.Connection"):
        asyncio.run(task.enqueue_async(base.conn, who="Ada"))  # type: ignore[arg-type]


def test_a_pool_is_refused_because_it_would_commit_at_once(base: Database) -> None:
    async def refused() -> None:
        where = {"database": database(base.dsn), **address(base.dsn)}
        async with asyncpg.create_pool(min_size=1, **where) as pool:
            with pytest.raises(TypeError, match=r"cannot use asyncpg.pool.Pool: pass"):
                await task.enqueue_async(pool, who="Ada")

    asyncio.run(refused())
    assert base.one("select count(*) from qwf.jobs") == 0


def test_an_asynchronous_connection_needs_enqueue_async(base: Database) -> None:
    async def refused() -> None:
        async with await psycopg.AsyncConnection.connect(base.dsn) as conn:
            with pytest.raises(TypeError, match="write await and the name that ends in _async"):
                task.enqueue(conn, who="Ada")  # type: ignore[arg-type]

    asyncio.run(refused())
    assert base.one("select count(*) from qwf.jobs") == 0
