"""A connection of each kind that programs have: of psycopg, psycopg2, asyncpg, SQLAlchemy, Django.
None of them is in autocommit."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from functools import partial
from typing import Any, NamedTuple

import asyncpg
import django
import psycopg
import psycopg2
import psycopg2.extras
import sqlalchemy
from django.conf import settings
from django.db.utils import ConnectionHandler
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import class_row, dict_row, scalar_row, tuple_row
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session, scoped_session, sessionmaker


class Opened(NamedTuple):
    """A connection, and what commits its transaction."""

    conn: Any
    commit: Callable[[], Any]


class OpenedAsync(NamedTuple):
    """An asynchronous connection, and what commits its transaction."""

    conn: Any
    commit: Callable[[], Awaitable[Any]]


def address(dsn: str) -> dict[str, str]:
    """The parts of an address that every driver takes."""
    given = conninfo_to_dict(dsn)
    return {
        name: str(given[name]) for name in ("host", "port", "user", "password") if name in given
    }


def database(dsn: str) -> str:
    """The name of the database in an address."""
    return str(conninfo_to_dict(dsn)["dbname"])


def url(dsn: str, driver: str) -> sqlalchemy.URL:
    """The address as SQLAlchemy takes it."""
    where = address(dsn)
    user, password = where.pop("user", None), where.pop("password", None)
    return sqlalchemy.URL.create(
        f"postgresql+{driver}", user, password, database=database(dsn), query=where
    )


@contextlib.contextmanager
def with_psycopg(rows: Any, dsn: str) -> Iterator[Opened]:
    with psycopg.connect(dsn, row_factory=rows) as conn:
        yield Opened(conn, conn.commit)


@contextlib.contextmanager
def with_psycopg2(cursor: Any, dsn: str) -> Iterator[Opened]:
    with contextlib.closing(psycopg2.connect(dsn, cursor_factory=cursor)) as conn:
        yield Opened(conn, conn.commit)


@contextlib.contextmanager
def with_sqlalchemy(driver: str, kind: str, dsn: str) -> Iterator[Opened]:
    engine = sqlalchemy.create_engine(url(dsn, driver))
    with Session(engine) as session:
        if kind == "scoped":
            scoped = scoped_session(sessionmaker(engine), scopefunc=lambda: 1)
            yield Opened(scoped, scoped.commit)
            scoped.remove()
        elif kind == "session":
            yield Opened(session, session.commit)
        elif kind == "connection":
            with engine.connect() as conn:
                yield Opened(conn, conn.commit)
        else:
            with contextlib.closing(engine.raw_connection()) as raw:
                yield Opened(raw, raw.commit)
    engine.dispose()


@contextlib.contextmanager
def with_django(dsn: str) -> Iterator[Opened]:
    if not settings.configured:
        settings.configure(DATABASES={})
        django.setup()
    where = {name.upper(): value for name, value in address(dsn).items()}
    default = {"ENGINE": "django.db.backends.postgresql", "NAME": database(dsn), **where}
    connection = ConnectionHandler({"default": default})["default"]
    connection.set_autocommit(False)
    yield Opened(connection, connection.commit)
    connection.close()


SYNC: dict[str, Callable[[str], AbstractContextManager[Opened]]] = {
    "psycopg": partial(with_psycopg, tuple_row),
    "psycopg, dicts": partial(with_psycopg, dict_row),
    "psycopg, scalars": partial(with_psycopg, scalar_row),
    "psycopg, objects": partial(with_psycopg, class_row(dict)),
    "psycopg2": partial(with_psycopg2, None),
    "psycopg2, dicts": partial(with_psycopg2, psycopg2.extras.RealDictCursor),
    **{
        f"SQLAlchemy, {kind} of {driver}": partial(with_sqlalchemy, driver, kind)
        for kind in ("session", "scoped", "connection", "driver")
        for driver in ("psycopg", "psycopg2")
    },
    "Django": with_django,
}


@contextlib.asynccontextmanager
async def with_async_psycopg(dsn: str) -> AsyncIterator[OpenedAsync]:
    async with await psycopg.AsyncConnection.connect(dsn, row_factory=dict_row) as conn:
        yield OpenedAsync(conn, conn.commit)


class AsyncpgTransaction:
    """Commits a transaction of asyncpg and begins the next, as the other drivers do."""

    def __init__(self, conn: Any) -> None:
        self.conn = conn

    async def begin(self) -> None:
        self.open = self.conn.transaction()
        await self.open.start()

    async def commit(self) -> None:
        await self.open.commit()
        await self.begin()


@contextlib.asynccontextmanager
async def with_asyncpg(dsn: str) -> AsyncIterator[OpenedAsync]:
    conn = await asyncpg.connect(database=database(dsn), **address(dsn))
    transaction = AsyncpgTransaction(conn)
    await transaction.begin()
    yield OpenedAsync(conn, transaction.commit)
    await conn.close()


@contextlib.asynccontextmanager
async def with_asyncpg_pool(dsn: str) -> AsyncIterator[OpenedAsync]:
    async with (
        asyncpg.create_pool(database=database(dsn), min_size=1, **address(dsn)) as pool,
        pool.acquire() as conn,
    ):
        transaction = AsyncpgTransaction(conn)
        await transaction.begin()
        yield OpenedAsync(conn, transaction.commit)
        await transaction.open.rollback()


@contextlib.asynccontextmanager
async def with_async_sqlalchemy(
    driver: str, in_session: bool, dsn: str
) -> AsyncIterator[OpenedAsync]:
    engine = create_async_engine(url(dsn, driver))
    if in_session:
        async with AsyncSession(engine) as session:
            yield OpenedAsync(session, session.commit)
    else:
        async with engine.connect() as conn:
            yield OpenedAsync(conn, conn.commit)
    await engine.dispose()


ASYNC: dict[str, Callable[[str], AbstractAsyncContextManager[OpenedAsync]]] = {
    "psycopg": with_async_psycopg,
    "asyncpg": with_asyncpg,
    "asyncpg, of a pool": with_asyncpg_pool,
    "SQLAlchemy, session of asyncpg": partial(with_async_sqlalchemy, "asyncpg", True),
    "SQLAlchemy, connection of asyncpg": partial(with_async_sqlalchemy, "asyncpg", False),
    "SQLAlchemy, session of psycopg": partial(with_async_sqlalchemy, "psycopg", True),
}
