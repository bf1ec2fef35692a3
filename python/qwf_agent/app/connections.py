"""Calls qwf.enqueue on a connection of the caller: which kinds of connections there are."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Awaitable, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from qwf_agent.app.options import SqlValue


class DriverConnection(Protocol):
    """A connection of psycopg, psycopg2 or Django."""

    def cursor(self) -> AbstractContextManager[Any]:
        """A new cursor."""


class SqlAlchemyResult(Protocol):
    """What SQLAlchemy returns for a statement."""

    def scalar_one(self) -> Any:
        """The only value of the only row."""


class SqlAlchemyConnection(Protocol):
    """A Session or Connection of SQLAlchemy."""

    def execute(self, *args: Any, **kwargs: Any) -> SqlAlchemyResult:
        """Run a statement."""


class AsyncConnection(Protocol):
    """An AsyncConnection of psycopg, a connection of asyncpg, or an AsyncSession or AsyncConnection
    of SQLAlchemy."""

    def execute(self, *args: Any, **kwargs: Any) -> Awaitable[Any]:
        """Run a statement."""


Connection = DriverConnection | SqlAlchemyConnection


class Statement(NamedTuple):
    """A statement with the places $1, $2, ... and the texts to fill them with."""

    sql: str
    params: list[str]


class EnqueueCall(NamedTuple):
    """The arguments of one call of qwf.enqueue, by name."""

    arguments: dict[str, SqlValue]

    def sql(self, place: str) -> str:
        """The statement; `place` says how the driver marks a parameter, by {name} or {number}."""
        named = ", ".join(
            f"{name} => "
            + value.sql.format(f"cast({place.format(name=name, number=number)} as text)")
            for number, (name, value) in enumerate(self.arguments.items(), start=1)
        )
        return f"select * from qwf.enqueue({named})"  # noqa: S608 - names of options, no values

    def texts(self) -> dict[str, str]:
        """The values of the parameters, by name."""
        return {name: value.text for name, value in self.arguments.items()}

    def statement(self) -> Statement:
        """The call for a driver that this module does not know."""
        return Statement(self.sql("${number}"), list(self.texts().values()))


def run(conn: Connection, call: EnqueueCall) -> int:
    """The id of the job. Raises TypeError for anything but a synchronous connection."""
    if _is_async(conn):
        raise TypeError(f"{_type(conn)} is asynchronous: write await task.enqueue_async(conn, ...)")
    if hasattr(conn, "cursor"):
        with conn.cursor(**_rows_as_tuples(conn)) as cursor:
            cursor.execute(call.sql("%({name})s"), call.texts())
            row = cursor.fetchone()
        return int(next(iter(row.values())) if isinstance(row, Mapping) else row[0])
    if not _is_sqlalchemy(conn) or not hasattr(conn, "execute"):
        raise TypeError(
            f"enqueue() cannot use {_type(conn)}: pass a connection of psycopg or Django, or a "
            "Session or Connection of SQLAlchemy; for another driver see statement()"
        )
    statement = importlib.import_module("sqlalchemy").text(call.sql(":{name}"))
    return int(conn.execute(statement, call.texts()).scalar_one())


async def run_async(conn: AsyncConnection, call: EnqueueCall) -> int:
    """The id of the job. Raises TypeError for anything but an asynchronous connection."""
    connection: Any = conn
    if not _is_async(conn) or hasattr(conn, "acquire"):  # a pool would commit at once
        raise TypeError(
            f"enqueue_async() cannot use {_type(conn)}: pass an AsyncConnection of psycopg, a "
            "connection of asyncpg, or an AsyncSession of SQLAlchemy; enqueue() takes synchronous "
            "ones, and for another driver see statement()"
        )
    if _is_sqlalchemy(conn):
        statement = importlib.import_module("sqlalchemy").text(call.sql(":{name}"))
        return int((await connection.execute(statement, call.texts())).scalar_one())
    if hasattr(conn, "fetchval"):  # asyncpg
        sql, params = call.statement()
        return int(await connection.fetchval(sql, *params))
    async with connection.cursor(**_rows_as_tuples(conn)) as cursor:
        await cursor.execute(call.sql("%({name})s"), call.texts())
        return int((await cursor.fetchone())[0])


def _is_async(conn: object) -> bool:
    """Whether it is an asynchronous connection that `run_async` knows, or a pool of asyncpg."""
    known = hasattr(conn, "cursor") or _is_sqlalchemy(conn)
    awaits = inspect.iscoroutinefunction(getattr(conn, "execute", None))
    return (known and awaits) or hasattr(conn, "fetchval")


def _is_sqlalchemy(conn: object) -> bool:
    return any(kind.__module__.partition(".")[0] == "sqlalchemy" for kind in type(conn).__mro__)


def _rows_as_tuples(conn: object) -> dict[str, Any]:
    """For psycopg: a cursor whose rows are tuples, whatever the connection makes of rows."""
    return {"row_factory": lambda _: tuple} if hasattr(conn, "row_factory") else {}


def _type(conn: object) -> str:
    kind = type(conn)
    return f"{kind.__module__}.{kind.__qualname__}"
