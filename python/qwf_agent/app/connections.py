"""Calls functions of the database on a connection of the caller: which kinds there are."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from qwf_agent.app.options import SqlValue

RAW = ("RawCursor", "AsyncRawCursor")  # classes of psycopg


class DriverConnection(Protocol):
    """A connection of psycopg, psycopg2 or Django."""

    def cursor(self) -> AbstractContextManager[Any]:
        """A new cursor."""


class SqlAlchemyResult(Protocol):
    """The result of SQLAlchemy for a statement."""

    def scalars(self) -> Any:
        """The first value of each row."""


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


class SqlCall(NamedTuple):
    """One call of a function in schema qwf, with its arguments by name."""

    function: str
    arguments: Mapping[str, SqlValue]

    def source(self, place: str) -> str:
        """The call, as an item of FROM; `place` says how the driver marks a parameter, by {name} or
        {number}."""
        placed = _placed(self.arguments, place)
        named = ", ".join(f"{name} => {value}" for name, value in placed.items())
        return f"qwf.{self.function}({named})"

    def texts(self) -> dict[str, str]:
        """The values of the parameters, by name."""
        return {name: value.text for name, value in self.arguments.items()}

    def statement(self) -> Statement:
        """The call for a driver that this module does not know."""
        sql = f"select * from {self.source('${number}')}"  # noqa: S608 - names of arguments, no values
        return Statement(sql, list(self.texts().values()))


class SqlExpression(NamedTuple):
    """The statement for Postgres, with the value of each argument in the place of {name}."""

    sql: str
    arguments: Mapping[str, SqlValue] = MappingProxyType({})

    def source(self, place: str) -> str:
        """The expression, as an item of FROM."""
        return f"(select {self.sql.format(**_placed(self.arguments, place))})"

    def texts(self) -> dict[str, str]:
        """The values of the parameters, by name."""
        return {name: value.text for name, value in self.arguments.items()}


Query = SqlCall | SqlExpression


def fetch(conn: Connection, query: Query) -> list[str]:
    """The text of each value that the query returns. Raises TypeError for anything but a
    synchronous connection."""
    if _is_async(conn):
        raise TypeError(
            f"{_type(conn)} is asynchronous: write await and the name that ends in _async, as in "
            "await task.enqueue_async(conn, ...)"
        )
    if hasattr(conn, "cursor"):
        opened = conn.cursor(**_rows_as_tuples(conn))
        if not hasattr(opened, "__enter__"):  # of sqlite3, for example
            raise _cannot_use(conn)
        with opened as cursor:
            cursor.execute(*_for_cursor(cursor, query))
            return [_first(row) for row in cursor.fetchall()]
    if not _is_sqlalchemy(conn) or not hasattr(conn, "execute"):
        raise _cannot_use(conn)
    statement = importlib.import_module("sqlalchemy").text(_select(query, ":{name}"))
    return list(conn.execute(statement, query.texts()).scalars())


async def fetch_async(conn: AsyncConnection, query: Query) -> list[str]:
    """The text of each value that the query returns. Raises TypeError for anything but an
    asynchronous connection."""
    connection: Any = conn
    if not _is_async(conn) or hasattr(conn, "acquire"):  # a pool would commit at once
        raise TypeError(
            f"a function that ends in _async cannot use {_type(conn)}: pass an AsyncConnection of "
            "psycopg, a connection of asyncpg, or an AsyncSession of SQLAlchemy; the others take "
            "synchronous ones, and for another driver see task.statement()"
        )
    if _is_sqlalchemy(conn):
        statement = importlib.import_module("sqlalchemy").text(_select(query, ":{name}"))
        return list((await connection.execute(statement, query.texts())).scalars())
    if hasattr(conn, "fetchval"):  # asyncpg
        rows = await connection.fetch(_select(query, "${number}"), *query.texts().values())
        return [row[0] for row in rows]
    async with connection.cursor(**_rows_as_tuples(conn)) as cursor:
        await cursor.execute(*_for_cursor(cursor, query))
        return [row[0] for row in await cursor.fetchall()]


def _select(query: Query, place: str) -> str:
    """A statement that returns texts, because drivers convert other types as their users like."""
    source = query.source(place)
    return f"select cast(r.value as text) from {source} r (value)"  # noqa: S608 - see source()


def _placed(arguments: Mapping[str, SqlValue], place: str) -> dict[str, str]:
    """The SQL of each argument, with a parameter in the place of its text."""
    return {
        name: value.sql.format(f"cast({place.format(name=name, number=number)} as text)")
        for number, (name, value) in enumerate(arguments.items(), start=1)
    }


def _for_cursor(cursor: object, query: Query) -> tuple[str, Any]:
    """The statement and its values as the cursor takes them: the raw cursors of psycopg take
    places by number, as Postgres does."""
    if any(kind.__name__ in RAW for kind in type(cursor).__mro__):
        return _select(query, "${number}"), list(query.texts().values())
    return _select(query, "%({name})s"), query.texts()


def _cannot_use(conn: object) -> TypeError:
    return TypeError(
        f"cannot use {_type(conn)}: pass a connection of psycopg or Django, or a Session or "
        "Connection of SQLAlchemy; for another driver see task.statement()"
    )


def _first(row: Mapping[str, str] | Sequence[str]) -> str:
    return next(iter(row.values())) if isinstance(row, Mapping) else row[0]


def _is_async(conn: object) -> bool:
    """Return True if it is an asynchronous connection that `fetch_async` knows, or a pool of
    asyncpg."""
    known = hasattr(conn, "cursor") or _is_sqlalchemy(conn)
    awaits = inspect.iscoroutinefunction(getattr(conn, "execute", None))
    return (known and awaits) or hasattr(conn, "fetchval")


def _is_sqlalchemy(conn: object) -> bool:
    return any(kind.__module__.partition(".")[0] == "sqlalchemy" for kind in type(conn).__mro__)


def _rows_as_tuples(conn: object) -> dict[str, Any]:
    """For psycopg: a cursor whose rows are tuples, whatever the connection makes of rows."""
    is_psycopg = hasattr(conn, "row_factory") and hasattr(conn, "cursor_factory")
    return {"row_factory": lambda _: tuple} if is_psycopg else {}


def _type(conn: object) -> str:
    kind = type(conn)
    return f"{kind.__module__}.{kind.__qualname__}"
