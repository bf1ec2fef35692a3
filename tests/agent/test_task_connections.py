"""A job is enqueued on the connection that the program has, whichever driver it is of."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import asyncpg
import django
import psycopg
import psycopg2
import psycopg2.extras
import pytest
import sqlalchemy
from bodies import say_hello
from django.conf import settings
from django.db.utils import ConnectionHandler
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import class_row, dict_row, scalar_row, tuple_row
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session, scoped_session, sessionmaker

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


def address(dsn: str) -> dict[str, str]:
    """The parts of an address that every driver takes."""
    given = conninfo_to_dict(dsn)
    return {
        name: str(given[name]) for name in ("host", "port", "user", "password") if name in given
    }


def database(dsn: str) -> str:
    return str(conninfo_to_dict(dsn)["dbname"])


def url(dsn: str, driver: str) -> sqlalchemy.URL:
    where = address(dsn)
    user, password = where.pop("user", None), where.pop("password", None)
    return sqlalchemy.URL.create(
        f"postgresql+{driver}", user, password, database=database(dsn), query=where
    )


@pytest.mark.parametrize("rows", [tuple_row, dict_row, scalar_row, class_row(dict)])
def test_psycopg(base: Database, rows: Any) -> None:
    with psycopg.connect(base.dsn, row_factory=rows) as conn:
        job_id = task.enqueue(conn, who=TEXT)
    check(base, job_id)


@pytest.mark.parametrize("cursor", [None, psycopg2.extras.RealDictCursor])
def test_psycopg2(base: Database, cursor: Any) -> None:
    conn = psycopg2.connect(base.dsn, cursor_factory=cursor)
    job_id = task.enqueue(conn, who=TEXT)
    conn.commit()
    conn.close()
    check(base, job_id)


@pytest.mark.parametrize("driver", ["psycopg", "psycopg2"])
@pytest.mark.parametrize("kind", ["session", "scoped", "connection", "driver"])
def test_sqlalchemy(base: Database, driver: str, kind: str) -> None:
    engine = sqlalchemy.create_engine(url(base.dsn, driver))
    with Session(engine) as session:
        conn = {
            "session": lambda: session,
            "scoped": lambda: scoped_session(sessionmaker(engine), scopefunc=lambda: 1),
            "connection": session.connection,
            "driver": lambda: session.connection().connection,
        }[kind]()
        job_id = task.enqueue(conn, who=TEXT)
        assert base.one("select count(*) from qwf.jobs") == 0, "not before the commit"
        (conn if kind == "scoped" else session).commit()
    engine.dispose()
    check(base, job_id)


def test_django(base: Database) -> None:
    if not settings.configured:
        settings.configure(DATABASES={})
        django.setup()
    where = {name.upper(): value for name, value in address(base.dsn).items()}
    default = {"ENGINE": "django.db.backends.postgresql", "NAME": database(base.dsn), **where}
    connections = ConnectionHandler({"default": default})
    connection = connections["default"]
    connection.set_autocommit(False)
    job_id = task.enqueue(connection, who=TEXT)
    assert base.one("select count(*) from qwf.jobs") == 0, "not before the commit"
    connection.commit()
    connection.close()
    check(base, job_id)


async def with_psycopg(dsn: str) -> int:
    async with await psycopg.AsyncConnection.connect(dsn, row_factory=dict_row) as conn:
        return await task.enqueue_async(conn, who=TEXT)


async def with_asyncpg(dsn: str) -> int:
    conn = await asyncpg.connect(database=database(dsn), **address(dsn))
    async with conn.transaction():
        job_id = await task.enqueue_async(conn, who=TEXT)
    await conn.close()
    return job_id


async def with_asyncpg_pool(dsn: str) -> int:
    async with (
        asyncpg.create_pool(database=database(dsn), min_size=1, **address(dsn)) as pool,
        pool.acquire() as conn,
        conn.transaction(),
    ):
        return await task.enqueue_async(conn, who=TEXT)


def with_sqlalchemy(driver: str, in_session: bool) -> Callable[[str], Awaitable[int]]:
    async def enqueue(dsn: str) -> int:
        engine = create_async_engine(url(dsn, driver))
        async with AsyncSession(engine) as session:
            conn = session if in_session else await session.connection()
            job_id = await task.enqueue_async(conn, who=TEXT)
            await session.commit()
        await engine.dispose()
        return job_id

    return enqueue


@pytest.mark.parametrize(
    "enqueue",
    [
        with_psycopg, with_asyncpg, with_asyncpg_pool, with_sqlalchemy("asyncpg", True),
        with_sqlalchemy("asyncpg", False), with_sqlalchemy("psycopg", True),
    ],
)  # fmt: skip
def test_an_asynchronous_connection(
    base: Database, enqueue: Callable[[str], Awaitable[int]]
) -> None:
    async def result() -> int:
        return await enqueue(base.dsn)

    check(base, asyncio.run(result()))


def test_any_other_driver_runs_the_statement(base: Database) -> None:
    sql, params = task.statement(who=TEXT)
    conn = psycopg.RawCursor(base.conn)  # it takes $1, $2, as the server does
    row = conn.execute(sql, params).fetchone()
    assert row is not None
    check(base, row[0] if isinstance(row, tuple) else row["enqueue"])


def test_what_is_no_connection_is_refused(base: Database) -> None:
    engine = sqlalchemy.create_engine(url(base.dsn, "psycopg"))
    for wrong in (base.dsn, None, engine):
        with pytest.raises(TypeError, match=r"enqueue\(\) cannot use .*: pass a connection of"):
            task.enqueue(wrong, who="Ada")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"enqueue_async\(\) cannot use psycopg.Connection"):
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
            with pytest.raises(TypeError, match="write await task"):
                task.enqueue(conn, who="Ada")  # type: ignore[arg-type]

    asyncio.run(refused())
    assert base.one("select count(*) from qwf.jobs") == 0
